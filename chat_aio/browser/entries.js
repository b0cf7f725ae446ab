/**
 * The messages of a conversation as a page shows them: sent ones, then pending ones. The
 * entry of a message stays the same object as long as the message does. No DOM.
 */

export class Entries {
  #userId;
  #known = new WeakMap();

  constructor(userId) {
    this.#userId = userId;
  }

  /** `drafts` are those of the outbox that belong here. */
  of(messages, drafts) {
    return [
      ...messages.map((message) => this.#kept(message, sentEntry)),
      ...drafts.map((draft) => this.#kept(draft, sendingEntry)),
    ];
  }

  #kept(given, make) {
    if (!this.#known.has(given)) this.#known.set(given, Object.freeze(make(given, this.#userId)));
    return this.#known.get(given);
  }
}

function sentEntry(message, userId) {
  const { id, senderId } = message;
  const isOwn = senderId === userId;
  // A sent message keeps the key of its draft.
  const key = isOwn && message.clientMessageId ? `own:${message.clientMessageId}` : `message:${id}`;
  return { ...message, key, isOwn, state: "sent" };
}

function sendingEntry(draft, userId) {
  const { conversationId, clientMessageId, body, createdAt, state, problem } = draft;
  const { mentions = [], replyTo = null, threadRootMessageId = null, attachments = [] } = draft;
  return {
    ...{ id: null, conversationId, clientMessageId, body, createdAt, mentions, replyTo },
    ...{ senderId: userId, key: `own:${clientMessageId}`, isOwn: true },
    ...{ threadRootMessageId, attachments, state },
    ...{ problem: problem && wordsOf(problem), problemCode: problem?.code ?? null },
    retryAfter: problem?.retryAfter ?? null,
  };
}

/** Only the response contains the time to wait. */
function wordsOf({ code, message, retryAfter }) {
  return code === "SLOW_MODE" ? `Slow mode: try again in ${retryAfter} seconds.` : message;
}
