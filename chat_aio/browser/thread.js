/** One thread: the message it hangs on, and its replies as far as they are known. */

import { Timeline } from "./timeline.js";

export class Thread {
  /** Whether there is no such message to the reader. */
  isGone = false;
  /** It changes as a message of a list does: a list of one. */
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
