/** What stands between messages. */

import { element, setText } from "../dom.js";

export class DayRow {
  node = element("div", { class: "day", role: "separator" });

  show({ words }) {
    this.node.replaceChildren(element("span", {}, words));
    this.node.setAttribute("aria-label", words);
  }
}

export class UnreadRow {
  node = element("div", { class: "day unread-mark", role: "separator", "aria-label": "New" });

  show() {
    this.node.replaceChildren(element("span", {}, "New"));
  }
}

/** Above the oldest message: more is coming, it did not come, or this is the beginning. */
export class HistoryRow {
  #words = element("span");
  #again = element("button", { type: "button", class: "quiet" }, "Try again");
  node = element("div", { class: "history" }, this.#words, this.#again);

  constructor({ again }) {
    this.#again.addEventListener("click", again);
  }

  show({ phase, beginning }) {
    const words = {
      beginning,
      failed: "These messages did not load.",
      loading: "Loading…",
    };
    this.node.dataset.phase = phase;
    setText(this.#words, words[phase]);
    this.#again.hidden = phase !== "failed";
  }
}
