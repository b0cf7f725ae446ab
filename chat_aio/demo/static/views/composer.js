/** Where a message is written. Each conversation keeps what was begun in it. */

const MOST_LINES_PX = 200;

export class Composer {
  #form = document.querySelector("#composer");
  #input = document.querySelector("#body");
  #drafts = new Map();
  #conversationId = null;

  /** `send(conversationId, body)` is called with what was written, never blank. */
  constructor(send) {
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#submit(send);
    });
    this.#input.addEventListener("keydown", (event) => this.#pressed(event));
    this.#input.addEventListener("input", () => this.#fit());
  }

  show(conversationId, title) {
    this.#input.setAttribute("placeholder", `Message ${title}`);
    if (conversationId === this.#conversationId) return;
    this.#drafts.set(this.#conversationId, this.#input.value);
    this.#conversationId = conversationId;
    this.#input.value = this.#drafts.get(conversationId) ?? "";
    this.#fit();
  }

  /** Not on a touch screen, where the keyboard would cover what one came to read. */
  focus() {
    if (matchMedia("(hover: hover)").matches) this.#input.focus();
  }

  #submit(send) {
    const body = this.#input.value;
    if (!body.trim() || this.#conversationId === null) return;
    this.#input.value = "";
    this.#fit();
    this.#input.focus();
    send(this.#conversationId, body);
  }

  #pressed(event) {
    // While an input method composes a word, Enter belongs to it.
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    this.#form.requestSubmit();
  }

  /** As high as the text, up to a limit. */
  #fit() {
    const { style } = this.#input;
    style.height = "auto";
    style.height = `${Math.min(this.#input.scrollHeight, MOST_LINES_PX)}px`;
    this.#form.dataset.empty = String(this.#input.value.trim() === "");
  }
}
