/** The receipts of the user's own messages: delivered to and read by whom. No DOM. */

import { gathered } from "./tasks.js";

/** A message to many users has many receipts. */
const GATHER_MS = 50;
/** The number of messages whose delivery is remembered. */
const MOST_REACHED = 2_000;
/** The number of messages fetched to find the read marks of a conversation. */
const MOST_ASKED = 20;
const NOWHERE = { mark: null, count: 0 };

export class Receipts {
  #chat;
  #store;
  /** The users to whom a message was delivered, by its id. */
  #reached = new Map();
  /** The read mark of every reader of a conversation: {upTo, toldId}, a seq, and an id without a
   * known seq. */
  #readers = new Map();
  /** The seqs of requested messages, by conversation and id; 0 until known. */
  #seqs = new Map();
  #changed;

  constructor(chat, store) {
    this.#chat = chat;
    this.#store = store;
    this.#changed = gathered(GATHER_MS, () => store.changed());
  }

  /** Receipts arrive at least once: they are added to a set, or compared by seq. */
  receive({ type, conversationId, senderId, payload }) {
    if (type === "receipt.delivered") this.#reach(payload.messageId, senderId);
    else if (type === "receipt.read") this.#read(conversationId, senderId, payload.messageId);
  }

  /**
   * A function that returns for an own message {mark, count, all, isDirect}: "read",
   * "delivered" or null, by how many, of how many others. Readers of a message have read those
   * before it.
   */
  standingIn(conversation) {
    const othersOf = this.#othersIn(conversation);
    return (message) => standingOf(conversation, othersOf(message));
  }

  /**
   * For an own message {read, reached, left}, the ids of the others: its readers, users to
   * whom it was delivered, and the rest, as far as is known.
   */
  whoHas(conversation, message) {
    return this.#othersIn(conversation)(message);
  }

  #othersIn(conversation) {
    const others = conversation.participants.filter(({ userId }) => userId !== this.#store.userId);
    const reads = others.map((other) => [other.userId, this.#readUpTo(conversation, other)]);
    return ({ id, seq }) => {
      const [read, reached, left] = [[], [], []];
      for (const [userId, upTo] of reads) {
        const isReached = this.#reached.get(id)?.has(userId);
        (upTo >= seq ? read : isReached ? reached : left).push(userId);
      }
      return { read, reached, left };
    };
  }

  #reach(messageId, userId) {
    if (!this.#reached.has(messageId)) this.#reached.set(messageId, new Set());
    this.#reached.get(messageId).add(userId);
    const [oldest] = this.#reached.keys();
    if (this.#reached.size > MOST_REACHED) this.#reached.delete(oldest);
    this.#changed();
  }

  #read(conversationId, userId, messageId) {
    this.#readerOf(conversationId, userId).toldId = messageId;
    this.#readUpTo({ id: conversationId }, { userId, lastReadMessageId: null });
    this.#changed();
  }

  /** The highest known seq; a message that is not loaded is ignored for now. */
  #readUpTo({ id }, { userId, lastReadMessageId }) {
    const reader = this.#readerOf(id, userId);
    const seqs = [reader.toldId, lastReadMessageId].map((messageId) => this.#seqOf(id, messageId));
    reader.upTo = Math.max(reader.upTo, ...seqs);
    return reader.upTo;
  }

  #readerOf(conversationId, userId) {
    if (!this.#readers.has(conversationId)) this.#readers.set(conversationId, new Map());
    const readers = this.#readers.get(conversationId);
    if (!readers.has(userId)) readers.set(userId, { upTo: 0, toldId: null });
    return readers.get(userId);
  }

  #seqOf(conversationId, messageId) {
    if (messageId === null) return 0;
    const { lastMessage, lastReply } = this.#store.conversation(conversationId) ?? {};
    const held = this.#store.message(conversationId, messageId);
    const found = held ?? [lastMessage, lastReply].find((message) => message?.id === messageId);
    return found?.seq ?? this.#askedSeqOf(conversationId, messageId);
  }

  /** 0 until it is known: the message read last may be in a thread, or further back. */
  #askedSeqOf(conversationId, messageId) {
    const { openId, open } = this.#store;
    const isOpen = conversationId === openId && this.#store.timeline(conversationId).isReady;
    // New members may not see the messages that others have read last.
    if (!isOpen || open?.history === "since_join") return 0;
    if (!this.#seqs.has(conversationId)) this.#seqs.set(conversationId, new Map());
    const seqs = this.#seqs.get(conversationId);
    if (!seqs.has(messageId) && seqs.size < MOST_ASKED) {
      seqs.set(messageId, 0);
      this.#ask(seqs, conversationId, messageId);
    }
    return seqs.get(messageId) ?? 0;
  }

  async #ask(seqs, conversationId, messageId) {
    try {
      const message = await this.#chat.getMessage(conversationId, messageId);
      seqs.set(messageId, message.seq);
      this.#changed();
    } catch {
      // The reader's position is unknown until they read on.
    }
  }
}

function standingOf({ type }, { read, reached, left }) {
  const all = read.length + reached.length + left.length;
  const about = { all, isDirect: type === "direct" };
  if (read.length > 0) return { mark: "read", count: read.length, ...about };
  if (reached.length === 0) return { ...NOWHERE, ...about };
  return { mark: "delivered", count: reached.length, ...about };
}
