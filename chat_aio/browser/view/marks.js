/** The rows between messages. */

import { element, setAttribute, setText } from "../dom.js";
import { Part } from "./part.js";

/** With so few unread messages, their end is as near as a button. */
const MOST_ON_A_SCREEN = 5;

export class DayRow {
  node = element("div", { class: "day", part: "day", role: "separator" });

  show({ words }) {
    this.node.replaceChildren(element("span", {}, words));
    this.node.setAttribute("aria-label", words);
  }
}

export class UnreadRow extends Part {
  #words = element("span", { role: "separator" });
  #read = element("button", { type: "button", class: "link" }, this.say("timeline.markRead"));
  node = element("div", { class: "day unread-mark", part: "unread" }, this.#words, this.#read);

  constructor({ shell, markRead }) {
    super(shell);
    this.#read.addEventListener("click", markRead);
  }

  /** `count` is the number of unread messages; 0 if they arrived since. */
  show({ count }) {
    const words = count > 1 ? this.say("timeline.newMessages", { count }) : this.say("timeline.new");
    setText(this.#words, words);
    this.#words.setAttribute("aria-label", words);
    this.#read.hidden = count <= MOST_ON_A_SCREEN;
  }
}

/** What happened between two messages. */
export class HappeningRow {
  node = element("p", { class: "happening" });

  show({ words }) {
    setText(this.node, words);
  }
}

/** Above the oldest message: more is coming, it did not come, or this is the beginning. */
export class HistoryRow extends Part {
  #words = element("span");
  #again = element("button", { type: "button", class: "quiet" }, this.say("common.again"));
  node = element("div", { class: "history", part: "edge" }, this.#words, this.#again);

  constructor({ shell, again }) {
    super(shell);
    this.#again.addEventListener("click", () => {
      if (this.node.dataset.phase === "failed") again();
    });
  }

  /** `phase` is "beginning", "loading", "failed" (with its `error`) or "retrying". */
  show({ phase, beginning, error }) {
    const words = {
      beginning,
      failed: [this.say("timeline.failed"), error && this.texts.problemOf(error)]
        .filter(Boolean)
        .join(" "),
      loading: this.say("common.loading"),
      retrying: this.say("common.loading"),
    };
    this.node.dataset.phase = phase;
    setText(this.#words, words[phase]);
    // The button stays during a retry, so that it keeps the focus.
    this.#again.hidden = !["failed", "retrying"].includes(phase);
    setAttribute(this.#again, "aria-disabled", phase === "retrying" ? "true" : null);
  }
}
