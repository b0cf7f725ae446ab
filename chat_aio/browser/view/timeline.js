/** The messages of a conversation or a thread: a log that stays at its end while it is read. */

import { element, Rows, setHidden } from "../dom.js";
import { enableKeys } from "../log-keys.js";
import { News } from "../news.js";
import { ScrollPosition } from "../scroll-position.js";
import { unreadKey } from "../unread-line.js";
import { DraftRow } from "./draft.js";
import { icon } from "./icons.js";
import { MessageRow } from "./message.js";
import { DayRow, HappeningRow, HistoryRow, UnreadRow } from "./marks.js";
import { Part } from "./part.js";

const NEAR_EDGE_PX = 600;
const NOT_SHOWN = { timeline: null, firstSeq: 0, sent: 0, isLoaded: false, isAtNewest: false };
const ROWS = {
  ...{ day: DayRow, draft: DraftRow, happening: HappeningRow, history: HistoryRow },
  ...{ message: MessageRow, unread: UnreadRow },
};

export class TimelineView extends Part {
  node;
  #log;
  #toNewest;
  #news;
  #read;
  #tools;
  #rows = null;
  #shown = NOT_SHOWN;
  #position;
  #wantedId = null;
  #wantsEnd = false;
  /** Whether the log is in view, and not hidden or scrolled away in the page. */
  #isInView = false;

  /**
   * `label` names the log, `name` begins the ids of its nodes. `read()` returns {timeline, rows, drafts, unread}, or null.
   *
   * `tools` are the actions of rows, and `older()`, `newer()`, `latest()` and `again()`, which
   * fetch messages, `moved()`, which is called on scrolling, and `saw(messageId)`, with the last
   * visible message.
   */
  constructor(shell, { label, name }, read, tools) {
    super(shell);
    const log = { role: "log", "aria-live": "polite", "aria-label": label, tabindex: 0 };
    this.#log = element("div", { id: `${name}timeline`, class: "timeline", part: "log", ...log });
    const fields = { id: `${name}to-newest`, class: "to-newest", part: "to-newest" };
    const button = { type: "button", ...fields, hidden: true };
    this.#toNewest = element("button", button, icon("down"));
    this.node = element("div", { id: `${name}stage`, class: "stage" }, this.#log, this.#toNewest);
    this.#read = read;
    this.#tools = tools;
    this.#position = new ScrollPosition(this.#log);
    this.#news = new News(this.#log);
    enableKeys(this.#log);
    this.#log.addEventListener("scroll", () => this.#scrolled());
    this.#toNewest.addEventListener("click", () => {
      if (!this.#shown.isAtNewest) tools.latest();
      this.#wantsEnd = true;
      tools.moved();
    });
    new ResizeObserver(() => this.#position.fit()).observe(this.#log);
    new IntersectionObserver((changes) => {
      this.#isInView = changes.at(-1).isIntersecting;
      tools.moved();
    }).observe(this.#log);
  }

  focus() {
    this.#log.focus({ preventScroll: true });
  }

  /** Whether the newest message is before the reader's eyes. */
  get isAtEnd() {
    const { timeline, isAtNewest } = this.#shown;
    // Messages that were missed while the connection was lost have not been visible yet.
    return this.#isBeforeEyes && isAtNewest && this.#position.isFollowing && !timeline.isStale;
  }

  get #isBeforeEyes() {
    const isUncovered = getComputedStyle(this.#log).visibility === "visible";
    return this.#shown.isLoaded && this.#isInView && isUncovered;
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
    if (before.isLoaded) this.#position.update();
    else this.#position.fit();
    const firstSeq = timeline.messages[0]?.seq ?? 0;
    const isAtNewest = timeline.newer === null;
    const isLoaded = timeline.isReady;
    this.#shown = { timeline, firstSeq, sent: drafts.length, isLoaded, isAtNewest };
    const isNews = before.isLoaded && before.isAtNewest && before.firstSeq <= firstSeq;
    if (!isNews) this.#news.leaveOut();
    const anchor = this.#anchor();
    this.#showRows(rows);
    if (!before.isLoaded && isLoaded) this.#goToFirstUnread(timeline);
    else if (this.#isEndWanted(before, drafts)) this.#position.goToEnd();
    else anchor();
    this.#goToWanted(rows);
    this.#afterShowing(shown);
  }

  /** Whether to go to the newest message: not to the end of a part further back. */
  #isEndWanted(before, drafts) {
    this.#wantsEnd ||= drafts.length > before.sent;
    if (!this.#shown.isAtNewest) return false;
    const isWanted = this.#wantsEnd;
    this.#wantsEnd = false;
    return isWanted || (this.#position.isFollowing && before.isAtNewest);
  }

  #afterShowing({ timeline, unread: count }) {
    this.#log.ariaBusy = String(timeline.loading !== null && timeline.loading !== "failed");
    this.#noteWhere(timeline);
    setHidden(this.#toNewest, this.#position.isFollowing && this.#shown.isAtNewest, this.#log);
    this.#toNewest.dataset.count = count || "";
    this.#toNewest.dataset.words = count ? this.say("timeline.countNew", { count }) : "";
    const words = count ? this.say("timeline.goToNew", { count }) : this.say("timeline.goToNewest");
    this.#toNewest.ariaLabel = words;
    this.#askForMore(timeline);
  }

  #showRows(rows) {
    this.#rows.show(rows.map(({ kind, ...row }) => ({ ...row, Row: ROWS[kind] })));
  }

  #clear() {
    this.#log.replaceChildren();
    this.#rows = new Rows(this.#log, this.#tools);
    this.#shown = NOT_SHOWN;
    this.#position.reset();
    this.#wantsEnd = false;
    setHidden(this.#toNewest, true, this.#log);
  }

  /** Remember what the reader looks at; the answer puts it back to where it was. */
  #anchor() {
    const top = this.#log.scrollTop;
    // Only messages stay where they are: a day's line, and a thread's root, move up when older
    // ones come.
    const seen = this.#firstInView();
    const offset = seen ? seen.offsetTop - top : 0;
    return () => {
      if (seen?.isConnected) this.#log.scrollTop = seen.offsetTop - offset;
    };
  }

  /** Those of the timeline, without the root above a thread. */
  get #messages() {
    const root = this.#shown.timeline?.rootId;
    return [...this.#log.querySelectorAll(".message")].filter(({ dataset }) => dataset.id !== root);
  }

  /** The first message that is not wholly above the view. */
  #firstInView() {
    const messages = this.#messages;
    return messages[countEndingBy(messages, this.#log.scrollTop)];
  }

  /** The last message that is not below the view, not even in part. */
  #lastInView() {
    const messages = this.#messages;
    const { scrollTop, clientHeight } = this.#log;
    return messages[countEndingBy(messages, scrollTop + clientHeight) - 1];
  }

  /** With more unread messages than fit, begin at the first of them; without any, where the reader
   * has left. */
  #goToFirstUnread({ unread, seenId, seenOffset }) {
    const left = !unread.firstId && seenId && this.#messages.find(({ dataset }) => dataset.id === seenId);
    if (left) this.#position.returnTo(left, seenOffset);
    else this.#position.openAt(unread.firstId && this.#rows.nodeOf(unreadKey(unread.firstId)));
    if (!this.#position.isFollowing) this.#tools.moved();
    this.#scrolled();
  }

  /** The row may come later: until then it stays wanted. */
  #goToWanted(rows) {
    const wanted = rows.find(({ state }) => state.message && state.message.id === this.#wantedId);
    const { timeline, isLoaded } = this.#shown;
    if (!wanted) {
      // A message that is not found is not scrolled to when it is loaded later.
      if (isLoaded && !timeline.isAsking) this.#wantedId = null;
      return;
    }
    if (!isLoaded) return;
    this.#wantedId = null;
    const node = this.#rows.nodeOf(wanted.key);
    node.scrollIntoView({ block: "center" });
    // Where one came from may have been let go.
    const { focused, isFocusLost } = this.shell;
    if (isFocusLost || focused === this.#log) node.focus({ preventScroll: true });
    pointAt(node);
    this.#scrolled();
  }

  #scrolled() {
    if (this.#position.update()) this.#tools.moved();
    const { timeline } = this.#shown;
    if (!timeline) return;
    this.#noteWhere(timeline);
    this.#askForMore(timeline);
  }

  /** The position of the reader decides which of too many loaded messages are dropped. */
  #noteWhere(timeline) {
    if (!this.#shown.isLoaded) return;
    timeline.isFollowed = this.#position.isFollowing;
    const isAtEnd = this.#position.isFollowing && this.#shown.isAtNewest;
    const first = isAtEnd ? null : this.#firstInView();
    timeline.seenId = first?.dataset.id ?? null;
    timeline.seenOffset = first ? first.offsetTop - this.#log.scrollTop : 0;
    const last = this.#lastInView()?.dataset.id;
    if (last && this.#isBeforeEyes) this.#tools.saw(last);
  }

  #askForMore(timeline) {
    // A log that is not shown is not scrolled: its top does not mean that older ones are wanted.
    if (!this.#isInView || !timeline.isReady || timeline.loading !== null) return;
    const { scrollTop, scrollHeight, clientHeight } = this.#log;
    if (scrollTop < NEAR_EDGE_PX && timeline.older) this.#tools.older();
    else if (scrollHeight - scrollTop - clientHeight < NEAR_EDGE_PX) this.#tools.newer();
  }
}

/** How many messages, which are one below the other, end above a height. */
function countEndingBy(messages, height) {
  let [from, to] = [0, messages.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    const { offsetTop, offsetHeight } = messages[middle];
    if (offsetTop + offsetHeight > height) to = middle;
    else from = middle + 1;
  }
  return from;
}

/** The animation starts again even if it has run before. */
function pointAt(node) {
  node.removeAttribute("data-pointed");
  node.getBoundingClientRect();
  node.setAttribute("data-pointed", "");
}
