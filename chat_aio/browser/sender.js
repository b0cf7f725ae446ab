/**
 * Sends the messages of the store's outbox, in order, and each one once. No DOM.
 *
 * The state of a draft: "pending" is on its way, "waiting" is sent later without the user's doing,
 * "held" waits for a moderator, and "failed" was refused.
 */

import { Retry } from "./retry.js";
import { ChatError, newClientMessageId } from "./chat.js";

export class Sender {
  #chat;
  #store;
  #onRefused;
  #closing = new AbortController();
  /** Messages that wait until their user is logged in again. */
  #aside = [];
  /** The conversations with a running send. */
  #busy = new Set();
  #again = new Retry(() => this.retryAll());

  /**
   * `onRefused(draft, error)` is called for a failed send, which stays in the outbox; not for the
   * messages that wait behind it.
   */
  constructor(chat, store, onRefused = () => {}) {
    this.#chat = chat;
    this.#store = store;
    this.#onRefused = onRefused;
  }

  /** `written` is {body, mentions?, replyTo?, threadRootMessageId?, alsoSendToMain?,
   * attachments?}. Returns its key. */
  send(conversationId, written) {
    const clientMessageId = newClientMessageId();
    const createdAt = new Date().toISOString();
    this.#post({ ...written, conversationId, clientMessageId, createdAt });
    return clientMessageId;
  }

  /** Stop sending: another user may be logged in later. Messages wait until `open`. */
  close() {
    this.#again.stop();
    this.#closing.abort(ChatError.closed());
  }

  open() {
    if (this.#closing.signal.aborted) this.#closing = new AbortController();
    this.takeUp(this.#aside.splice(0));
    this.retryAll();
  }

  /** Stop sending, and take all messages out of the store, until `open`. */
  setAside() {
    this.close();
    const asWaiting = (draft) => (draft.state === "pending" ? { ...draft, state: "waiting" } : draft);
    this.#aside.push(...this.#store.outbox.map(asWaiting));
    this.#store.set({ outbox: [] });
  }

  /** Drafts of an earlier session, in order: those that wait are sent when the stream opens. */
  takeUp(drafts) {
    for (const draft of drafts) this.#store.putInOutbox(draft);
  }

  /** Send the same draft under the same key: if the service has it, it is not sent twice. */
  retry(clientMessageId) {
    const draft = this.#find(clientMessageId);
    if (draft && isUnsent(draft)) this.#post(draft);
  }

  /** Send the waiting messages. */
  retryAll() {
    for (const { state, clientMessageId } of this.#store.outbox) {
      if (state === "waiting") this.retry(clientMessageId);
    }
  }

  /** Drop a message; those that have waited behind it are sent. */
  discard(clientMessageId) {
    const draft = this.#find(clientMessageId);
    if (!draft) return;
    const [first, next] = this.#waitingIn(draft.conversationId);
    this.#remove(clientMessageId);
    if (draft === first && next) this.#post(next);
  }

  /** Take an unsent message back for editing; null if it was sent after all. */
  takeBack(clientMessageId) {
    const draft = this.#find(clientMessageId);
    if (!draft || !isUnsent(draft)) return null;
    this.discard(clientMessageId);
    return draft;
  }

  /** One after another within a conversation, behind those that wait there: messages keep their
   * order. */
  #post(draft) {
    const { conversationId } = draft;
    for (const next of new Set([...this.#waitingIn(conversationId), draft])) {
      this.#store.putInOutbox({ ...next, state: "pending", problem: null });
    }
    this.#work(conversationId);
  }

  async #work(conversationId) {
    if (this.#busy.has(conversationId)) return;
    this.#busy.add(conversationId);
    try {
      while (this.#pendingIn(conversationId).length > 0) {
        await this.#deliver(this.#pendingIn(conversationId)[0]);
      }
    } finally {
      this.#busy.delete(conversationId);
    }
  }

  async #deliver({ conversationId, clientMessageId, replyTo, ...draft }) {
    const { signal } = this.#closing;
    try {
      signal.throwIfAborted();
      const { body, mentions, threadRootMessageId, alsoSendToMain, attachments } = draft;
      const composed = {
        ...{ body, mentions, threadRootMessageId, alsoSendToMain, clientMessageId },
        replyToMessageId: replyTo?.id,
        attachmentIds: attachments?.map((attachment) => attachment.id),
      };
      const sent = await this.#chat.sendMessage(conversationId, composed, { signal });
      this.#again.succeeded();
      this.#store.receive(sent);
      this.#remove(clientMessageId);
    } catch (error) {
      this.#fail(clientMessageId, error, signal);
    }
  }

  /** Later messages of its conversation wait behind it, if it may be sent later. */
  #fail(clientMessageId, error, signal) {
    const draft = this.#find(clientMessageId);
    // Its event may have arrived although the answer was lost.
    if (!draft) return;
    const isTemporary = Boolean(error.isTemporary);
    // Closed and opened again since: it is still pending, and next.
    if (isTemporary && signal !== this.#closing.signal) return;
    const state = isTemporary ? "waiting" : error.code === "MESSAGE_HELD" ? "held" : "failed";
    for (const unsent of isTemporary ? this.#pendingIn(draft.conversationId) : [draft]) {
      this.#store.putInOutbox({ ...unsent, state, problem: error });
    }
    if (signal.aborted) return;
    // Otherwise it is sent when the stream is back.
    if (isTemporary && this.#store.status === "live") this.#again.failed(error);
    this.#onRefused(draft, error);
  }

  #find(clientMessageId) {
    return this.#store.outbox.find((draft) => draft.clientMessageId === clientMessageId);
  }

  #pendingIn(conversationId) {
    const isIt = (draft) => draft.conversationId === conversationId && draft.state === "pending";
    return this.#store.outbox.filter(isIt);
  }

  #waitingIn(conversationId) {
    const isIt = (draft) => draft.conversationId === conversationId && draft.state === "waiting";
    return this.#store.outbox.filter(isIt);
  }

  #remove(clientMessageId) {
    const outbox = this.#store.outbox.filter((entry) => entry.clientMessageId !== clientMessageId);
    this.#store.set({ outbox });
  }
}

/** The service has it neither as sent nor as held. */
function isUnsent({ state }) {
  return state === "waiting" || state === "failed";
}
