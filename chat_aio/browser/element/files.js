/** Files that go with what one writes: by button, paste and drop, with how far they have come. */

import { element, Rows, setAttribute, setText } from "../dom.js";
import { takeFiles } from "../file-drops.js";

export class Files {
  #uploads;
  #input = element("input", { type: "file", multiple: true, hidden: true, tabindex: "-1" });
  #list;
  #rows;
  #place = null;
  #conversationId = null;
  #isClosed = false;
  button;

  /** `tools` are {say, sizeOf, problemOf, uploads}. */
  constructor(tools) {
    this.#uploads = tools.uploads;
    const { say } = tools;
    const label = { "aria-label": say("addFiles"), title: say("addFiles") };
    const fields = { type: "button", part: "add", class: "add", ...label };
    this.button = element("button", { ...fields, onclick: () => this.#input.click() });
    setText(this.button, "+");
    this.#list = element("ul", { class: "files", role: "list", "aria-label": say("files") });
    this.#rows = new Rows(this.#list, { ...tools, remove: (key) => this.#remove(key) });
    this.#input.addEventListener("change", () => {
      this.#add(this.#input.files);
      this.#input.value = "";
    });
    this.node = element("div", {}, this.#list, this.#input);
  }

  /** Take files that are pasted or dropped there. */
  watch(target) {
    takeFiles(target, (files) => this.#add(files));
  }

  /** Where it `isClosed` nobody writes. */
  show(place, conversationId, isClosed) {
    this.#place = place;
    this.#conversationId = conversationId;
    this.#isClosed = isClosed;
    this.button.disabled = isClosed;
    const files = this.#uploads.in(place);
    this.#rows.show(files.map((file) => ({ key: file.key, Row: FileRow, state: { file } })));
    this.#list.hidden = files.length === 0;
  }

  #add(files) {
    if (this.#place === null || this.#isClosed) return;
    this.#uploads.add(this.#place, this.#conversationId, files);
  }

  /** The row goes, and the button in it: the focus stays near. */
  #remove(key) {
    this.button.focus();
    this.#uploads.remove(this.#place, key);
  }
}

class FileRow {
  #tools;
  #key = null;
  #name = element("span", { class: "file-name", dir: "auto" });
  #about = element("span", { class: "file-about" });
  #progress;
  #remove;

  constructor(tools) {
    this.#tools = tools;
    const label = tools.say("sent");
    this.#progress = element("progress", { max: "1", "aria-label": label });
    const onclick = () => tools.remove(this.#key);
    this.#remove = element("button", { type: "button", class: "small", onclick }, "✕");
    const parts = [this.#name, " ", this.#about, this.#progress, this.#remove];
    this.node = element("li", {}, ...parts);
  }

  show({ file }) {
    const { say, sizeOf, problemOf } = this.#tools;
    const { key, name, size, sent, problem = null, attachment = null } = file;
    const isSending = !problem && !attachment;
    this.#key = key;
    setText(this.#name, name);
    setText(this.#about, problem ? problemOf(problem) : sizeOf(size));
    this.node.dataset.state = problem ? "failed" : isSending ? "sending" : "ready";
    this.#progress.value = sent;
    this.#progress.hidden = !isSending;
    const words = isSending ? say("cancelFile", { name }) : say("removeFile", { name });
    setAttribute(this.#remove, "aria-label", words);
  }
}
