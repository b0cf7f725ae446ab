/** The rows between messages. */

import { element, setAttribute, setText } from "../../../browser/dom.js";
import { problemOf } from "../problems.js";
import { say } from "../words.js";

/** With so few unread messages, their end is as near as a button. */
const MOST_ON_A_SCREEN = 5;

export class DayRow {
  node = element("div", { class: "day", role: "separator" });

  show({ words }) {
    this.node.replaceChildren(element("span", {}, words));
    this.node.setAttribute("aria-label", words);
  }
}

export class UnreadRow {
  #words = element("span", { role: "separator" });
  #read = element("button", { type: "button", class: "link" }, say("timeline.markRead"));
  node = element("div", { class: "day unread-mark" }, this.#words, this.#read);

  constructor({ markRead }) {
    this.#read.addEventListener("click", markRead);
  }

  /** `count` is the number of unread messages; 0 if they arrived since. */
  show({ count }) {
    const words = count > 1 ? say("timeline.newMessages", { count }) : say("timeline.new");
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
export class HistoryRow {
  #words = element("span");
  #again = element("button", { type: "button", class: "quiet" }, say("common.again"));
  node = element("div", { class: "history" }, this.#words, this.#again);

  constructor({ again }) {
    this.#again.addEventListener("click", () => {
      if (this.node.dataset.phase === "failed") again();
    });
  }

  /** `phase` is "beginning", "loading", "failed" (with its `error`) or "retrying". */
  show({ phase, beginning, error }) {
    const words = {
      beginning,
      failed: [say("timeline.failed"), error && problemOf(error)].filter(Boolean).join(" "),
      loading: say("common.loading"),
      retrying: say("common.loading"),
    };
    this.node.dataset.phase = phase;
    setText(this.#words, words[phase]);
    // The button stays during a retry, so that it keeps the focus.
    this.#again.hidden = !["failed", "retrying"].includes(phase);
    setAttribute(this.#again, "aria-disabled", phase === "retrying" ? "true" : null);
  }
}
