/** The messages of a conversation or a thread: a log that stays at its end while it is read. */

import { element, Rows, setAttribute, setHidden, setText } from "../dom.js";
import { enableKeys } from "../log-keys.js";
import { News } from "../news.js";
import { ScrollPosition } from "../scroll-position.js";
import { unreadKey } from "../unread-line.js";

const NEAR_TOP_PX = 400;
const NOT_SHOWN = { id: null, isLoaded: false, firstKey: null, sending: 0, list: null };

export class Log {
  #tools;
  #log;
  #toNewest;
  #news;
  #rows = null;
  #shown = NOT_SHOWN;
  #position;
  #isSeen = false;

  /** `tools` are those of a message, and older() and moved(), which is called on scrolling. */
  constructor(tools, label) {
    this.#tools = tools;
    const about = { role: "log", part: "log", tabindex: "0", "aria-label": label };
    this.#log = element("div", { class: "log", ...about });
    const onclick = () => {
      this.#position.goToEnd();
      tools.moved();
    };
    const button = { type: "button", class: "to-newest", part: "to-newest", onclick };
    this.#toNewest = element("button", { ...button, hidden: true });
    this.node = element("div", { class: "stage" }, this.#log, this.#toNewest);
    this.#position = new ScrollPosition(this.#log);
    this.#news = new News(this.#log);
    enableKeys(this.#log);
    this.#log.addEventListener("scroll", () => this.#scrolled());
    new ResizeObserver(() => this.#position.fit()).observe(this.#log);
    new IntersectionObserver((changes) => {
      this.#isSeen = changes.at(-1).isIntersecting;
      tools.moved();
    }).observe(this.#log);
  }

  focus() {
    this.#log.focus({ preventScroll: true });
  }

  /** Whether the newest message is before the reader's eyes. */
  get isRead() {
    return this.#shown.isLoaded && this.#position.isFollowing && this.#isSeen && !this.#isCovered;
  }

  /** Whether it stays with the newest message, also where nobody sees that. */
  get isAtEnd() {
    return this.#position.isFollowing;
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
    const before = this.#shown;
    if (before.isLoaded) this.#position.update();
    else this.#position.fit();
    const sending = messages.filter((message) => message.state !== "sent").length;
    const firstKey = messages[0]?.key ?? null;
    this.#shown = { id, isLoaded, sending, firstKey, list };
    const isNews = before.isLoaded && [null, firstKey].includes(before.firstKey);
    if (!isNews) this.#news.leaveOut();
    this.#log.ariaBusy = String(list.isLoading);
    const putBack = this.#anchor();
    this.#rows.show(rows);
    if (isLoaded && !before.isLoaded) this.#openAt(list.firstUnreadId);
    else if (this.#position.isFollowing || sending > before.sending) this.#position.goToEnd();
    else putBack();
    this.#afterShowing(shown);
  }

  #openAt(firstUnreadId) {
    this.#position.openAt(firstUnreadId && this.#rows.nodeOf(unreadKey(firstUnreadId)));
  }

  #afterShowing({ unread }) {
    const { say } = this.#tools;
    setHidden(this.#toNewest, this.#position.isFollowing, this.#log);
    setText(this.#toNewest, unread > 0 ? `↓ ${say("news")}` : "↓");
    setAttribute(this.#toNewest, "aria-label", unread > 0 ? say("news") : say("newest"));
    this.#askForOlder();
  }

  #askForOlder() {
    const { hasOlder, isLoading, hasFailed } = this.#shown.list ?? {};
    // A hidden log is not scrolled: its top does not mean that older messages are wanted.
    const isNearTop = this.#isSeen && this.#log.scrollTop < NEAR_TOP_PX;
    if (isNearTop && hasOlder && !isLoading && !hasFailed) this.#tools.older();
  }

  #clear(id) {
    this.#log.replaceChildren();
    this.#rows = new Rows(this.#log, this.#tools);
    this.#shown = { ...NOT_SHOWN, id };
    this.#position.reset();
    setHidden(this.#toNewest, true, this.#log);
  }

  /** Remember what the reader looks at; the answer puts it back to where it was. */
  #anchor() {
    const top = this.#log.scrollTop;
    const all = [...this.#log.querySelectorAll(".message")];
    const seen = all.find((row) => row.offsetTop + row.offsetHeight > top);
    const offset = seen ? seen.offsetTop - top : 0;
    return () => {
      if (seen?.isConnected) this.#log.scrollTop = seen.offsetTop - offset;
    };
  }

  #scrolled() {
    if (this.#position.update()) this.#tools.moved();
    this.#askForOlder();
  }
}
