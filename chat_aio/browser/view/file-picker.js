/** Files of a message: by button, paste and drop, with their progress. */

import { element, Rows, setAttribute, setText } from "../dom.js";
import { sizeOf } from "./attachments.js";
import { icon, iconButton } from "./icons.js";
import { Part } from "./part.js";

export class FilePicker extends Part {
  #uploads;
  #input = element("input", { type: "file", multiple: true, hidden: true, tabindex: "-1" });
  #button = iconButton("file", this.say("files.add"), {
    ...{ part: "add", onclick: () => this.#input.click() },
  });
  #list = element("ul", { class: "files", "aria-label": this.say("files.list") });
  #rows;
  #place = null;
  #conversationId = null;
  #isClosed = false;

  /** The list of files, and what adds to it. */
  node = this.#list;
  buttons = [this.#button, this.#input];

  constructor(shell, uploads) {
    super(shell);
    this.#uploads = uploads;
    this.#rows = new Rows(this.#list, { shell: this.shell, remove: (key) => this.#remove(key) });
    this.#input.addEventListener("change", () => {
      this.add(this.#input.files);
      this.#input.value = "";
    });
  }

  /** Where it `isClosed` nobody writes. */
  show(place, conversationId, isClosed) {
    this.#place = place;
    this.#conversationId = conversationId;
    this.#isClosed = isClosed;
    this.#button.disabled = isClosed;
    const files = place === null ? [] : this.#uploads.in(place);
    this.#rows.show(files.map((file) => ({ key: file.key, Row: FileRow, state: { file } })));
    this.#list.hidden = files.length === 0;
  }

  /** Add files to the message of the open place. */
  add(files) {
    if (this.#place === null || this.#isClosed) return;
    this.#uploads.add(this.#place, this.#conversationId, files);
  }

  /** The row goes, and the button in it: the focus stays near. */
  #remove(key) {
    this.#button.focus();
    this.#uploads.remove(this.#place, key);
  }
}

class FileRow extends Part {
  #key = null;
  #preview = element("img", { class: "file-preview", alt: "", decoding: "async" });
  #name = element("span", { class: "file-name", dir: "auto" });
  #about = element("span", { class: "file-about" });
  #progress = element("progress", { max: "1", "aria-label": this.say("files.progress") });
  #remove;

  constructor({ shell, remove }) {
    super(shell);
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
    setText(this.#about, problem ? problemWords(this.texts, problem, size) : sizeOf(this.texts, size));
    this.node.dataset.state = problem ? "failed" : isSending ? "sending" : "ready";
    this.#progress.value = sent;
    this.#progress.hidden = !isSending;
    const words = isSending ? this.say("files.cancel", { name }) : this.say("files.remove", { name });
    setAttribute(this.#remove, "aria-label", words);
    setAttribute(this.#remove, "title", words);
  }

  #showPreview(preview) {
    this.#preview.hidden = preview === null;
    if (preview !== null) this.#preview.src = preview;
  }
}

/** Why a file was refused. */
function problemWords(texts, problem, size) {
  if (size === 0) return texts.say("files.empty");
  return problem.code === "PAYLOAD_TOO_LARGE" ? texts.say("files.tooLarge") : texts.problemOf(problem);
}
