/** The loaded lists of messages: main lists of conversations, and threads. No DOM. */

import { Thread } from "./thread.js";
import { Timeline } from "./timeline.js";

/** The maximum numbers of loaded main lists and threads; the least recently read are dropped. */
const MOST_LISTS = 12;

export class MessageLists {
  #timelines = new Map();
  #threads = new Map();
  #readerId;
  #options;
  #isOpen;

  /** `options` ({now, keepsNewest}) are of all lists. A list that `isOpen(id)` is not dropped. */
  constructor(readerId, options, isOpen = () => false) {
    this.#readerId = readerId;
    this.#options = options;
    this.#isOpen = isOpen;
  }

  timeline(conversationId) {
    const about = { ...this.#options, conversationId };
    const make = () => new Timeline(this.#readerId, about);
    return this.#latest(this.#timelines, conversationId, make);
  }

  /** The main list of a conversation, if it is loaded. */
  heldTimeline(conversationId) {
    return this.#timelines.get(conversationId) ?? null;
  }

  thread(conversationId, rootId) {
    const about = { ...this.#options, conversationId, rootId };
    return this.#latest(this.#threads, rootId, () => new Thread(this.#readerId, about));
  }

  threadsOf(conversationId) {
    return [...this.#threads.values()].filter((thread) => thread.conversationId === conversationId);
  }

  /** A loaded message, from the main list or a thread. */
  message(conversationId, messageId) {
    const lists = this.#of(conversationId);
    return lists.map((list) => list.get(messageId)).find(Boolean) ?? null;
  }

  /** The newest known message of each list. */
  newestOf(conversationId) {
    const lists = this.#of(conversationId).filter((list) => list.newer === null);
    return lists.map((list) => list.newest);
  }

  remove(conversationId) {
    this.#timelines.delete(conversationId);
    for (const thread of this.threadsOf(conversationId)) this.#threads.delete(thread.rootId);
  }

  clear() {
    this.#timelines.clear();
    this.#threads.clear();
  }

  becomeStale() {
    for (const list of [...this.#timelines.values(), ...this.#threads.values()]) {
      list.becomeStale();
    }
  }

  becomeStaleIn(conversationId) {
    for (const list of this.#of(conversationId)) list.becomeStale();
  }

  #of(conversationId) {
    const threads = this.threadsOf(conversationId).map((thread) => thread.timeline);
    const timeline = this.heldTimeline(conversationId);
    return timeline ? [timeline, ...threads] : threads;
  }

  /** A read entry becomes the last of the map, which is in the order of reads. */
  #latest(lists, id, make) {
    const list = lists.get(id) ?? make();
    lists.delete(id);
    lists.set(id, list);
    const others = [...lists.keys()].filter((key) => key !== id && !this.#isOpen(key));
    if (lists.size > MOST_LISTS) lists.delete(others[0]);
    return list;
  }
}
