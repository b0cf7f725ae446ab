/** The files of a message: images to look at, others to take. */

import { element, Rows, setAttribute, setText } from "../../../browser/dom.js";
import { measured } from "../../../browser/sizes.js";
import { numberOf, say } from "../words.js";

const UNITS = [
  (size) => say("size.bytes", { size }),
  (size) => say("size.kilobytes", { size }),
  (size) => say("size.megabytes", { size }),
  (size) => say("size.gigabytes", { size }),
];

/** A size in bytes, in a few characters. */
export function sizeOf(bytes) {
  const { value, power, digits } = measured(bytes);
  const shown = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return UNITS[power](numberOf(value, shown));
}

export class Attachments {
  node = element("div", { class: "attachments" });
  #rows;

  /** `urlOf(id)` is where a file is, `look(attachment)` opens an image. */
  constructor(urlOf, look) {
    this.#rows = new Rows(this.node, { urlOf, look });
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

class ImageRow {
  #image = element("img", { loading: "lazy", decoding: "async" });
  #urlOf;
  #look;
  #attachment = null;

  constructor({ urlOf, look }) {
    this.#urlOf = urlOf;
    this.#look = look;
    const fields = { class: "picture", target: "_blank", rel: "noopener" };
    const onclick = (event) => this.#clicked(event);
    const popup = { "aria-haspopup": "dialog", title: say("gallery.open") };
    this.node = element("a", { ...fields, ...popup, onclick }, this.#image);
  }

  /** With a key held down it is a link as any other, such as into another tab. */
  #clicked(event) {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    this.#look(this.#attachment);
  }

  async show({ attachment }) {
    this.#attachment = attachment;
    const { id, name, width, height } = attachment;
    setAttribute(this.#image, "alt", name);
    // The final size from the start: rows below do not move when the image has loaded.
    const scale = Math.min(1, WIDEST_PX / width, HIGHEST_PX / height);
    setAttribute(this.#image, "width", Math.round(width * scale));
    setAttribute(this.#image, "height", Math.round(height * scale));
    const url = new URL(await this.#urlOf(id), location.href);
    setAttribute(this.node, "href", url.href);
    url.pathname += "/thumbnail";
    this.#image.src = url.href;
  }
}

class FileRow {
  #name = element("span", { class: "file-name", dir: "auto" });
  #size = element("span", { class: "file-about" });
  #urlOf;

  constructor({ urlOf }) {
    this.#urlOf = urlOf;
    const fields = { class: "file", target: "_blank", rel: "noopener" };
    this.node = element("a", fields, this.#name, " ", this.#size);
  }

  async show({ attachment }) {
    const { id, name, size } = attachment;
    setText(this.#name, name);
    setText(this.#size, sizeOf(size));
    setAttribute(this.node, "download", name);
    setAttribute(this.node, "href", await this.#urlOf(id));
  }
}
