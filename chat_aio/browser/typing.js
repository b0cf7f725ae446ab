/** The typing users of conversations, and notifying others when the user types. No DOM. */

import { inTurn } from "./tasks.js";

const PING_MS = 3_000;
const GONE_AFTER_MS = 5_000;
const NONE_SENT = { conversationId: null, at: -Infinity };

export class Typing {
  #chat;
  #store;
  /** The timers that end indicators, by conversation and user. */
  #timers = new Map();
  #sent = NONE_SENT;
  #next = null;
  #send = inTurn(() => this.#sendNext());
  #isOffered = true;

  constructor(chat, store) {
    this.#chat = chat;
    this.#store = store;
  }

  /** The user has typed; the others are notified now and then, and at once when the text is
   * empty. */
  typed(conversationId, isBlank) {
    if (isBlank) this.stopped(conversationId);
    else if (!this.#isSent(conversationId, PING_MS)) this.#notify(conversationId, true);
  }

  /** The user has stopped typing: the message is sent, or was given up. */
  stopped(conversationId) {
    if (this.#isSent(conversationId, GONE_AFTER_MS)) this.#notify(conversationId, false);
  }

  /** The ids of typing users, in the order in which they started. */
  idsIn(conversationId) {
    return [...(this.#timers.get(conversationId)?.keys() ?? [])];
  }

  receive({ type, conversationId, senderId }) {
    if (type === "typing.started") this.#begin(conversationId, senderId);
    else if (type === "typing.stopped") this.#end(conversationId, senderId);
  }

  /** The message of a typing user has arrived. */
  arrived({ conversationId, senderId }) {
    this.#end(conversationId, senderId);
  }

  #begin(conversationId, userId) {
    if (!this.#timers.has(conversationId)) this.#timers.set(conversationId, new Map());
    const timers = this.#timers.get(conversationId);
    clearTimeout(timers.get(userId));
    timers.set(userId, setTimeout(() => this.#end(conversationId, userId), GONE_AFTER_MS));
    this.#store.changed();
  }

  #end(conversationId, userId) {
    const timers = this.#timers.get(conversationId);
    clearTimeout(timers?.get(userId));
    if (timers?.delete(userId)) this.#store.changed();
  }

  #isSent(conversationId, withinMs) {
    const { conversationId: sentId, at } = this.#sent;
    return sentId === conversationId && performance.now() - at < withinMs;
  }

  #notify(conversationId, isTyping) {
    if (this.#store.status !== "live") return;
    this.#sent = isTyping ? { conversationId, at: performance.now() } : NONE_SENT;
    this.#next = { conversationId, isTyping };
    this.#send();
  }

  /** One after another, and only the newest: they must stay in order. */
  async #sendNext() {
    const { conversationId, isTyping } = this.#next;
    if (!this.#isOffered) return;
    try {
      await this.#chat.sendTyping(conversationId, isTyping);
    } catch ({ code }) {
      // Typing goes on; the user need not know that others were not notified.
      this.#isOffered = code !== "NOT_FOUND";
    }
  }
}
