/** Below the messages: the typing users. The line is always there, so that nothing moves. */

import { setText } from "../../../browser/dom.js";
import { typingWords } from "../brief.js";

export class TypingLine {
  #line = document.querySelector("#typing");
  #typing;
  #store;
  #people;

  constructor(typing, store, people) {
    this.#typing = typing;
    this.#store = store;
    this.#people = people;
  }

  show() {
    const ids = this.#typing.idsIn(this.#store.openId);
    setText(this.#line, typingWords(ids.map((id) => this.#people.nameOf(id))));
  }
}
