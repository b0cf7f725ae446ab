/** Above the composer of a direct conversation with somebody whom one has blocked. */

import { setText } from "../../../browser/dom.js";
import { problemOf } from "../problems.js";
import { say } from "../words.js";

export class BlockedBar {
  #bar = document.querySelector("#blocked");
  #words = this.#bar.querySelector(".blocked-words");
  #problem = this.#bar.querySelector(".problem");
  #store;
  #people;
  #shown = null;

  /** `unblock(userId)` takes the block back. */
  constructor(store, people, unblock) {
    this.#store = store;
    this.#people = people;
    this.#bar.querySelector("button").addEventListener("click", async () => {
      setText(this.#problem, "");
      try {
        await unblock(this.#shown);
      } catch (error) {
        setText(this.#problem, problemOf(error));
      }
    });
  }

  show() {
    const { open, blockedIds } = this.#store;
    const other = open && this.#people.otherIn(open);
    const isBlocked = blockedIds.has(other);
    if (other !== this.#shown) setText(this.#problem, "");
    this.#shown = other;
    this.#bar.hidden = !isBlocked;
    const name = this.#people.nameOf(other);
    if (isBlocked) setText(this.#words, say("blocked.words", { name }));
  }
}
