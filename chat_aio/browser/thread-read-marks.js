/** The user's read marks in threads, if the service has `inbox`. No DOM. */

import { later } from "./tasks.js";

/** Messages that only scroll past are not read. */
const SEEN_MS = 1_000;

export class ThreadReadMarks {
  #chat;
  #onRead;
  #reading = later(SEEN_MS);
  /** The seq of a thread's last sent read mark, by its root's id. */
  #readUpTo = new Map();
  /** The visible reply. */
  #seenId = null;

  /** `onRead()` is called when the read mark was sent. */
  constructor(chat, onRead = () => {}) {
    this.#chat = chat;
    this.#onRead = onRead;
  }

  /** Stop reading: messages that were visible for less than a moment are not read. */
  stop() {
    this.#reading(() => {});
    this.#seenId = null;
  }

  /** A reply is visible: the replies of its thread up to it are read. */
  saw(timeline, messageId) {
    const reply = timeline.get(messageId);
    const { rootId, conversationId } = timeline;
    if (!reply || reply.seq <= (this.#readUpTo.get(rootId) ?? 0)) return;
    // It is called with each change of the visible part.
    if (messageId === this.#seenId) return;
    this.#seenId = messageId;
    this.#reading(async () => {
      this.#seenId = null;
      this.#readUpTo.set(rootId, reply.seq);
      try {
        await this.#chat.inbox.markThreadRead(conversationId, rootId, messageId);
        this.#onRead();
      } catch {
        this.#readUpTo.delete(rootId);
      }
    });
  }
}
