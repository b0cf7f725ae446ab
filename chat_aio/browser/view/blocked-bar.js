/** Above the composer of a direct conversation with somebody whom one has blocked. */

import { element, setText } from "../dom.js";
import { Part } from "./part.js";
import { smallButton } from "./section.js";

export class BlockedBar extends Part {
  #words = element("p", { class: "blocked-words" });
  #problem = element("p", { class: "problem", role: "alert" });
  #shown = null;
  node;

  /** `unblock(userId)` takes the block back. */
  constructor(shell, unblock) {
    super(shell);
    const end = smallButton(this.say("blocked.end"), () => this.#end(unblock));
    const fields = { id: "blocked", class: "blocked", role: "status", hidden: true };
    this.node = element("div", fields, this.#words, end, this.#problem);
  }

  show() {
    const { open, blockedIds } = this.store;
    const other = open && this.people.otherIn(open);
    const isBlocked = blockedIds.has(other);
    if (other !== this.#shown) setText(this.#problem, "");
    this.#shown = other;
    this.node.hidden = !isBlocked;
    if (!isBlocked) return;
    setText(this.#words, this.say("blocked.words", { name: this.people.nameOf(other) }));
  }

  async #end(unblock) {
    setText(this.#problem, "");
    try {
      await unblock(this.#shown);
    } catch (error) {
      setText(this.#problem, this.texts.problemOf(error));
    }
  }
}
