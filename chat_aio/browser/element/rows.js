/** The rows of a log: its edge, days, the line above unread messages, messages, drafts. */

import { element, setAttribute, setText } from "../dom.js";
import { unreadKey } from "../unread-line.js";
import { MessageRow } from "./message.js";
import { dayKeyOf, today } from "./words.js";

/** One for all, so that a row without any does not seem changed. */
const NOBODY = [];

/** Rows of a conversation's main list. */
export function mainRows(store, timeline, tools) {
  const { messages, firstUnreadId, conversationId } = timeline;
  const isNamed = store.conversation(conversationId)?.type !== "direct";
  const edge = edgeOf(timeline, tools, tools.say("beginning"));
  const rows = messageRows(store, messages, { tools, isNamed, firstUnreadId });
  return [edge, ...rows, ...draftRows(store, timeline)];
}

/** Rows of a thread: its root, then the replies. */
export function threadRows(store, thread, tools) {
  const { root, messages } = thread;
  const count = Math.max(root?.threadSummary?.replyCount ?? 0, messages.length);
  const words = count === 0 ? tools.say("noReplies") : tools.say("replies", { count });
  const options = { tools, isNamed: true, firstUnreadId: null };
  return [
    ...(root ? messageRows(store, [root], options) : []),
    edgeOf(thread, tools, words),
    ...messageRows(store, messages, { ...options, above: root }),
    ...draftRows(store, thread),
  ];
}

/** `above` is the message above the rows, whose day is shown there. */
function messageRows(store, messages, { tools, isNamed, firstUnreadId, above = null }) {
  const rows = [];
  messages.forEach((entry, at) => {
    const before = messages[at - 1];
    const day = dayKeyOf(entry.createdAt);
    const last = before ?? above;
    if (!last || dayKeyOf(last.createdAt) !== day) {
      const words = tools.moments.day(entry.createdAt);
      rows.push({ key: `day:${day}`, Row: Line, state: { words, kind: "day" } });
    }
    if (entry.id !== null && entry.id === firstUnreadId) {
      const words = tools.say("news");
      const key = unreadKey(firstUnreadId);
      rows.push({ key, Row: Line, state: { words, kind: "unread" } });
    }
    rows.push({ key: entry.key, Row: MessageRow, state: stateOf(entry, before, store, isNamed) });
  });
  return rows;
}

function stateOf(entry, before, store, isGroup) {
  const isNamed = isGroup && before?.senderId !== entry.senderId;
  const author = store.user(entry.senderId).name;
  const mentioned = entry.mentions.length > 0 ? entry.mentions.map(store.user) : NOBODY;
  return { entry, isNamed, author, mentioned, day: today() };
}

function draftRows(store, { writing }) {
  return writing
    .filter(({ text }) => text !== "")
    .map(({ draftId, senderId, text }) => {
      const state = { text, author: store.user(senderId).name };
      return { key: `draft:${draftId}`, Row: DraftRow, state };
    });
}

/** The line above the oldest loaded message; it shows `whole` if that is the first of all. */
function edgeOf({ isLoaded, isLoading, hasOlder, hasFailed }, { say, older }, whole) {
  const isWhole = isLoaded && !hasOlder;
  const problem = isLoading ? say("loading") : say("failed");
  const words = hasFailed ? problem : isWhole ? whole : say("loading");
  const again = hasFailed ? say("again") : null;
  const state = { words, kind: "edge", again, isBusy: isLoading, act: older };
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

  /** While it `isBusy` the button stays, so that it keeps the focus. */
  show({ words, kind, again = null, isBusy = false, act }) {
    setAttribute(this.node, "class", `line ${kind}`);
    setAttribute(this.node, "part", kind);
    setText(this.#words, words);
    setText(this.#again, again ?? "");
    this.#again.hidden = again === null;
    setAttribute(this.#again, "aria-disabled", isBusy ? "true" : null);
    this.#act = isBusy ? () => {} : act;
  }
}
