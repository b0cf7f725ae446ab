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
    return [...this.#threads.values()].filter((each) => each.conversationId === conversationId);
  }

  /** A loaded message, from the main list or a thread. */
  message(conversationId, messageId) {
    const lists = this.#of(conversationId);
    return lists.map((each) => each.get(messageId)).find(Boolean) ?? null;
  }

  /** The newest known message of each list. */
  newestOf(conversationId) {
    const lists = this.#of(conversationId).filter((each) => each.newer === null);
    return lists.map((each) => each.newest);
  }

  remove(conversationId) {
    this.#timelines.delete(conversationId);
    for (const each of this.threadsOf(conversationId)) this.#threads.delete(each.rootId);
  }

  clear() {
    this.#timelines.clear();
    this.#threads.clear();
  }

  becomeStale() {
    for (const each of [...this.#timelines.values(), ...this.#threads.values()]) {
      each.becomeStale();
    }
  }

  becomeStaleIn(conversationId) {
    for (const each of this.#of(conversationId)) each.becomeStale();
  }

  #of(conversationId) {
    const threads = this.threadsOf(conversationId).map((each) => each.timeline);
    const timeline = this.heldTimeline(conversationId);
    return timeline ? [timeline, ...threads] : threads;
  }

  /** A read entry becomes the last of the map, which is in the order of reads. */
  #latest(lists, id, make) {
    const list = lists.get(id) ?? make();
    lists.delete(id);
    lists.set(id, list);
    const others = [...lists.keys()].filter((each) => each !== id && !this.#isOpen(each));
    if (lists.size > MOST_LISTS) lists.delete(others[0]);
    return list;
  }
}
