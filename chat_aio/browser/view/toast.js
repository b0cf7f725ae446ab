/** A word that something was done, for a moment. */

import { element, setText } from "../dom.js";
import { later } from "../tasks.js";

const SHOWN_MS = 2_500;

export class Toast {
  #node = element("p", { id: "toast", class: "toast", role: "status" });
  #later = later(SHOWN_MS);

  constructor({ root }) {
    root.append(this.#node);
  }

  show(words) {
    setText(this.#node, words);
    this.#later(() => setText(this.#node, ""));
  }
}
