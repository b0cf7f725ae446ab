/** The messages of a conversation or a thread: a log that stays at its end while it is read. */

import { element, Rows, setAttribute, setHidden, setText } from "../dom.js";
import { enableKeys } from "../log-keys.js";

const NEAR_END_PX = 60;
const NEAR_TOP_PX = 400;
const NOT_SHOWN = { id: null, isLoaded: false, firstKey: null, sending: 0, list: null };

export class Log {
  #tools;
  #log;
  #toNewest;
  #rows = null;
  #shown = NOT_SHOWN;
  #sticks = true;
  /** Where it was scrolled to at the end. */
  #endTop = 0;
  /** How large it was when it was last looked at. */
  #size = "";
  #isSeen = false;

  /** `tools` are those of a message, and older() and moved(), which is told of scrolling. */
  constructor(tools, label) {
    this.#tools = tools;
    const about = { role: "log", part: "log", tabindex: "0", "aria-label": label };
    this.#log = element("div", { class: "log", ...about });
    const onclick = () => {
      this.#goToEnd();
      tools.moved();
    };
    const button = { type: "button", class: "to-newest", part: "to-newest", onclick };
    this.#toNewest = element("button", { ...button, hidden: true });
    this.node = element("div", { class: "stage" }, this.#log, this.#toNewest);
    enableKeys(this.#log);
    this.#log.addEventListener("scroll", () => this.#scrolled());
    new ResizeObserver(() => this.#fit()).observe(this.#log);
    new IntersectionObserver((changes) => {
      this.#isSeen = changes.at(-1).isIntersecting;
      tools.moved();
    }).observe(this.#log);
  }

  /** Whether the newest message is before the reader's eyes. */
  get isRead() {
    return this.#shown.isLoaded && this.#sticks && this.#isSeen && !this.#isCovered;
  }

  /** Whether it stays with the newest message, also where nobody sees that. */
  get isAtEnd() {
    return this.#sticks;
  }

  /** Whether something else is shown in its place: where that is narrow, a thread. */
  get #isCovered() {
    return getComputedStyle(this.#log).visibility !== "visible";
  }

  /** `shown` is {id, list, rows, unread}, `list` as the store shows it; null: nothing. */
  show(shown) {
    const id = shown?.id ?? null;
    if (id !== this.#shown.id) this.#clear(id);
    if (id === null) return;
    const { list, rows } = shown;
    const { isLoaded, messages } = list;
    this.#fit();
    const before = this.#shown;
    // The scroll event comes a frame late: whoever has just scrolled up is not taken back down.
    if (before.isLoaded) this.#sticks = this.#isNearEnd();
    const sending = messages.filter((each) => each.state !== "sent").length;
    const firstKey = messages[0]?.key ?? null;
    this.#shown = { id, isLoaded, sending, firstKey, list };
    // Only what happens now is read out, not what was said before the reader came.
    const isNews = before.isLoaded && [null, firstKey].includes(before.firstKey);
    this.#log.ariaLive = isNews ? "polite" : "off";
    this.#log.ariaBusy = String(list.isLoading);
    const putBack = this.#anchor();
    this.#rows.show(rows);
    if (isLoaded && !before.isLoaded) this.#goToFirstUnread();
    else if (this.#sticks || sending > before.sending) this.#goToEnd();
    else putBack();
    this.#afterShowing(shown);
  }

  #afterShowing({ unread }) {
    const { say } = this.#tools;
    setHidden(this.#toNewest, this.#sticks, this.#log);
    setText(this.#toNewest, unread > 0 ? `↓ ${say("news")}` : "↓");
    setAttribute(this.#toNewest, "aria-label", unread > 0 ? say("news") : say("newest"));
    this.#askForOlder();
  }

  #askForOlder() {
    const { hasOlder, isLoading, hasFailed } = this.#shown.list ?? {};
    // Where it is hidden nothing is scrolled: its top is no place to ask for more.
    const isNearTop = this.#isSeen && this.#log.scrollTop < NEAR_TOP_PX;
    if (isNearTop && hasOlder && !isLoading && !hasFailed) this.#tools.older();
  }

  #clear(id) {
    this.#log.replaceChildren();
    this.#rows = new Rows(this.#log, this.#tools);
    this.#shown = { ...NOT_SHOWN, id };
    this.#sticks = true;
    setHidden(this.#toNewest, true, this.#log);
  }

  /** Remember what the reader looks at; the answer puts it back to where it was. */
  #anchor() {
    const top = this.#log.scrollTop;
    const all = [...this.#log.querySelectorAll(".message")];
    const seen = all.find((each) => each.offsetTop + each.offsetHeight > top);
    const offset = seen ? seen.offsetTop - top : 0;
    return () => {
      if (seen?.isConnected) this.#log.scrollTop = seen.offsetTop - offset;
    };
  }

  #goToEnd() {
    this.#log.scrollTop = this.#log.scrollHeight;
    this.#endTop = this.#log.scrollTop;
    this.#sticks = true;
  }

  /**
   * The composer grows, a phone's keyboard opens, a thread takes its room beside it: what was at
   * the end stays there. Whoever asks where the end is looks here first: the observer comes late.
   */
  #fit() {
    const { clientWidth, clientHeight } = this.#log;
    const size = `${clientWidth} ${clientHeight}`;
    if (size === this.#size) return;
    this.#size = size;
    if (this.#hasNotLeft()) this.#goToEnd();
  }

  /** The scroll event of whoever has just left the end comes a frame late. */
  #hasNotLeft() {
    return this.#sticks && (this.#log.scrollTop >= this.#endTop || this.#isNearEnd());
  }

  /** With more unread messages than fit, begin at the first of them. */
  #goToFirstUnread() {
    this.#goToEnd();
    const mark = this.#rows.nodeOf("unread");
    if (mark && mark.offsetTop < this.#log.scrollTop) this.#log.scrollTop = mark.offsetTop;
    this.#sticks = this.#isNearEnd();
  }

  #scrolled() {
    this.#fit();
    const sticks = this.#isNearEnd();
    const hasChanged = sticks !== this.#sticks;
    this.#sticks = sticks;
    if (hasChanged) this.#tools.moved();
    this.#askForOlder();
  }

  #isNearEnd() {
    const { scrollTop, scrollHeight, clientHeight } = this.#log;
    return scrollHeight - scrollTop - clientHeight < NEAR_END_PX;
  }
}
