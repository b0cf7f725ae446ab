/** The messages of the open conversation: a log that stays at its end while it is read. */

import { element, Rows, setAttribute, setText } from "../dom.js";
import { enableKeys } from "../log-keys.js";
import { MessageRow } from "./message.js";
import { dayKeyOf } from "./words.js";

const NEAR_END_PX = 60;
const NEAR_TOP_PX = 400;
const NOT_SHOWN = { id: null, isLoaded: false, firstKey: null, sending: 0, timeline: null };

export class Log {
  #tools;
  #log;
  #toNewest;
  #rows = null;
  #shown = NOT_SHOWN;
  #sticks = true;
  /** Where it was scrolled to at the end. */
  #endTop = 0;
  #isSeen = false;

  /** `tools` are those of a message, and older(id) and moved(), which is told of scrolling. */
  constructor(tools) {
    this.#tools = tools;
    const { say } = tools;
    const about = { role: "log", part: "log", tabindex: "0", "aria-label": say("messages") };
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
    // The composer grows, a phone's keyboard opens: what was at the end stays there.
    new ResizeObserver(() => this.#hasNotLeft() && this.#goToEnd()).observe(this.#log);
    new IntersectionObserver(([{ isIntersecting }]) => {
      this.#isSeen = isIntersecting;
      tools.moved();
    }).observe(this.#log);
  }

  /** Whether the newest message is before the reader's eyes. */
  get isAtEnd() {
    return this.#shown.isLoaded && this.#sticks && this.#isSeen;
  }

  show(store) {
    const { openId } = store.state();
    if (openId !== this.#shown.id) this.#clear(openId);
    if (openId === null) return;
    const timeline = store.timeline(openId);
    const { isLoaded, messages } = timeline;
    const before = this.#shown;
    // The scroll event comes a frame late: whoever has just scrolled up is not taken back down.
    if (before.isLoaded) this.#sticks = this.#isNearEnd();
    const sending = messages.filter((each) => each.state !== "sent").length;
    const firstKey = messages[0]?.key ?? null;
    this.#shown = { id: openId, isLoaded, sending, firstKey, timeline };
    // Only what happens now is read out, not what was said before the reader came.
    const isNews = before.isLoaded && before.firstKey === firstKey;
    this.#log.ariaLive = isNews ? "polite" : "off";
    this.#log.ariaBusy = String(timeline.isLoading);
    const putBack = this.#anchor();
    this.#rows.show(rowsOf(store, timeline, this.#tools));
    if (isLoaded && !before.isLoaded) this.#goToFirstUnread();
    else if (this.#sticks || sending > before.sending) this.#goToEnd();
    else putBack();
    this.#afterShowing(store);
  }

  #afterShowing(store) {
    const { say } = this.#tools;
    const unread = store.conversation(this.#shown.id)?.unread ?? 0;
    this.#toNewest.hidden = this.#sticks;
    setText(this.#toNewest, unread > 0 ? `↓ ${say("news")}` : "↓");
    setAttribute(this.#toNewest, "aria-label", unread > 0 ? say("news") : say("newest"));
    this.#askForOlder();
  }

  #askForOlder() {
    const { hasOlder, isLoading, hasFailed } = this.#shown.timeline ?? {};
    // Where it is hidden nothing is scrolled: its top is no place to ask for more.
    const isNearTop = this.#isSeen && this.#log.scrollTop < NEAR_TOP_PX;
    if (isNearTop && hasOlder && !isLoading && !hasFailed) this.#tools.older(this.#shown.id);
  }

  #clear(id) {
    this.#log.replaceChildren();
    this.#rows = new Rows(this.#log, this.#tools);
    this.#shown = { ...NOT_SHOWN, id };
    this.#sticks = true;
    this.#toNewest.hidden = true;
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

function rowsOf(store, timeline, tools) {
  const { messages, firstUnreadId } = timeline;
  const conversation = store.conversation(timeline.conversationId);
  const isNamed = conversation?.type !== "direct";
  const rows = [edgeOf(timeline, tools)];
  messages.forEach((entry, at) => {
    const before = messages[at - 1];
    const day = dayKeyOf(entry.createdAt);
    if (!before || dayKeyOf(before.createdAt) !== day) {
      const words = tools.moments.day(entry.createdAt);
      rows.push({ key: `day:${day}`, Row: Line, state: { words, kind: "day" } });
    }
    if (entry.id !== null && entry.id === firstUnreadId) {
      const words = tools.say("news");
      rows.push({ key: "unread", Row: Line, state: { words, kind: "unread" } });
    }
    rows.push({ key: entry.key, Row: MessageRow, state: stateOf(entry, before, store, isNamed) });
  });
  for (const { draftId, senderId, text } of timeline.writing) {
    const state = { text, author: store.user(senderId).name };
    if (text !== "") rows.push({ key: `draft:${draftId}`, Row: DraftRow, state });
  }
  return rows;
}

function stateOf(entry, before, store, isGroup) {
  const isNamed = isGroup && before?.senderId !== entry.senderId;
  const author = store.user(entry.senderId).name;
  const mentioned = entry.mentions.length > 0 ? entry.mentions.map(store.user) : NOBODY;
  return { entry, isNamed, author, mentioned };
}

/** One for all, so that a row without any does not seem changed. */
const NOBODY = [];

/** What stands above the oldest message that is held. */
function edgeOf({ isLoaded, hasOlder, hasFailed, conversationId }, { say, older }) {
  const isWhole = isLoaded && !hasOlder;
  const words = hasFailed ? say("failed") : isWhole ? say("beginning") : say("loading");
  const again = hasFailed ? say("again") : null;
  const state = { words, kind: "edge", again, act: older, id: conversationId };
  return { key: "edge", Row: Line, state };
}

/** What an assistant is writing. It is read out when it is a message. */
class DraftRow {
  #author = element("span", { class: "author", dir: "auto" });
  #body = element("div", { class: "body", dir: "auto" });

  constructor() {
    const about = { class: "message", part: "message other", tabindex: "-1" };
    const bubble = element("div", { class: "bubble", part: "bubble" }, this.#author, this.#body);
    this.node = element("div", { ...about, "aria-live": "off", "data-state": "writing" }, bubble);
  }

  show({ text, author }) {
    setText(this.#author, author);
    setText(this.#body, `${text} …`);
  }
}

/** A line between messages. */
class Line {
  #words = element("span");
  #again = element("button", { type: "button", class: "link", hidden: true });
  #act = () => {};

  constructor() {
    this.#again.addEventListener("click", () => this.#act());
    this.node = element("div", {}, this.#words, this.#again);
  }

  show({ words, kind, again = null, act, id }) {
    setAttribute(this.node, "class", `line ${kind}`);
    setAttribute(this.node, "part", kind);
    setText(this.#words, words);
    setText(this.#again, again ?? "");
    this.#again.hidden = again === null;
    this.#act = () => act(id);
  }
}
