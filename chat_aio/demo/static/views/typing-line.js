/** Below the messages: the typing users. The line is always there, so that nothing moves. */

import { setText } from "../../../browser/dom.js";
import { listOf, say } from "../words.js";

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
    setText(this.#line, wordsOf(ids.map((id) => this.#people.nameOf(id))));
  }
}

function wordsOf(names) {
  if (names.length === 0) return "";
  if (names.length > 2) return say("typing.several");
  return say("typing.names", { count: names.length, names: listOf(names) });
}
