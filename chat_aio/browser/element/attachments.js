/** The files of a message: images to look at, others to take. */

import { element, Rows, setAttribute, setText } from "../dom.js";

const LINK = { target: "_blank", rel: "noopener", part: "file" };

export class Attachments {
  node = element("div", { class: "attachments" });
  #rows;

  /** `tools` are {sources, sizeOf}, and complain(error). */
  constructor(tools) {
    this.#rows = new Rows(this.node, tools);
  }

  show(attachments) {
    const rows = attachments.map((attachment) => ({
      ...{ key: attachment.id, Row: attachment.hasThumbnail ? ImageRow : FileRow },
      state: { attachment },
    }));
    this.#rows.show(rows);
    this.node.hidden = rows.length === 0;
  }
}

/** Its place is as large as the image will be: nothing moves when that comes. */
class ImageRow {
  #link;
  #image = element("img", { loading: "lazy", decoding: "async" });
  #sources;
  #id = null;
  #again = () => this.node.isConnected && this.#bring();
  node;

  constructor(tools) {
    this.#sources = tools.sources;
    this.#link = new FileLink(tools, { class: "picture" }, this.#image);
    this.node = this.#link.node;
  }

  show({ attachment }) {
    const { id, name, width, height } = attachment;
    for (const [field, value] of Object.entries({ alt: name, width, height })) {
      setAttribute(this.#image, field, value);
    }
    this.#link.show(attachment, { isStored: false });
    this.#id = id;
    this.#bring();
  }

  async #bring() {
    const address = await this.#sources.thumbnail(this.#id);
    setAttribute(this.#image, "src", address);
    if (address === null) this.#sources.whenAgain(this.#again);
  }
}

class FileRow {
  #link;
  #name = element("span", { class: "file-name", dir: "auto" });
  #size = element("span", { class: "file-about" });
  #sizeOf;
  node;

  constructor(tools) {
    this.#sizeOf = tools.sizeOf;
    this.#link = new FileLink(tools, { class: "file" }, this.#name, " ", this.#size);
    this.node = this.#link.node;
  }

  show({ attachment }) {
    setText(this.#name, attachment.name);
    setText(this.#size, this.#sizeOf(attachment.size));
    this.#link.show(attachment, { isStored: true });
  }
}

/** A link to a file; what the browser cannot fetch by itself is brought when it is wanted. */
class FileLink {
  #tools;
  #attachment = null;
  #again = () => this.node.isConnected && this.#bring();
  node;

  constructor(tools, fields, ...parts) {
    this.#tools = tools;
    const onclick = (event) => this.#clicked(event);
    this.node = element("a", { ...LINK, ...fields, onclick }, ...parts);
  }

  show(attachment, { isStored }) {
    this.#attachment = attachment;
    setAttribute(this.node, "download", isStored && attachment.name);
    this.#bring();
  }

  /** While the address is unknown, a click fetches the file, or shows why that failed. */
  async #bring() {
    const { sources } = this.#tools;
    let address = null;
    try {
      address = await sources.address(this.#attachment.id);
    } catch {
      sources.whenAgain(this.#again);
    }
    // A link without an address must stay reachable by keyboard.
    setAttribute(this.node, "href", address ?? "#");
    setAttribute(this.node, "data-brought", address === null);
  }

  async #clicked(event) {
    if (!this.node.hasAttribute("data-brought")) return;
    event.preventDefault();
    const { id, name } = this.#attachment;
    try {
      const href = await this.#tools.sources.bytes(id);
      element("a", { href, download: name }).click();
    } catch (error) {
      this.#tools.complain(error);
    }
  }
}
