/** Below the messages: the typing users. The line is always there, so that nothing moves. */

import { typingWords } from "../brief.js";
import { element, setText } from "../dom.js";
import { Part } from "./part.js";

export class TypingLine extends Part {
  node = element("p", { id: "typing", class: "typing", role: "status" });
  #typing;

  constructor(shell, typing) {
    super(shell);
    this.#typing = typing;
  }

  show() {
    const ids = this.#typing.idsIn(this.store.openId);
    setText(this.node, typingWords(this.texts, ids.map((id) => this.people.nameOf(id))));
  }
}
