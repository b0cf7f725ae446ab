/** A message that an assistant is writing: its text so far, with a caret. */

import { avatar, element, setAttribute, setAvatar, setText } from "../dom.js";
import { markedUp } from "./body.js";
import { Part } from "./part.js";

export class DraftRow extends Part {
  #draft = null;
  #avatar = avatar();
  #author = element("span", { class: "author", dir: "auto" });
  #text = element("span");
  #stop = element("button", { type: "button", class: "quiet small" }, this.say("draft.stop"));

  constructor({ shell, stopDraft }) {
    super(shell);
    this.#stop.addEventListener("click", () => stopDraft(this.#draft));
    const caret = element("span", { class: "caret", "aria-hidden": "true" });
    const body = element("div", { class: "body", dir: "auto" }, this.#text, caret);
    this.node = element(
      "div",
      // Read out when it is a message: half a word is none.
      { class: "message", "data-from": "other", "data-place": "head tail", "aria-live": "off" },
      ...[this.#avatar, this.#author, element("div", { class: "bubble" }, body)],
      element("div", { class: "meta" }, this.#stop),
    );
  }

  show({ draft, author, isNamed, isMine, ...picture }) {
    this.#draft = draft;
    setAvatar(this.#avatar, picture);
    setText(this.#author, author);
    setAttribute(this.node, "data-named", isNamed);
    this.#text.replaceChildren(...markedUp(draft.text, [], this.shell));
    this.node.ariaBusy = "true";
    this.#stop.hidden = !isMine;
    this.#stop.disabled = draft.isStopped === true;
  }
}
