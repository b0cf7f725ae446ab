/** The messages of a conversation or a thread: a log that stays at its end while it is read. */

import { Rows } from "../../../browser/dom.js";
import { enableKeys } from "../../../browser/log-keys.js";
import { say } from "../words.js";
import { DraftRow } from "./draft.js";
import { MessageRow } from "./message.js";
import { DayRow, HappeningRow, HistoryRow, UnreadRow } from "./marks.js";

const NEAR_END_PX = 60;
const NEAR_TOP_PX = 600;
const NOT_SHOWN = { timeline: null, firstSeq: null, sent: 0, isLoaded: false };
const ROWS = {
  ...{ day: DayRow, draft: DraftRow, happening: HappeningRow, history: HistoryRow },
  ...{ message: MessageRow, unread: UnreadRow },
};

export class TimelineView {
  #log;
  #toNewest;
  #read;
  #tools;
  #rows = null;
  #shown = NOT_SHOWN;
  #sticks = true;
  #wantedId = null;

  /**
   * `stage` holds the log. `read()` tells what to show, {timeline, rows, drafts, unread}, or null.
   *
   * `tools` are what rows can do, and `older()` and `again()`, which ask for messages, and
   * `moved()`, which is told of scrolling.
   */
  constructor(stage, read, tools) {
    this.#log = stage.querySelector("[role=log]");
    this.#toNewest = stage.querySelector(".to-newest");
    this.#read = read;
    this.#tools = tools;
    enableKeys(this.#log);
    this.#log.addEventListener("scroll", () => this.#scrolled());
    this.#toNewest.addEventListener("click", () => {
      this.#goToEnd();
      // The scroll event finds the reader at the end already: it tells of no change.
      tools.moved();
    });
    // The composer grows, a phone's keyboard opens: what was at the end stays there.
    new ResizeObserver(() => this.#sticks && this.#goToEnd()).observe(this.#log);
  }

  /** Whether the newest message is before the reader's eyes. */
  get isAtEnd() {
    const isCovered = getComputedStyle(this.#log).visibility !== "visible";
    return this.#shown.isLoaded && this.#sticks && !isCovered;
  }

  /** Go to a message and point at it, as soon as it is shown. */
  reveal(messageId) {
    this.#wantedId = messageId;
    this.#tools.moved();
  }

  show() {
    const shown = this.#read();
    if (!shown) return this.#clear();
    const { timeline, rows, drafts } = shown;
    if (this.#shown.timeline !== timeline) this.#clear();
    const before = this.#shown;
    // The scroll event comes a frame late: whoever has just scrolled up is not taken back down.
    if (before.isLoaded) this.#sticks = this.#isNearEnd();
    const firstSeq = timeline.messages[0]?.seq ?? null;
    this.#shown = { timeline, firstSeq, sent: drafts.length, isLoaded: timeline.isReady };
    // Only what happens now is read out, not what was said before the reader came.
    const isNews = before.isLoaded && before.firstSeq === firstSeq;
    this.#log.ariaLive = isNews ? "polite" : "off";
    const anchor = this.#anchor();
    this.#showRows(rows);
    if (!before.isLoaded && timeline.isReady) this.#goToFirstUnread(timeline);
    else if (this.#sticks || drafts.length > before.sent) this.#goToEnd();
    else anchor();
    this.#goToWanted(rows);
    this.#afterShowing(shown);
  }

  #afterShowing({ timeline, unread: count }) {
    requestAnimationFrame(() => {
      this.#log.ariaLive = "polite";
    });
    this.#log.ariaBusy = String(timeline.loading !== null && timeline.loading !== "failed");
    this.#toNewest.hidden = this.#sticks;
    this.#toNewest.dataset.count = count || "";
    this.#toNewest.dataset.words = count ? say("timeline.countNew", { count }) : "";
    const words = count ? say("timeline.goToNew", { count }) : say("timeline.goToNewest");
    this.#toNewest.ariaLabel = words;
    this.#askForOlder(timeline);
  }

  #showRows(rows) {
    this.#rows.show(rows.map(({ kind, ...row }) => ({ ...row, Row: ROWS[kind] })));
  }

  #clear() {
    this.#log.replaceChildren();
    this.#rows = new Rows(this.#log, this.#tools);
    this.#shown = NOT_SHOWN;
    this.#sticks = true;
    this.#toNewest.hidden = true;
  }

  /** Remember what the reader looks at; the answer puts it back to where it was. */
  #anchor() {
    const top = this.#log.scrollTop;
    // Only messages stay where they are: a day's line moves up when older ones of it come.
    const seen = [...this.#log.querySelectorAll(".message")].find(
      (each) => each.offsetTop + each.offsetHeight > top,
    );
    const offset = seen ? seen.offsetTop - top : 0;
    return () => {
      if (seen?.isConnected) this.#log.scrollTop = seen.offsetTop - offset;
    };
  }

  #goToEnd() {
    this.#log.scrollTop = this.#log.scrollHeight;
    this.#sticks = true;
  }

  /** With more unread messages than fit, begin at the first of them. */
  #goToFirstUnread({ firstUnreadId }) {
    this.#goToEnd();
    const mark = firstUnreadId && this.#rows.nodeOf("unread");
    if (mark) mark.scrollIntoView({ block: "nearest" });
    this.#scrolled();
  }

  /** The row may come later: until then it stays wanted. */
  #goToWanted(rows) {
    const wanted = rows.find(({ state }) => state.message && state.message.id === this.#wantedId);
    if (!wanted || !this.#shown.isLoaded) return;
    this.#wantedId = null;
    const node = this.#rows.nodeOf(wanted.key);
    node.scrollIntoView({ block: "center" });
    pointAt(node);
    this.#scrolled();
  }

  #scrolled() {
    const sticks = this.#isNearEnd();
    const hasChanged = sticks !== this.#sticks;
    this.#sticks = sticks;
    if (hasChanged) this.#tools.moved();
    if (this.#shown.timeline) this.#askForOlder(this.#shown.timeline);
  }

  #isNearEnd() {
    const { scrollTop, scrollHeight, clientHeight } = this.#log;
    return scrollHeight - scrollTop - clientHeight < NEAR_END_PX;
  }

  #askForOlder(timeline) {
    const isNearTop = this.#log.scrollTop < NEAR_TOP_PX;
    if (isNearTop && timeline.isReady && timeline.loading === null) this.#tools.older();
  }
}

/** The animation begins anew also where it has run before. */
function pointAt(node) {
  node.removeAttribute("data-pointed");
  node.getBoundingClientRect();
  node.setAttribute("data-pointed", "");
}
