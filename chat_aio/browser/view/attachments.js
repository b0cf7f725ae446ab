/** The files of a message: images to look at, others to take. */

import { element, Rows, setAttribute, setText } from "../dom.js";
import { measured } from "../sizes.js";
import { Part } from "./part.js";

const unitsIn = (texts) => [
  (size) => texts.say("size.bytes", { size }),
  (size) => texts.say("size.kilobytes", { size }),
  (size) => texts.say("size.megabytes", { size }),
  (size) => texts.say("size.gigabytes", { size }),
];

/** A size in bytes, in a few characters. */
export function sizeOf(texts, bytes) {
  const { value, power, digits } = measured(bytes);
  const shown = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return unitsIn(texts)[power](texts.numberOf(value, shown));
}

export class Attachments extends Part {
  node = element("div", { class: "attachments" });
  #rows;

  /** `look(attachment)` opens an image; `complain(error)` says what went wrong. */
  constructor(shell, { look, complain }) {
    super(shell);
    this.#rows = new Rows(this.node, { shell, look, complain });
  }

  show(attachments) {
    const rows = attachments.map((attachment) => ({
      key: attachment.id,
      Row: attachment.hasThumbnail ? ImageRow : FileRow,
      state: { attachment },
    }));
    this.#rows.show(rows);
    this.node.hidden = rows.length === 0;
  }
}

const WIDEST_PX = 320;
const HIGHEST_PX = 240;
const LINK = { target: "_blank", rel: "noopener", part: "file" };

/** A file, which has an address, or is brought when it is wanted. */
class FileLink extends Part {
  attachment = null;
  #again = () => this.node.isConnected && this.bring();
  node;

  constructor(shell, fields, ...parts) {
    super(shell);
    this.node = element("a", { ...LINK, ...fields }, ...parts);
  }

  show({ attachment }) {
    this.attachment = attachment;
    this.bring();
  }

  /** A link without an address must stay reachable by keyboard. */
  async bring() {
    const { sources } = this.shell;
    let address = null;
    try {
      address = await sources.address(this.attachment.id);
    } catch {
      sources.whenAgain(this.#again);
    }
    setAttribute(this.node, "href", address ?? "#");
    setAttribute(this.node, "data-brought", address === null);
  }
}

class ImageRow extends FileLink {
  #image = element("img", { loading: "lazy", decoding: "async" });
  #again = () => this.node.isConnected && this.#bringImage();

  constructor({ shell, look }) {
    super(shell, { class: "picture", "aria-haspopup": "dialog" });
    setAttribute(this.node, "title", this.say("gallery.open"));
    this.node.append(this.#image);
    this.node.addEventListener("click", (event) => {
      // With a key held down it is a link as any other, such as into another tab.
      const isElsewhere = event.ctrlKey || event.metaKey || event.shiftKey || event.altKey;
      if (isElsewhere && !this.node.hasAttribute("data-brought")) return;
      event.preventDefault();
      look(this.attachment);
    });
  }

  show({ attachment }) {
    super.show({ attachment });
    const { name, width, height } = attachment;
    setAttribute(this.#image, "alt", name);
    // The final size from the start: rows below do not move when the image has loaded.
    const scale = Math.min(1, WIDEST_PX / width, HIGHEST_PX / height);
    setAttribute(this.#image, "width", Math.round(width * scale));
    setAttribute(this.#image, "height", Math.round(height * scale));
    this.#bringImage();
  }

  async #bringImage() {
    const { sources } = this.shell;
    const address = await sources.thumbnail(this.attachment.id);
    setAttribute(this.#image, "src", address);
    if (address === null) sources.whenAgain(this.#again);
  }
}

class FileRow extends FileLink {
  #name = element("span", { class: "file-name", dir: "auto" });
  #size = element("span", { class: "file-about" });

  constructor({ shell, complain }) {
    super(shell, { class: "file" });
    this.node.append(this.#name, " ", this.#size);
    this.node.addEventListener("click", async (event) => {
      if (!this.node.hasAttribute("data-brought")) return;
      event.preventDefault();
      const { id, name } = this.attachment;
      try {
        const href = await shell.sources.bytes(id);
        element("a", { href, download: name }).click();
      } catch (error) {
        complain(error);
      }
    });
  }

  show({ attachment }) {
    super.show({ attachment });
    const { name, size } = attachment;
    setText(this.#name, name);
    setText(this.#size, sizeOf(this.texts, size));
    setAttribute(this.node, "download", name);
  }
}
