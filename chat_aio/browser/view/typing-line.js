/** Below the messages: the typing users. The line is always there, so that nothing moves. */

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
    setText(this.node, wordsOf(this.texts, ids.map((id) => this.people.nameOf(id))));
  }
}

function wordsOf(texts, names) {
  if (names.length === 0) return "";
  if (names.length > 2) return texts.say("typing.several");
  return texts.say("typing.names", { count: names.length, names: texts.listOf(names) });
}
