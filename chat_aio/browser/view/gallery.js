/** The images of a list of messages, large, one at a time. */

import { element, setAttribute, setText } from "../dom.js";
import { imageKeyOf } from "../messages.js";
import { Zoom } from "../zoom.js";
import { sizeOf } from "./attachments.js";
import { Dialog } from "./dialog.js";
import { iconButton } from "./icons.js";
import { Part } from "./part.js";

export class Gallery extends Part {
  #frame = element("div", { class: "gallery-image" });
  #about = element("p", { class: "terms", dir: "auto" });
  #position = element("p", { class: "terms", role: "status" });
  #problem = element("p", { class: "problem", role: "alert" });
  #zoom = new Zoom(this.#frame);
  #back = sideButton("previous", this.say("gallery.back"), () => this.#step(-1));
  #forward = sideButton("next", this.say("gallery.forward"), () => this.#step(1));
  #download = element("a", { class: "quiet small" }, this.say("gallery.download"));
  #dialog;
  #read = () => [];
  #key = null;

  constructor(shell) {
    super(shell);
    const acts = element("div", { class: "ending" }, this.#back, this.#forward, this.#download);
    const words = [this.#problem, this.#about, this.#position];
    const given = { cancel: this.say("common.close"), kind: "gallery" };
    this.#dialog = new Dialog(this.shell, given, this.#frame, ...words, acts);
    this.#dialog.onKey((event) => this.#pressed(event));
    this.#dialog.onClose(() => this.#leave());
    // Around the image there is nothing else.
    this.#frame.addEventListener("click", ({ target }) => {
      if (target === this.#frame) this.#dialog.close();
    });
  }

  /** `read()` are the images as they are now, {key, message, attachment}. */
  open(message, attachment, read) {
    this.#read = read;
    this.#turnTo(imageKeyOf(message, attachment));
    // A disabled button cannot have the focus.
    this.#dialog.open();
  }

  /** Messages come while it is open, and go. */
  show() {
    if (!this.#dialog.isOpen) return;
    const { images, index } = this.#place();
    if (index === -1) this.#dialog.close();
    else this.#showPosition(images, index);
  }

  #place() {
    const images = this.#read();
    return { images, index: images.findIndex((image) => image.key === this.#key) };
  }

  #pressed(event) {
    const onward = this.shell.isFromRight ? -1 : 1;
    const step = { ArrowRight: onward, ArrowLeft: -onward }[event.key];
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (step) this.#step(step);
    if (step || this.#zoom.takes(event)) event.preventDefault();
  }

  #step(step) {
    const { images, index } = this.#place();
    const next = images[index + step];
    if (index !== -1 && next) this.#turnTo(next.key);
  }

  #turnTo(key) {
    this.#key = key;
    const { images, index } = this.#place();
    if (index === -1) return;
    const { message, attachment } = images[index];
    this.#dialog.title(attachment.name);
    const name = this.people.nameOf(message.senderId);
    const values = { name, when: this.texts.shortMomentOf(message.createdAt), size: sizeOf(this.texts, attachment.size) };
    setText(this.#about, this.say("gallery.about", values));
    setText(this.#problem, "");
    this.#showPosition(images, index);
    this.#load(attachment);
  }

  #showPosition(images, index) {
    setText(this.#position, this.say("gallery.position", { index: index + 1, all: images.length }));
    const { focused } = this.shell;
    this.#back.disabled = index === 0;
    this.#forward.disabled = index === images.length - 1;
    // A button that cannot be pressed any more has lost the focus.
    if (focused === this.#back && this.#back.disabled) this.#forward.focus();
    if (focused === this.#forward && this.#forward.disabled) this.#back.focus();
    if (this.shell.focused?.disabled) this.#download.focus();
  }

  /** The one before is not shown under the name of this one. */
  async #load({ id, name, width, height }) {
    const asked = this.#key;
    const image = element("img", { alt: name, width, height, decoding: "async" });
    image.addEventListener("error", () => {
      if (asked === this.#key) setText(this.#problem, this.say("gallery.failed"));
    });
    this.#frame.replaceChildren(image);
    this.#zoom.take(image);
    const url = await this.#addressOf(id);
    if (asked !== this.#key || url === null) return;
    setAttribute(this.#download, "download", name);
    setAttribute(this.#download, "href", url);
    image.src = url;
  }

  /** Where headers identify the user, of its bytes. */
  async #addressOf(id) {
    const { sources } = this.shell;
    try {
      return (await sources.address(id)) ?? (await sources.bytes(id));
    } catch (error) {
      setText(this.#problem, this.texts.problemOf(error));
      return null;
    }
  }

  #leave() {
    this.#key = null;
    this.#frame.replaceChildren();
  }
}

function sideButton(name, words, onclick) {
  return iconButton(name, words, { class: `icon side ${name}`, onclick });
}
