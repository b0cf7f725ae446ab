/** The user's read marks: sends them to the service. No DOM. */

import { Retry } from "./retry.js";
import { inTurn, later } from "./tasks.js";

/** Messages that only scroll past are not read. */
const SEEN_MS = 1_000;

export class ReadMarks {
  #chat;
  #store;
  #history;
  #confirm;
  #seen = later(SEEN_MS);
  /** The conversations in which marking as read has failed. */
  #unmarkable = new Set();
  #again = new Retry(() => this.#tryAgain());

  /** `confirm(conversationId)` fetches a conversation's count a moment later. */
  constructor(chat, store, { history, confirm }) {
    this.#chat = chat;
    this.#store = store;
    this.#history = history;
    this.#confirm = confirm;
    this.read = inTurn(() => this.#read());
  }

  /** Messages that were visible for less than a moment are not read. */
  close() {
    this.#seen(() => {});
    this.#again.stop();
  }

  /** Call this when the stream has opened: failed marks are tried again. */
  opened() {
    this.#unmarkable.clear();
  }

  /** Call this for a new message: a failed mark of its conversation is tried again. */
  arrived({ conversationId }) {
    this.#unmarkable.delete(conversationId);
  }

  /** Call this for a visible message below the line: messages up to it are read. */
  saw(timeline, messageId) {
    const conversation = this.#store.conversation(timeline.conversationId);
    const seen = timeline.get(messageId);
    const first = timeline.get(timeline.unread.firstId);
    if (conversation?.id === this.#store.keptUnreadId) return;
    const isUnread = conversation?.unreadCount > 0 && first !== null && seen?.seq >= first.seq;
    if (!isUnread || seen.seq <= timeline.unread.seenSeq) return;
    if (this.#unmarkable.has(conversation.id)) return;
    timeline.unread.seenSeq = seen.seq;
    this.#seen(async () => {
      // All of it may have been read in the meantime.
      if (!this.#store.conversation(conversation.id)?.unreadCount) return;
      try {
        await this.#chat.markRead(conversation.id, messageId);
        this.#again.succeeded();
      } catch (error) {
        this.#failed(conversation.id, error);
        timeline.unread.seenSeq = 0;
      }
      this.#confirm(conversation.id);
    });
  }

  /** A message of the open conversation and all newer ones become unread, until it is opened
   * again. */
  async markUnread(message) {
    const { conversationId, id } = message;
    await this.#chat.inbox.markUnread(conversationId, id);
    this.#seen(() => {});
    this.#store.keepUnread(message);
    this.#confirm(conversationId);
  }

  /** Mark the open conversation as read to its end. */
  async readAll() {
    const { open } = this.#store;
    if (open) await this.markRead(open.id);
  }

  /** Mark a conversation as read to its end. */
  async markRead(id) {
    const store = this.#store;
    if (store.keptUnreadId === id) store.set({ keptUnreadId: null });
    store.setUnread(id, 0);
    store.outdateUnread(id);
    try {
      const newest = await this.#history.findNewest(id);
      if (newest) await this.#chat.markRead(id, newest.id);
      store.outdateUnread(id);
      this.#again.succeeded();
    } catch (error) {
      this.#failed(id, error);
      this.#confirm(id);
    }
  }

  /** Not at once: the count that is confirmed would have it tried again. */
  #failed(conversationId, error) {
    this.#unmarkable.add(conversationId);
    if (this.#store.status === "live") this.#again.failed(error);
  }

  /** Visible messages are marked again when the store has changed. */
  #tryAgain() {
    this.#unmarkable.clear();
    this.#store.changed();
  }

  /** Send the read mark to the service. */
  async #read() {
    const store = this.#store;
    const conversation = store.open;
    if (!conversation?.unreadCount || !store.isReadingIn(conversation.id)) return;
    if (this.#unmarkable.has(conversation.id)) return;
    await this.markRead(conversation.id);
  }
}
