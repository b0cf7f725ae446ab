/** The lists of messages that are held: the main list of each conversation, and threads. No DOM. */

import { Thread } from "./thread.js";
import { Timeline } from "./timeline.js";

export class MessageLists {
  #timelines = new Map();
  #threads = new Map();
  #readerId;
  #now;

  /** `now()` is the clock that answers are dated with, by when they were asked for. */
  constructor(readerId, now) {
    this.#readerId = readerId;
    this.#now = now;
  }

  timeline(conversationId) {
    if (!this.#timelines.has(conversationId)) {
      const about = { conversationId, now: this.#now };
      this.#timelines.set(conversationId, new Timeline(this.#readerId, about));
    }
    return this.#timelines.get(conversationId);
  }

  thread(conversationId, rootId) {
    if (!this.#threads.has(rootId)) {
      const about = { conversationId, rootId, now: this.#now };
      this.#threads.set(rootId, new Thread(this.#readerId, about));
    }
    return this.#threads.get(rootId);
  }

  threadsOf(conversationId) {
    return [...this.#threads.values()].filter((each) => each.conversationId === conversationId);
  }

  /** A message that is held, in the main list or a thread. */
  message(conversationId, messageId) {
    const lists = this.#of(conversationId);
    return lists.map((each) => each.get(messageId)).find(Boolean) ?? null;
  }

  /** The newest message of each list. */
  newestOf(conversationId) {
    return this.#of(conversationId).map((each) => each.newest);
  }

  remove(conversationId) {
    this.#timelines.delete(conversationId);
    for (const each of this.threadsOf(conversationId)) this.#threads.delete(each.rootId);
  }

  becomeStale() {
    for (const each of [...this.#timelines.values(), ...this.#threads.values()]) {
      each.becomeStale();
    }
  }

  #of(conversationId) {
    const threads = this.threadsOf(conversationId).map((each) => each.timeline);
    return [this.timeline(conversationId), ...threads];
  }
}
