/** Sends the messages of the store's outbox, in order, and each one once. No DOM. */

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
   * `onRefused(draft, error)` is called for a failed send, which stays in the outbox as
   * failed; not for the messages that wait behind it.
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

  /** Stop sending: another user may be logged in later. Waiting messages, and new
   * ones, have failed until `open`. */
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
    const failed = { state: "failed", isTemporary: true };
    const asFailed = (draft) => (draft.state === "pending" ? { ...draft, ...failed } : draft);
    this.#aside.push(...this.#store.outbox.map(asFailed));
    this.#store.set({ outbox: [] });
  }

  /** Drafts of an earlier session, in order: those with temporary failures are sent when the stream
   * opens. */
  takeUp(drafts) {
    for (const draft of drafts) this.#store.putInOutbox(draft);
  }

  /** Send the same draft under the same key: if the service has it, it is not sent twice. */
  retry(clientMessageId) {
    const draft = this.#find(clientMessageId);
    if (draft?.state === "failed") this.#post(draft);
  }

  /** Send the messages with temporary failures again. */
  retryAll() {
    for (const { isTemporary, clientMessageId } of this.#store.outbox) {
      if (isTemporary) this.retry(clientMessageId);
    }
  }

  /** Drop a message; those that have waited behind it are sent. */
  discard(clientMessageId) {
    const draft = this.#find(clientMessageId);
    if (!draft) return;
    const [first, next] = this.#heldIn(draft.conversationId);
    this.#remove(clientMessageId);
    if (draft === first && next) this.#post(next);
  }

  /** Take a failed message back for editing; null if it was sent after all. */
  takeBack(clientMessageId) {
    const draft = this.#find(clientMessageId);
    if (draft?.state !== "failed") return null;
    this.discard(clientMessageId);
    return draft;
  }

  /** One after another within a conversation, behind temporary failures there: messages
   * keep their order. */
  #post(draft) {
    const { conversationId } = draft;
    for (const held of new Set([...this.#heldIn(conversationId), draft])) {
      this.#store.putInOutbox({ ...held, state: "pending", problem: null, isTemporary: false });
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

  /** Later messages of its conversation fail with it, if it may be sent later. */
  #fail(clientMessageId, error, signal) {
    const draft = this.#find(clientMessageId);
    // Its event may have arrived although the answer was lost.
    if (!draft) return;
    const isTemporary = Boolean(error.isTemporary);
    // Closed and opened again since: it is still pending, and next.
    if (isTemporary && signal !== this.#closing.signal) return;
    const failed = isTemporary ? this.#pendingIn(draft.conversationId) : [draft];
    for (const lost of failed) {
      this.#store.putInOutbox({ ...lost, state: "failed", problem: error, isTemporary });
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

  /** Temporary failures, which may be sent later. */
  #heldIn(conversationId) {
    const isIt = (draft) => draft.conversationId === conversationId && draft.isTemporary;
    return this.#store.outbox.filter(isIt);
  }

  #remove(clientMessageId) {
    const outbox = this.#store.outbox.filter((entry) => entry.clientMessageId !== clientMessageId);
    this.#store.set({ outbox });
  }
}
