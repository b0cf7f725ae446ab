/** A word that something was done, for a moment. */

import { setText } from "../../../browser/dom.js";
import { later } from "../../../browser/tasks.js";

const SHOWN_MS = 2_500;

export class Toast {
  #node = document.querySelector("#toast");
  #later = later(SHOWN_MS);

  show(words) {
    setText(this.#node, words);
    this.#later(() => setText(this.#node, ""));
  }
}
