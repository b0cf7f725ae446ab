/** One thread: its root message, and its replies as far as they are known. */

import { Timeline } from "./timeline.js";

export class Thread {
  /** Whether the root does not exist, or the reader may not see it. */
  isGone = false;
  /** A list of one message, so that the root changes like any message of a list. */
  #rootList;

  constructor(readerId, { conversationId, rootId, ...options }) {
    this.conversationId = conversationId;
    this.rootId = rootId;
    this.timeline = new Timeline(readerId, { conversationId, rootId, ...options });
    this.#rootList = new Timeline(readerId, options);
  }

  get root() {
    return this.#rootList.get(this.rootId);
  }

  putRoot(message, asOf) {
    this.#rootList.put(message, asOf);
  }

  becomeStale() {
    this.timeline.becomeStale();
  }

  receive(message) {
    if (message.threadRootMessageId === this.rootId) this.timeline.receive(message);
  }

  update(message, asOf) {
    this.#rootList.update(message, asOf);
    this.timeline.update(message, asOf);
  }

  countReply(reply) {
    this.#rootList.countReply(reply);
  }
}
