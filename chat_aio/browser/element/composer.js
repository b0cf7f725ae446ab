/** Where one writes. Enter sends, with Shift it begins a new line. */

import { element, setAttribute, setText } from "../dom.js";

export class Composer {
  #tools;
  #field;
  #send;
  #about = element("div", { class: "replying", hidden: true });
  #words = element("span", { dir: "auto" });
  #id = null;
  /** What is being written, by conversation: {body, replyTo}. */
  #drafts = new Map();

  /** `tools` are {say, send(id, written), typed(id, text)}. */
  constructor(tools) {
    this.#tools = tools;
    const { say } = tools;
    const label = { "aria-label": say("message"), part: "field" };
    this.#field = element("textarea", { rows: "1", dir: "auto", ...label });
    this.#send = element("button", { type: "submit", part: "send" }, say("send"));
    const onclick = () => this.reply(null);
    this.#about.append(
      this.#words,
      element("button", { type: "button", class: "link", onclick }, say("cancel")),
    );
    const onsubmit = (event) => this.#submit(event);
    const row = element("div", { class: "writing" }, this.#field, this.#send);
    this.node = element("form", { part: "composer", onsubmit }, this.#about, row);
    this.#field.addEventListener("keydown", (event) => this.#pressed(event));
    this.#field.addEventListener("input", () => this.#written());
  }

  /** What was begun in another conversation waits there. */
  show(id, { placeholder, isClosed }) {
    if (id !== this.#id) {
      this.#id = id;
      this.#field.value = this.#draft.body;
      this.#showReply();
    }
    setAttribute(this.#field, "placeholder", placeholder);
    this.#field.disabled = this.#send.disabled = isClosed;
  }

  /** Answer a message (null: none). */
  reply(entry) {
    this.#drafts.set(this.#id, { ...this.#draft, replyTo: entry });
    this.#showReply();
    this.focus();
  }

  focus() {
    this.#field.focus();
  }

  get #draft() {
    return this.#drafts.get(this.#id) ?? { body: "", replyTo: null };
  }

  #written() {
    this.#drafts.set(this.#id, { ...this.#draft, body: this.#field.value });
    this.#tools.typed(this.#id, this.#field.value);
  }

  #showReply() {
    const { replyTo } = this.#draft;
    this.#about.hidden = replyTo === null;
    const { say, nameOf } = this.#tools;
    setText(this.#words, replyTo ? say("replying", { name: nameOf(replyTo.senderId) }) : "");
  }

  #pressed(event) {
    // Enter also ends the writing of a word in an input method.
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) this.#submit(event);
    if (event.key === "Escape" && this.#draft.replyTo) this.reply(null);
  }

  #submit(event) {
    event.preventDefault();
    const { replyTo } = this.#draft;
    const body = this.#field.value;
    if (body.trim() === "") return;
    this.#field.value = "";
    this.#drafts.delete(this.#id);
    this.#showReply();
    this.#tools.send(this.#id, replyTo ? { body, replyTo } : { body });
  }
}
