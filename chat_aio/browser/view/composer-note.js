/** Above what one writes: why one cannot, or not yet, and what one can do. */

import { element, setText } from "../dom.js";
import { Part } from "./part.js";

export class ComposerNote extends Part {
  #words = element("p", { role: "status" });
  /** It is not read out each second: the pause is announced above. */
  #left = element("p", { role: "timer" });
  node = element("div", { class: "composer-note" }, this.#words, this.#left);

  /** `closed` are the words where nobody writes; of slow mode {seconds, isOver}. */
  show({ closed = null, wait = { seconds: 0, isOver: false } }) {
    const { seconds, isOver } = wait;
    const waiting = seconds > 0 ? this.say("slowMode.waiting") : isOver ? this.say("slowMode.over") : "";
    setText(this.#words, closed ?? waiting);
    const isCounting = closed === null && seconds > 0;
    setText(this.#left, isCounting ? this.say("slowMode.left", { time: clockOf(seconds) }) : "");
  }
}

/** Minutes and seconds. */
function clockOf(seconds) {
  const rest = String(seconds % 60).padStart(2, "0");
  return `${Math.floor(seconds / 60)}:${rest}`;
}
