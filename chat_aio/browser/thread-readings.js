/** Up to where one has read in threads, where the service keeps that (`inbox`). No DOM. */

import { later } from "./tasks.js";

/** Whoever scrolls on has not read what went by. */
const SEEN_MS = 1_000;

export class ThreadReadings {
  #chat;
  #onRead;
  #reading = later(SEEN_MS);
  /** Up to which seq a thread was told to be read, by its root's id. */
  #readUpTo = new Map();
  /** The reply that is before the reader's eyes. */
  #seenId = null;

  /** `onRead()` is called when the service has been told. */
  constructor(chat, onRead = () => {}) {
    this.#chat = chat;
    this.#onRead = onRead;
  }

  /** Nobody reads any more: what was seen for less than a moment has not been read. */
  stop() {
    this.#reading(() => {});
    this.#seenId = null;
  }

  /** A reply is before the reader's eyes: those of its thread up to it are read. */
  saw(timeline, messageId) {
    const reply = timeline.get(messageId);
    const { rootId, conversationId } = timeline;
    if (!reply || reply.seq <= (this.#readUpTo.get(rootId) ?? 0)) return;
    // It is told with each change of what is shown.
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
