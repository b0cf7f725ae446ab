/** Fetches single conversations: unknown ones, and those whose counts may be wrong. */

import { isGone } from "./history.js";
import { settled } from "./tasks.js";

const CONFIRM_MS = 400;
/** The maximum time for which a count stays unconfirmed. */
const CONFIRMED_WITHIN_MS = 5_000;
/** If there are more at once, the list is fetched instead. */
const MOST_ONE_BY_ONE = 5;

export class ConversationFetches {
  #chat;
  #store;
  #needs;
  #isClosed = false;
  /** The ids whose counts must be fetched. */
  #doubtful = new Set();
  #confirmAll = settled(CONFIRM_MS, CONFIRMED_WITHIN_MS, () => this.#ask());
  /** Running requests. */
  #running = new Map();

  /**
   * `needs.gone(conversationId)` is called for conversations that cannot be read (any longer),
   * `needs.failed(error)` of other failures, and `needs.list()` fetches the whole list.
   */
  constructor(chat, store, needs) {
    this.#chat = chat;
    this.#store = store;
    this.#needs = needs;
  }

  start() {
    this.#isClosed = false;
  }

  /** Nothing is fetched automatically any more, and no answer counts. */
  close() {
    this.#isClosed = true;
    this.#doubtful.clear();
  }

  /**
   * Fetch a conversation; concurrent calls share the request. `isAside`: its place in
   * the list may be further down.
   */
  fetch(conversationId, { isAside = true } = {}) {
    const key = `${isAside} ${conversationId}`;
    const fetching =
      this.#running.get(key) ??
      this.#fetch(conversationId, isAside).finally(() => this.#running.delete(key));
    this.#running.set(key, fetching);
    return fetching;
  }

  /**
   * A count is shown at once and fetched a moment later: a list may have counted the message too,
   * a page that brought it before its event has not counted it, and an event about a read mark may
   * be older than the newest message.
   */
  confirm(conversationId) {
    if (this.#isClosed) return;
    this.#doubtful.add(conversationId);
    this.#confirmAll();
  }

  #ask() {
    // The user may have left in the meantime.
    const ids = [...this.#doubtful].filter((id) => this.#store.conversation(id));
    this.#doubtful.clear();
    if (ids.length > MOST_ONE_BY_ONE) this.#needs.list();
    else for (const id of ids) this.#fetch(id, true);
  }

  async #fetch(conversationId, isAside) {
    const asOf = this.#store.now();
    try {
      const conversation = await this.#chat.getConversation(conversationId);
      this.#store.putConversation(conversation, asOf, { isAside });
    } catch (error) {
      if (this.#isClosed) return;
      if (isGone(error)) this.#needs.gone(conversationId);
      else this.#needs.failed(error);
    }
  }
}
