/** The messages of the open conversation: a log that stays at its end while it is read. */

import { Rows } from "../dom.js";
import { MessageRow } from "./message.js";
import { DayRow, HistoryRow, UnreadRow } from "./marks.js";
import { rowsOf } from "./timeline-rows.js";

const NEAR_END_PX = 60;
const NEAR_TOP_PX = 600;
const ROWS = { day: DayRow, history: HistoryRow, message: MessageRow, unread: UnreadRow };

export class TimelineView {
  #log = document.querySelector("#timeline");
  #toNewest = document.querySelector("#to-newest");
  #store;
  #people;
  #needs;
  #rows = null;
  #shown = { id: null, firstSeq: null, sent: 0, isLoaded: false };
  #sticks = true;

  /**
   * `needs.older()` and `needs.again()` ask for messages, `needs.retry(key)` and
   * `needs.discard(key)` are about what could not be sent; `needs.moved()` tells of scrolling.
   */
  constructor(store, people, needs) {
    this.#store = store;
    this.#people = people;
    this.#needs = needs;
    this.#log.addEventListener("scroll", () => this.#scrolled());
    this.#toNewest.addEventListener("click", () => this.#goToEnd());
    // The composer grows, a phone's keyboard opens: what was at the end stays there.
    new ResizeObserver(() => this.#sticks && this.#goToEnd()).observe(this.#log);
  }

  /** Whether the newest message is before the reader's eyes. */
  get isAtEnd() {
    return this.#shown.isLoaded && this.#sticks;
  }

  show() {
    const { open, openId } = this.#store;
    if (!open) return this.#clear();
    const timeline = this.#store.timeline(openId);
    const isOther = this.#shown.id !== openId;
    if (isOther) this.#clear();
    const before = this.#shown;
    // The scroll event comes a frame late: whoever has just scrolled up is not taken back down.
    if (before.isLoaded) this.#sticks = this.#isNearEnd();
    const outbox = this.#store.outbox.filter((each) => each.conversationId === openId);
    const firstSeq = timeline.messages[0]?.seq ?? null;
    this.#shown = { id: openId, firstSeq, sent: outbox.length, isLoaded: timeline.isLoaded };
    // Only what happens now is read out, not what was said before the reader came.
    const isNews = before.isLoaded && before.firstSeq === firstSeq;
    this.#log.ariaLive = isNews ? "polite" : "off";
    const anchor = this.#anchor();
    this.#showRows(rowsOf(this.#store, this.#people, timeline, outbox));
    if (!before.isLoaded && timeline.isLoaded) this.#goToFirstUnread(timeline);
    else if (this.#sticks || outbox.length > before.sent) this.#goToEnd();
    else anchor();
    this.#afterShowing(timeline, open);
  }

  #afterShowing(timeline, open) {
    requestAnimationFrame(() => {
      this.#log.ariaLive = "polite";
    });
    this.#log.ariaBusy = String(timeline.loading !== null && timeline.loading !== "failed");
    const count = this.#store.unreadOf(open);
    this.#toNewest.hidden = this.#sticks;
    this.#toNewest.dataset.count = count || "";
    const words = "to the newest message";
    this.#toNewest.ariaLabel = count ? `${count} new, ${words}` : `Go ${words}`;
    this.#askForOlder(timeline);
  }

  #showRows(rows) {
    this.#rows.show(rows.map(({ kind, ...row }) => ({ ...row, Row: ROWS[kind] })));
  }

  #clear() {
    this.#log.replaceChildren();
    this.#rows = new Rows(this.#log, this.#needs);
    this.#shown = { id: null, firstSeq: null, sent: 0, isLoaded: false };
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

  #scrolled() {
    const sticks = this.#isNearEnd();
    const hasChanged = sticks !== this.#sticks;
    this.#sticks = sticks;
    if (hasChanged) this.#needs.moved();
    if (this.#store.open) this.#askForOlder(this.#store.timeline(this.#store.openId));
  }

  #isNearEnd() {
    const { scrollTop, scrollHeight, clientHeight } = this.#log;
    return scrollHeight - scrollTop - clientHeight < NEAR_END_PX;
  }

  #askForOlder(timeline) {
    const isNearTop = this.#log.scrollTop < NEAR_TOP_PX;
    if (isNearTop && timeline.isLoaded && timeline.loading === null) this.#needs.older();
  }
}
