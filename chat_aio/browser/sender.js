/** Sends what is in the store's outbox, in order, and each message once. No DOM. */

import { newClientMessageId } from "./chat.js";

export class Sender {
  #chat;
  #store;
  #onRefused;
  #closing = new AbortController();
  #lastOf = new Map();

  /** `onRefused(draft, error)` is told of what has failed, and is in the outbox as such. */
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

  /** Nothing more is sent: it would be sent as whoever is logged in then. What waits has failed, and
   * is sent with `retryAll`. */
  close() {
    this.#closing.abort();
    this.#closing = new AbortController();
  }

  /** The same draft under the same key: if the service has it already, it is not sent twice. */
  retry(clientMessageId) {
    const draft = this.#find(clientMessageId);
    if (draft?.state === "failed") this.#post(draft);
  }

  /** What failed for a reason that has passed. */
  retryAll() {
    for (const each of this.#store.outbox) if (each.isTemporary) this.retry(each.clientMessageId);
  }

  discard(clientMessageId) {
    const { outbox } = this.#store;
    this.#store.set({
      outbox: outbox.filter((each) => each.clientMessageId !== clientMessageId),
    });
  }

  /** What failed, to be written anew; null if it was sent after all. */
  takeBack(clientMessageId) {
    const draft = this.#find(clientMessageId);
    if (draft?.state !== "failed") return null;
    this.discard(clientMessageId);
    return draft;
  }

  /** One after another within a conversation: two quick messages keep their order. */
  #post(draft) {
    this.#store.putInOutbox({ ...draft, state: "pending", problem: null, isTemporary: false });
    const { conversationId } = draft;
    const { signal } = this.#closing;
    const before = this.#lastOf.get(conversationId) ?? Promise.resolve();
    this.#lastOf.set(conversationId, before.then(() => this.#deliver(draft, signal)));
  }

  async #deliver({ conversationId, clientMessageId, replyTo, ...draft }, signal) {
    try {
      const { body, mentions, threadRootMessageId, alsoSendToMain, attachments } = draft;
      const composed = {
        ...{ body, mentions, threadRootMessageId, alsoSendToMain, clientMessageId },
        replyToMessageId: replyTo?.id,
        attachmentIds: attachments?.map((each) => each.id),
      };
      const sent = await this.#chat.sendMessage(conversationId, composed, { signal });
      this.#store.receive(sent);
    } catch (error) {
      this.#fail(clientMessageId, error, signal);
    }
  }

  /** Its event may have come though the answer was lost; then it is not in the outbox any more. */
  #fail(clientMessageId, error, { aborted: isClosed }) {
    const isTemporary = isClosed || error.isTemporary;
    const draft = this.#find(clientMessageId);
    if (!draft) return;
    this.#store.putInOutbox({ ...draft, state: "failed", problem: error, isTemporary });
    if (!isClosed) this.#onRefused(draft, error);
  }

  #find(clientMessageId) {
    return this.#store.outbox.find((each) => each.clientMessageId === clientMessageId);
  }
}
