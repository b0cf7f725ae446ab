// @ts-check
/**
 * The visible state of a chat, kept in step with the service, for any framework: snapshots that are
 * the same object as long as nothing in them has changed, `subscribe`, and the user's actions. No
 * DOM. docs/guides/react.md describes its use.
 *
 *   import { Chat } from "./chat.js";
 *   import { ChatStore } from "./chat-store.js";
 *
 *   const store = new ChatStore(new Chat("/api/chat"), { userId: "ann" });
 *   store.subscribe(() => console.log(store.state().unread, store.conversations()));
 *   store.start();
 */

import { Entries } from "./entries.js";
import { isInMain } from "./messages.js";
import { Session } from "./session.js";
import { shownConversation, shownState, shownThread, shownTimeline } from "./view-models.js";
import { Snapshots } from "./snapshots.js";
import { Store } from "./store.js";
import { keepParts } from "./store-parts.js";
import { ThreadReadMarks } from "./thread-read-marks.js";
import { Timeline } from "./timeline.js";
import { Users } from "./users.js";

/**
 * @typedef {import("./chat.js").Attachment} Attachment
 * @typedef {import("./chat.js").Chat} Chat
 * @typedef {import("./chat.js").Conversation} Conversation
 * @typedef {import("./chat.js").ConversationView} ConversationView
 * @typedef {import("./chat.js").Json} Json
 * @typedef {import("./chat.js").Message} Message
 * @typedef {import("./chat.js").Participant} Participant
 * @typedef {import("./chat.js").ReplyPreview} ReplyPreview
 * @typedef {import("./chat.js").StreamStatus} StreamStatus
 * @typedef {import("./chat.js").User} User
 */

/**
 * The visible state. None of it may be changed.
 *
 * @typedef {object} ChatState
 * @property {StreamStatus} status  "live": all events arrive at once
 * @property {string | null} openId  the open conversation
 * @property {string | null} openThreadId  the root of the thread that is open in it
 * @property {boolean} isListed  whether the list has been fetched
 * @property {boolean} hasMore  whether the list continues: `loadMore()`
 * @property {string | null} problem  why the list cannot be fetched now
 * @property {string | null} problemCode  the same as a code
 * @property {boolean} isBanned
 * @property {number} unread  unread messages of all conversations that are not archived or muted
 *
 * @typedef {object} ShownConversation
 * @property {string} id
 * @property {"direct" | "group"} type
 * @property {string | null} name
 * @property {readonly User[]} others  the other members; of many the first twelve
 * @property {readonly Participant[]} participants
 * @property {number} unread
 * @property {number} unreadMentions
 * @property {Message | null} lastMessage
 * @property {string} at  when it was last active
 * @property {boolean} isMuted
 * @property {boolean} isFrozen  only admins write
 * @property {Json} metadata
 * @property {ConversationView | null} view  the user's own, if the service has `inbox`
 *
 * @typedef {Message & {key: string, isOwn: boolean, state: "sent"}} SentEntry
 * @typedef {"pending" | "waiting" | "held" | "failed"} SendingState  "waiting" is sent later by
 *   itself, "held" waits for a moderator
 * @typedef {{key: string, isOwn: true, state: SendingState, id: null,
 *   conversationId: string, senderId: string, body: string, createdAt: string,
 *   clientMessageId: string, mentions: string[], replyTo: Message | null,
 *   threadRootMessageId: string | null, attachments: Attachment[], problem: string | null,
 *   problemCode: string | null, retryAfter: number | null}} SendingEntry  on its way, or not sent
 * @typedef {SentEntry | SendingEntry} Entry  distinguished by `state`; `key` stays when it is sent
 *
 * @typedef {object} ShownTimeline
 * @property {string} conversationId
 * @property {readonly Entry[]} messages  oldest first, pending ones last
 * @property {boolean} isLoaded
 * @property {boolean} isLoading
 * @property {boolean} hasFailed  until it is loaded: by `loadOlder`, or automatically
 * @property {boolean} hasOlder  `loadOlder` fetches them
 * @property {string | null} firstUnreadId  the first that was unread when it was opened
 * @property {readonly User[]} people  the users of its messages: changes when more is known
 * @property {readonly User[]} typing  users who are typing
 * @property {readonly Writing[]} writing  what assistants have written so far
 *
 * @typedef {object} ShownThread
 * @property {string} rootId
 * @property {string} conversationId
 * @property {SentEntry | null} root
 * @property {readonly Entry[]} messages  its replies, oldest first, pending ones last
 * @property {boolean} isLoaded
 * @property {boolean} isLoading
 * @property {boolean} hasFailed  until it is loaded: by `loadOlderReplies`, or automatically
 * @property {boolean} hasOlder  `loadOlderReplies` fetches them
 * @property {boolean} isGone  the root does not exist, or the reader may not see it
 * @property {readonly User[]} people  the users of root and replies
 * @property {readonly Writing[]} writing  what assistants have written there so far
 *
 * @typedef {{draftId: string, senderId: string, text: string, isStopped?: boolean}} Writing
 */

/**
 * @typedef {object} ChatStoreOptions
 * @property {string} userId  the current user, as the service's login knows them
 * @property {boolean} [hasDrafts]  whether the service has the plugin Drafts
 * @property {boolean} [hasInbox]  whether the service has `inbox`: it keeps read states of threads
 * @property {(message: Message) => void} [onMessage]  a new message that is not being read
 * @property {(conversationId: string | null) => void} [onGone]  the open one cannot be read
 */

/** @typedef {{body: string, replyTo?: Message, mentions?: string[], attachments?: Attachment[],
 *   threadRootMessageId?: string, alsoSendToMain?: boolean}} Written */

const NOT_HELD = new Timeline(null);

export class ChatStore {
  #chat;
  /** @type {any} */
  #store;
  /** @type {any} */
  #session;
  #users;
  /** The entries of messages. */
  #known;
  /** @type {any} */
  #readings;
  #isReadingThread = false;
  #isStarted = false;
  #isClosed = false;
  /** The number of changes of the open conversation. */
  #choices = 0;
  #snapshots = new Snapshots();
  /** @type {Set<() => void>} */
  #listeners = new Set();

  /** @param {Chat} chat @param {ChatStoreOptions} options */
  constructor(chat, { userId, onMessage = () => {}, onGone = () => {}, ...more }) {
    const { hasDrafts = false, hasInbox = false } = more;
    // For the views of the element: all that a session has to say, and parts of lists.
    const { listeners = {}, isListShown, ...others } = /** @type {any} */ (more);
    const { keepsNewest = true, ...listing } = others;
    const { hasViews, isListedEmpty } = listing;
    this.#chat = chat;
    this.userId = userId;
    this.#readings = hasInbox ? new ThreadReadMarks(chat) : null;
    this.#known = { entries: new Entries(userId), userOf: this.user };
    this.#store = new Store(userId, { keepsNewest, hasViews, isListedEmpty });
    this.#users = new Users(chat, () => this.#store.changed());
    this.#session = new Session(chat, this.#store, {
      ...{ onJoinRequest: () => {}, onBan: () => {}, onReports: () => {}, ...listeners },
      ...{ onMessage, hasDrafts, isListShown },
      onUsers: (/** @type {{[userId: string]: User}} */ users) => this.#users.learn(users),
      onGone: (/** @type {Conversation | null} */ gone, /** @type {any} */ by) => {
        onGone(gone?.id ?? null);
        listeners.onGone?.(gone, by);
      },
    });
    this.#store.subscribe(() => this.#notify());
    keepParts(this, { store: this.#store, session: this.#session, users: this.#users });
  }

  /** Open the stream, and fetch the list; once until it is closed. */
  start() {
    if (this.#isStarted && !this.#store.isBanned) return;
    this.#isStarted = true;
    this.#isClosed = false;
    this.#users.start();
    this.#session.start();
  }

  /** End the stream; `start` opens it again. */
  close() {
    this.#isStarted = false;
    this.#isClosed = true;
    this.#endThreadReading();
    this.#session.close();
    this.#users.close();
    this.#snapshots.clear();
  }

  /** `listener` is called when something has changed, once for simultaneous changes; the returned
   * function ends that.
   * @type {(listener: () => void) => () => void} */
  subscribe = (listener) => {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  };

  /** @type {() => ChatState} */
  state = () => this.#snapshots.get("state", () => shownState(this.#store));

  /** Most recently active first.
   * @type {() => readonly ShownConversation[]} */
  conversations = () =>
    this.#snapshots.get("conversations", () =>
      this.#store.conversations.map((/** @type {any} */ { id }) => this.conversation(id)),
    );

  /** @type {(conversationId: string) => ShownConversation | null} */
  conversation = (id) => {
    if (!this.#store.conversation(id)) return null;
    return this.#snapshots.get(`conversation:${id}`, () =>
      shownConversation(this.#store, id, this.user),
    );
  };

  /** @type {(conversationId: string) => ShownTimeline} */
  timeline = (id) => {
    const held = this.#store.heldTimeline(id);
    const list = held ?? NOT_HELD;
    const typingIds = () => this.#session.typing.idsIn(id);
    const make = () => shownTimeline(this.#store, id, { ...this.#known, list, typingIds });
    return this.#snapshots.get(held ?? `timeline:${id}`, make);
  };

  /** The thread that is open, or null.
   * @type {() => ShownThread | null} */
  thread = () => {
    const { openThread } = this.#store;
    const make = () => shownThread(this.#store, openThread, this.#known);
    return openThread && this.#snapshots.get(openThread, make);
  };

  /** The known data of a user.
   * @type {(userId: string) => User} */
  user = (userId) => this.#users.get(userId);

  /** Make a conversation the open one (null: none), and fetch its messages. A thread of another
   * one is closed.
   * @param {string | null} conversationId @returns {Promise<void>} */
  async open(conversationId) {
    this.#choices += 1;
    const { openId } = this.#store;
    if (conversationId !== openId) {
      this.closeThread();
      this.#store.heldTimeline(openId)?.leave();
    }
    const isDetailsOpen = this.#store.isDetailsOpen && conversationId === openId;
    this.#store.set({ isDetailsOpen, elsewhere: null });
    await this.#session.open(conversationId);
  }

  /** Make a thread of the open conversation the open one, and fetch its replies.
   * @param {string} rootId  its root message @returns {Promise<void>} */
  async openThread(rootId) {
    if (rootId !== this.#store.openRootId) this.#leaveThread();
    await this.#session.openThread(rootId);
  }

  closeThread() {
    this.#leaveThread();
    this.#store.set({ openRootId: null });
  }

  /** Open the direct conversation with someone, which may have to be created: a conversation opened
   * in the meantime stays open.
   * @param {string} otherUserId @returns {Promise<string>} its id */
  async openDirect(otherUserId) {
    this.#choices += 1;
    const choice = this.#choices;
    const { id } = await this.#session.openDirect(otherUserId);
    if (choice === this.#choices) await this.open(id);
    return id;
  }

  /** Send a message, also into a thread; `timeline` or `thread` has it at once, with its
   * `state`.
   * @param {string} conversationId @param {string | Written} written
   * @returns {string} its clientMessageId */
  send(conversationId, written) {
    const message = typeof written === "string" ? { body: written } : written;
    if (isInMain(message)) this.#store.timeline(conversationId).unread.clear();
    this.#session.typing.stopped(conversationId);
    return this.#session.sender.send(conversationId, message);
  }

  /** Send a message again that has failed, or is waiting.
   * @param {string} clientMessageId */
  retry(clientMessageId) {
    this.#session.sender.retry(clientMessageId);
  }

  /** Drop an unsent message. One that is held stays with the moderators.
   * @param {string} clientMessageId */
  discard(clientMessageId) {
    this.#session.sender.discard(clientMessageId);
  }

  /** @param {string} messageId @param {string} body
   * @param {string[]} [mentions]  unless given, the present ones
   * @returns {Promise<void>} */
  async edit(messageId, body, mentions) {
    await this.#session.changes.edit(messageId, { body, mentions });
  }

  /** @param {string} messageId @returns {Promise<void>} */
  async delete(messageId) {
    await this.#session.changes.delete(messageId);
  }

  /** Add the user's reaction to a message, or remove it.
   * @param {Message} message @param {string} emoji @returns {Promise<void>} */
  async react(message, emoji) {
    await this.#session.changes.toggleReaction(message, emoji);
  }

  /** Mark a conversation as read to its end.
   * @param {string} conversationId
   * @returns {Promise<void>} */
  async markRead(conversationId) {
    if (this.#isClosed) return;
    await this.#session.history.loadNewest(this.#store.timeline(conversationId));
    if (!this.#store.conversation(conversationId)) return;
    await this.#session.readings.markRead(conversationId);
  }

  /** Make a message of the open conversation and all newer ones unread, if the service has `inbox`:
   * they stay so until it is opened again.
   * @param {Message} message @returns {Promise<void>} */
  async markUnread(message) {
    await this.#session.readings.markUnread(message);
  }

  /** Change the user's own view of a conversation, if the service has `inbox`: `hidden` until its
   * next message; with `clear` no message up to now is shown to them again.
   * @param {string} conversationId
   * @param {{archived?: boolean, favourite?: boolean, hidden?: boolean, clear?: boolean}} changed
   * @returns {Promise<void>} */
  async changeView(conversationId, changed) {
    await this.#session.changeView(conversationId, changed);
  }

  /** Whether the end of the open conversation is visible: then its messages, and new ones, are
   * marked as read. A reader who is not `isAtEnd` looks at older messages and keeps them;
   * by default that is a reader whose `isReading` is false.
   * @param {boolean} isReading @param {{isAtEnd?: boolean}} where */
  setViewing(isReading, { isAtEnd = isReading } = {}) {
    if (this.#isClosed) return;
    const { openId } = this.#store;
    if (openId !== null) this.#store.timeline(openId).isFollowed = isAtEnd;
    if (isReading !== this.#store.isReading) this.#store.set({ isReading });
  }

  /** The same for the end of the open thread, if the service has `inbox`. The read states of
   * conversation and thread are independent.
   * @param {boolean} isReading @param {{isAtEnd?: boolean}} where */
  setThreadReading(isReading, { isAtEnd = isReading } = {}) {
    if (this.#isClosed) return;
    const { openThread } = this.#store;
    if (openThread) openThread.timeline.isFollowed = isAtEnd;
    if (!isReading) this.#endThreadReading();
    this.#isReadingThread = isReading;
    this.#readThread();
  }

  /** The reader has typed: the others are notified, now and then.
   * @param {string} conversationId @param {string} text  the text so far */
  typed(conversationId, text) {
    this.#session.typing.typed(conversationId, text.trim() === "");
  }

  /** Older messages of a conversation.
   * @param {string} conversationId @returns {Promise<void>} */
  async loadOlder(conversationId) {
    await this.#loadOlder(this.#store.timeline(conversationId));
  }

  /** Older replies of the open thread.
   * @returns {Promise<void>} */
  async loadOlderReplies() {
    const { openThread } = this.#store;
    if (openThread) await this.#loadOlder(openThread.timeline);
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

  /** @param {any} timeline */
  async #loadOlder(timeline) {
    const { history } = this.#session;
    if (timeline.loading === "failed") await history.loadAgain(timeline);
    else await history.loadOlder(timeline);
  }

  #notify() {
    this.#snapshots.outdate();
    if (this.#store.isReading) this.#session.readings.read();
    this.#readThread();
    for (const listener of [...this.#listeners]) listener();
  }

  #readThread() {
    const timeline = this.#isReadingThread && this.#store.openThread?.timeline;
    if (timeline?.newest) this.#readings?.saw(timeline, timeline.newest.id);
  }

  #leaveThread() {
    this.#endThreadReading();
    this.#store.openThread?.timeline.leave();
  }

  #endThreadReading() {
    this.#isReadingThread = false;
    this.#readings?.stop();
  }
}
