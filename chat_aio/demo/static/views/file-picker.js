/** Beside what one writes: files by button, paste and drop, with how far they have come. */

import { element, Rows, setAttribute, setText } from "../../../browser/dom.js";
import { takeFiles } from "../../../browser/file-drops.js";
import { icon } from "../icons.js";
import { problemOf } from "../problems.js";
import { say } from "../words.js";
import { sizeOf } from "./attachments.js";

export class FilePicker {
  #uploads;
  #input = element("input", { type: "file", multiple: true, hidden: true, tabindex: "-1" });
  #button = element(
    "button",
    { type: "button", class: "icon", "aria-label": say("files.add"), title: say("files.add") },
    icon("file"),
  );
  #list = element("ul", { class: "files", "aria-label": say("files.list") });
  #rows;
  #problem;
  #place = null;
  #conversationId = null;
  #isClosed = false;

  /** `stage` is where files can be dropped. */
  constructor(form, stage, uploads) {
    this.#uploads = uploads;
    this.#problem = form.querySelector(".problem");
    // Behind the text: Shift+Tab leads from there to the messages.
    form.querySelector(".send").before(this.#button, this.#input);
    form.querySelector(".writing").before(this.#list);
    this.#rows = new Rows(this.#list, { remove: (key) => this.#remove(key) });
    this.#button.addEventListener("click", () => this.#input.click());
    this.#input.addEventListener("change", () => {
      this.#add(this.#input.files);
      this.#input.value = "";
    });
    stage.dataset.dropWords = say("files.drop");
    const drag = (isOver) => setAttribute(stage, "data-dropping", isOver && !this.#isClosed);
    for (const place of [form, stage]) takeFiles(place, (files) => this.#add(files), drag);
  }

  /** Where it `isClosed` nobody writes. */
  show(place, conversationId, { isClosed = false } = {}) {
    this.#place = place;
    this.#conversationId = conversationId;
    this.#isClosed = isClosed;
    this.#button.disabled = isClosed;
    const files = place === null ? [] : this.#uploads.in(place);
    this.#rows.show(files.map((file) => ({ key: file.key, Row: FileRow, state: { file } })));
    this.#list.hidden = files.length === 0;
    const isWaiting = this.#problem.textContent === say("files.goingUp");
    if (isWaiting && !this.#uploads.isBusy(place)) setText(this.#problem, "");
  }

  #add(files) {
    if (this.#place === null || this.#isClosed) return;
    this.#uploads.add(this.#place, this.#conversationId, files);
  }

  /** The row goes, and the button in it: the focus stays near. */
  #remove(key) {
    this.#button.focus();
    this.#uploads.remove(this.#place, key);
  }
}

class FileRow {
  #key = null;
  #preview = element("img", { class: "file-preview", alt: "", decoding: "async" });
  #name = element("span", { class: "file-name", dir: "auto" });
  #about = element("span", { class: "file-about" });
  #progress = element("progress", { max: "1", "aria-label": say("files.progress") });
  #remove;

  constructor({ remove }) {
    const fields = { type: "button", class: "icon", onclick: () => remove(this.#key) };
    this.#remove = element("button", fields, icon("cross"));
    // Not every browser can show every kind of image.
    this.#preview.addEventListener("error", () => {
      this.#preview.hidden = true;
    });
    const about = [this.#preview, this.#name, " ", this.#about, this.#progress];
    this.node = element("li", {}, ...about, this.#remove);
  }

  show({ file }) {
    const { key, name, size, preview, sent, problem = null, attachment = null } = file;
    const isSending = !problem && !attachment;
    if (key !== this.#key) this.#showPreview(preview);
    this.#key = key;
    setText(this.#name, name);
    setText(this.#about, problem ? problemWords(problem, size) : sizeOf(size));
    this.node.dataset.state = problem ? "failed" : isSending ? "sending" : "ready";
    this.#progress.value = sent;
    this.#progress.hidden = !isSending;
    const words = isSending ? say("files.cancel", { name }) : say("files.remove", { name });
    setAttribute(this.#remove, "aria-label", words);
    setAttribute(this.#remove, "title", words);
  }

  #showPreview(preview) {
    this.#preview.hidden = preview === null;
    if (preview !== null) this.#preview.src = preview;
  }
}

/** Why a file was refused. */
function problemWords(problem, size) {
  if (size === 0) return say("files.empty");
  return problem.code === "PAYLOAD_TOO_LARGE" ? say("files.tooLarge") : problemOf(problem);
}
