/** The images of a list of messages, large, one at a time. */

import { element, setAttribute, setText } from "../../../browser/dom.js";
import { imageKeyOf } from "../../../browser/messages.js";
import { Zoom } from "../../../browser/zoom.js";
import { icon } from "../icons.js";
import { shortMomentOf } from "../times.js";
import { direction, say } from "../words.js";
import { sizeOf } from "./attachments.js";
import { Dialog } from "./dialog.js";

const FORWARD = direction === "rtl" ? "ArrowLeft" : "ArrowRight";
const BACK = direction === "rtl" ? "ArrowRight" : "ArrowLeft";

export class Gallery {
  #frame = element("div", { class: "gallery-image" });
  #about = element("p", { class: "terms", dir: "auto" });
  #position = element("p", { class: "terms", role: "status" });
  #problem = element("p", { class: "problem", role: "alert" });
  #zoom = new Zoom(this.#frame);
  #back = sideButton("previous", say("gallery.back"), () => this.#step(-1));
  #forward = sideButton("next", say("gallery.forward"), () => this.#step(1));
  #download = element("a", { class: "quiet small" }, say("gallery.download"));
  #dialog;
  #people;
  #urlOf;
  #read = () => [];
  #key = null;

  /** `urlOf(id)` is where a file is. */
  constructor(people, urlOf) {
    this.#people = people;
    this.#urlOf = urlOf;
    const acts = element("div", { class: "ending" }, this.#back, this.#forward, this.#download);
    const words = [this.#problem, this.#about, this.#position];
    const given = { cancel: say("common.close"), kind: "gallery" };
    this.#dialog = new Dialog(given, this.#frame, ...words, acts);
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
    const step = { [FORWARD]: 1, [BACK]: -1 }[event.key];
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
    const name = this.#people.nameOf(message.senderId);
    const values = { name, when: shortMomentOf(message.createdAt), size: sizeOf(attachment.size) };
    setText(this.#about, say("gallery.about", values));
    setText(this.#problem, "");
    this.#showPosition(images, index);
    this.#load(attachment);
  }

  #showPosition(images, index) {
    setText(this.#position, say("gallery.position", { index: index + 1, all: images.length }));
    const { activeElement } = document;
    this.#back.disabled = index === 0;
    this.#forward.disabled = index === images.length - 1;
    // A button that cannot be pressed any more has lost the focus.
    if (activeElement === this.#back && this.#back.disabled) this.#forward.focus();
    if (activeElement === this.#forward && this.#forward.disabled) this.#back.focus();
    if (document.activeElement?.disabled) this.#download.focus();
  }

  /** The one before is not shown under the name of this one. */
  async #load({ id, name, width, height }) {
    const asked = this.#key;
    const image = element("img", { alt: name, width, height, decoding: "async" });
    image.addEventListener("error", () => {
      if (asked === this.#key) setText(this.#problem, say("gallery.failed"));
    });
    this.#frame.replaceChildren(image);
    this.#zoom.take(image);
    const url = await this.#urlOf(id);
    if (asked !== this.#key) return;
    setAttribute(this.#download, "download", name);
    setAttribute(this.#download, "href", url);
    image.src = url;
  }

  #leave() {
    this.#key = null;
    this.#frame.replaceChildren();
  }
}

function sideButton(name, label, onclick) {
  const fields = { type: "button", class: `icon side ${name}`, "aria-label": label, title: label };
  return element("button", { ...fields, onclick }, icon(name));
}
