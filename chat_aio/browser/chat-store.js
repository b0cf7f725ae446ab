// @ts-check
/**
 * What a page shows of a chat, kept in step with the service, for any framework: snapshots that are
 * the same object as long as nothing in them has changed, `subscribe`, and what people do. No DOM.
 * docs/chat-js.md says how it is used.
 *
 *   import { Chat } from "./chat.js";
 *   import { ChatStore } from "./chat-store.js";
 *
 *   const store = new ChatStore(new Chat("/api/chat"), { userId: "ann" });
 *   store.subscribe(() => console.log(store.state().unread, store.conversations()));
 *   store.start();
 */

import { Entries } from "./entries.js";
import { Session } from "./session.js";
import { Snapshots } from "./snapshots.js";
import { Store } from "./store.js";
import { Timeline } from "./timeline.js";
import { Users } from "./users.js";

const MOST_NAMED = 12;

/**
 * @typedef {import("./chat.js").Chat} Chat
 * @typedef {import("./chat.js").Conversation} Conversation
 * @typedef {import("./chat.js").Json} Json
 * @typedef {import("./chat.js").Message} Message
 * @typedef {import("./chat.js").Participant} Participant
 * @typedef {import("./chat.js").ReplyPreview} ReplyPreview
 * @typedef {import("./chat.js").StreamStatus} StreamStatus
 * @typedef {import("./chat.js").User} User
 */

/**
 * What is shown. None of it may be changed.
 *
 * @typedef {object} ChatState
 * @property {StreamStatus} status  "live": all that happens is told at once
 * @property {string | null} openId  the open conversation
 * @property {boolean} isListed  whether the list has been brought
 * @property {boolean} hasMore  whether the list goes on: `loadMore()`
 * @property {string | null} problem  why the list cannot be brought just now
 * @property {boolean} isBanned
 * @property {number} unread  unread messages of all conversations
 *
 * @typedef {object} ShownConversation
 * @property {string} id
 * @property {"direct" | "group"} type
 * @property {string | null} name
 * @property {readonly User[]} others  who else is in it; of many the first twelve
 * @property {readonly Participant[]} participants
 * @property {number} unread
 * @property {number} unreadMentions
 * @property {Message | null} lastMessage
 * @property {string} at  when it was last active
 * @property {boolean} isMuted
 * @property {boolean} isFrozen  only admins write
 * @property {Json} metadata
 *
 * @typedef {Message & {key: string, isOwn: boolean, state: "sent"}} SentEntry
 * @typedef {{key: string, isOwn: true, state: "pending" | "failed", id: null,
 *   conversationId: string, senderId: string, body: string, createdAt: string,
 *   clientMessageId: string, mentions: string[], replyTo: Message | null,
 *   problem: string | null, isTemporary: boolean}} SendingEntry  on its way, or not sent
 * @typedef {SentEntry | SendingEntry} Entry  told apart by `state`; `key` stays when it is sent
 *
 * @typedef {object} ShownTimeline
 * @property {string} conversationId
 * @property {readonly Entry[]} messages  oldest first, what is on its way last
 * @property {boolean} isLoaded
 * @property {boolean} isLoading
 * @property {boolean} hasFailed  `loadOlder` tries again
 * @property {boolean} hasOlder  `loadOlder` brings them
 * @property {string | null} firstUnreadId  the first that was unread when it was opened
 * @property {readonly User[]} people  whom its messages name: it changes when more is known of them
 * @property {readonly User[]} typing  who is writing just now
 * @property {readonly Writing[]} writing  what assistants have written so far
 *
 * @typedef {{draftId: string, senderId: string, text: string, isStopped?: boolean}} Writing
 */

/**
 * @typedef {object} ChatStoreOptions
 * @property {string} userId  who is calling, as the service's login knows them
 * @property {boolean} [hasDrafts]  whether the service has the plugin Drafts
 * @property {(message: Message) => void} [onMessage]  one has come that is not being read
 * @property {(conversationId: string | null) => void} [onGone]  the open one cannot be read
 */

/** @typedef {{body: string, replyTo?: Message, mentions?: string[]}} Written */

const NOT_HELD = new Timeline(null);

export class ChatStore {
  /** @type {any} */
  #store;
  /** @type {any} */
  #session;
  #users;
  #entries;
  #snapshots = new Snapshots();
  /** @type {Set<() => void>} */
  #listeners = new Set();
  #online = () => this.#session.reconnect();

  /** @param {Chat} chat @param {ChatStoreOptions} options */
  constructor(chat, { userId, onMessage = () => {}, onGone = () => {}, hasDrafts = false }) {
    this.userId = userId;
    this.#entries = new Entries(userId);
    this.#store = new Store(userId, { keepsNewest: true });
    this.#users = new Users(chat, () => this.#store.changed());
    this.#session = new Session(chat, this.#store, {
      ...{ onMessage, hasDrafts, onJoinRequest: () => {}, onBan: () => {}, onReports: () => {} },
      onUsers: (/** @type {{[userId: string]: User}} */ users) => this.#users.learn(users),
      onGone: (/** @type {Conversation | null} */ gone) => onGone(gone?.id ?? null),
    });
    this.#store.subscribe(() => this.#told());
  }

  /** Open the stream, and bring the list. */
  start() {
    this.#session.start();
    globalThis.addEventListener?.("online", this.#online);
  }

  /** End the stream; `start` begins anew. */
  close() {
    globalThis.removeEventListener?.("online", this.#online);
    this.#session.close();
  }

  /** `listener` is called when something has changed, once for what changes together; the answer
   * ends it.
   * @type {(listener: () => void) => () => void} */
  subscribe = (listener) => {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  };

  /** @type {() => ChatState} */
  state = () => this.#snapshots.get("state", () => this.#makeState());

  /** Most recently active first.
   * @type {() => readonly ShownConversation[]} */
  conversations = () =>
    this.#snapshots.get("conversations", () =>
      this.#store.conversations.map((/** @type {any} */ { id }) => this.conversation(id)),
    );

  /** @type {(conversationId: string) => ShownConversation | null} */
  conversation = (id) => {
    if (!this.#store.conversation(id)) return null;
    return this.#snapshots.get(`conversation:${id}`, () => this.#makeConversation(id));
  };

  /** @type {(conversationId: string) => ShownTimeline} */
  timeline = (id) => this.#snapshots.get(`timeline:${id}`, () => this.#makeTimeline(id));

  /** What is known of a user.
   * @type {(userId: string) => User} */
  user = (userId) => this.#users.get(userId);

  /** Make a conversation the open one (null: none), and bring its messages.
   * @param {string | null} conversationId @returns {Promise<void>} */
  async open(conversationId) {
    await this.#session.open(conversationId);
  }

  /** Open the direct conversation with someone, which may have to be made.
   * @param {string} otherUserId @returns {Promise<string>} its id */
  async openDirect(otherUserId) {
    const { id } = await this.#session.openDirect(otherUserId);
    await this.open(id);
    return id;
  }

  /** Send a message; `timeline` has it at once, with what becomes of it as its `state`.
   * @param {string} conversationId @param {string | Written} written
   * @returns {string} its clientMessageId */
  send(conversationId, written) {
    this.#store.timeline(conversationId).unread.clear();
    this.#session.typing.stopped(conversationId);
    const message = typeof written === "string" ? { body: written } : written;
    return this.#session.sender.send(conversationId, message);
  }

  /** Send again what was not sent.
   * @param {string} clientMessageId */
  retry(clientMessageId) {
    this.#session.sender.retry(clientMessageId);
  }

  /** Give up what was not sent.
   * @param {string} clientMessageId */
  discard(clientMessageId) {
    this.#session.sender.discard(clientMessageId);
  }

  /** @param {string} messageId @param {string} body @param {string[]} [mentions]
   * @returns {Promise<void>} */
  async edit(messageId, body, mentions) {
    await this.#session.changes.edit(messageId, { body, mentions });
  }

  /** @param {string} messageId @returns {Promise<void>} */
  async delete(messageId) {
    await this.#session.changes.delete(messageId);
  }

  /** React to a message, or take one's reaction back.
   * @param {Message} message @param {string} emoji @returns {Promise<void>} */
  async react(message, emoji) {
    await this.#session.changes.toggleReaction(message, emoji);
  }

  /** Mark a conversation as read to its end.
   * @param {string} conversationId
   * @returns {Promise<void>} */
  async markRead(conversationId) {
    await this.#session.history.loadNewest(this.#store.timeline(conversationId));
    if (this.#store.conversation(conversationId)) await this.#session.markRead(conversationId);
  }

  /** Whether the end of the open conversation is before the reader's eyes: then what is there, and
   * what comes, is marked as read.
   * @param {boolean} isReading */
  setReading(isReading) {
    const { openId } = this.#store;
    // Whoever looks at older messages keeps them.
    if (openId !== null) this.#store.timeline(openId).isFollowed = isReading;
    if (isReading !== this.#store.isReading) this.#store.set({ isReading });
  }

  /** The reader has typed: the others are told, now and then.
   * @param {string} conversationId @param {string} text  what is written so far */
  typed(conversationId, text) {
    this.#session.typing.typed(conversationId, text.trim() === "");
  }

  /** Older messages of a conversation.
   * @param {string} conversationId @returns {Promise<void>} */
  async loadOlder(conversationId) {
    const timeline = this.#store.timeline(conversationId);
    const { history } = this.#session;
    if (timeline.loading === "failed") await history.loadAgain(timeline);
    else await history.loadOlder(timeline);
  }

  /** More of the list of conversations.
   * @returns {Promise<void>} */
  async loadMore() {
    await this.#session.loadMoreConversations();
  }

  /** Try at once instead of after a pause. */
  reconnect() {
    this.#session.reconnect();
  }

  #told() {
    this.#snapshots.outdate();
    if (this.#store.isReading) this.#session.read();
    for (const listener of [...this.#listeners]) listener();
  }

  #makeState() {
    const { status, openId, isListed, nextCursor, listProblem, isBanned, totalUnread } =
      this.#store;
    return {
      ...{ status, openId, isListed, isBanned, unread: totalUnread },
      ...{ hasMore: Boolean(nextCursor), problem: listProblem?.message ?? null },
    };
  }

  /** @param {string} id */
  #makeConversation(id) {
    const known = this.#store.conversation(id);
    const { type, name, participants, lastMessage, createdAt, metadata } = known;
    return {
      ...{ id, type, name, participants, metadata, lastMessage: lastMessage ?? null },
      others: this.#namedOf(participants),
      unread: this.#store.unreadOf(known),
      unreadMentions: known.unreadMentions ?? 0,
      at: lastMessage?.createdAt ?? createdAt,
      isMuted: this.#store.mutedIds.has(id),
      isFrozen: Boolean(known.frozen),
    };
  }

  /** @param {Participant[]} participants */
  #namedOf(participants) {
    const others = [];
    for (const { userId } of participants) {
      if (userId !== this.userId) others.push(this.user(userId));
      if (others.length === MOST_NAMED) break;
    }
    return others;
  }

  /** @param {readonly Entry[]} entries */
  #namedIn(entries) {
    const ids = entries.flatMap(({ senderId, mentions, replyTo }) => [
      senderId,
      ...mentions,
      ...(replyTo ? [replyTo.senderId] : []),
    ]);
    return [...new Set(ids)].map((each) => this.user(each));
  }

  /** @param {string} id */
  #makeTimeline(id) {
    const timeline = this.#store.heldTimeline(id) ?? NOT_HELD;
    const { isReady, isAsking, loading, messages, older, unread } = timeline;
    const isHere = (/** @type {any} */ each) =>
      each.conversationId === id && !each.threadRootMessageId;
    const typing = this.#session.typing.idsIn(id);
    const entries = this.#entries.of(isReady ? messages : [], this.#store.outbox.filter(isHere));
    return {
      conversationId: id,
      messages: entries,
      people: this.#namedIn(entries),
      isLoaded: isReady,
      isLoading: isAsking,
      hasFailed: loading === "failed",
      hasOlder: isReady && Boolean(older),
      firstUnreadId: unread.firstId,
      typing: typing.map((/** @type {string} */ each) => this.user(each)),
      writing: this.#store.writings.filter(isHere),
    };
  }
}
