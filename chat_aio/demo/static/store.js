/**
 * What the page knows: conversations, their order, unread counts, messages, what is being sent.
 *
 * No requests and no DOM: methods change the state, and listeners hear of it once per turn.
 */

import { Timeline } from "./timeline.js";

export class Store {
  status = "connecting";
  openId = null;
  /** Whether the open conversation is before the reader's eyes, down to its newest message. */
  isReading = false;
  nextCursor = null;
  isListed = false;
  /** Not yet confirmed: {conversationId, clientMessageId, body, createdAt, state, problem}. */
  outbox = [];

  #conversations = new Map();
  #order = [];
  #timelines = new Map();
  #listeners = new Set();
  #isTelling = false;
  #clock = 0;

  constructor(userId) {
    this.userId = userId;
  }

  subscribe(listener) {
    this.#listeners.add(listener);
  }

  /** Tell the listeners, once, after the work at hand. */
  changed() {
    if (this.#isTelling) return;
    this.#isTelling = true;
    queueMicrotask(() => {
      this.#isTelling = false;
      for (const listener of this.#listeners) listener();
    });
  }

  set(fields) {
    Object.assign(this, fields);
    this.changed();
  }

  /** Known conversations, most recently active first. */
  get conversations() {
    return this.#order.map((id) => this.#conversations.get(id));
  }

  get open() {
    return this.conversation(this.openId);
  }

  conversation(conversationId) {
    return this.#conversations.get(conversationId) ?? null;
  }

  timeline(conversationId) {
    if (!this.#timelines.has(conversationId)) {
      this.#timelines.set(conversationId, new Timeline(this.userId));
    }
    return this.#timelines.get(conversationId);
  }

  /** Unread messages as a badge shows them: none where the reader is reading. */
  unreadOf(conversation) {
    return this.isReading && conversation.id === this.openId ? 0 : conversation.unreadCount;
  }

  get totalUnread() {
    return this.conversations.reduce((sum, each) => sum + this.unreadOf(each), 0);
  }

  /** A moment to compare with: take it before a request whose answer has unread counts. */
  now() {
    return ++this.#clock;
  }

  /** The list from its beginning, as the service ordered it at `asOf`; what came later stays. */
  setConversations(conversations, nextCursor, asOf) {
    const listed = conversations.map((each) => each.id);
    const kept = this.#order.filter((id) => {
      const isNewer = this.conversation(id).addedAt > asOf;
      return !listed.includes(id) && (isNewer || id === this.openId);
    });
    this.#order = [...kept, ...listed];
    for (const each of conversations) this.putConversation(each, asOf);
    for (const id of this.#conversations.keys()) {
      if (!this.#order.includes(id)) this.#conversations.delete(id);
    }
    this.set({ nextCursor, isListed: true });
  }

  addConversations(conversations, nextCursor, asOf) {
    for (const each of conversations) {
      if (!this.#conversations.has(each.id)) this.#order.push(each.id);
      this.putConversation(each, asOf);
    }
    this.set({ nextCursor });
  }

  /**
   * Take a snapshot; a new conversation comes first in the list.
   *
   * Events' snapshots have no unread count, and an answer asked for before the reader's last
   * reading (`asOf`) has an outdated one: the known count stays.
   */
  putConversation(snapshot, asOf = this.now()) {
    const local = this.conversation(snapshot.id) ?? {
      ...{ unreadCount: 0, lastMessage: null, hasPreview: false },
      ...{ addedAt: this.now(), readAt: 0 },
    };
    const isCounted = snapshot.unreadCount !== undefined && asOf >= local.readAt;
    const { unreadCount } = isCounted ? snapshot : local;
    this.#conversations.set(snapshot.id, { ...local, ...snapshot, unreadCount });
    if (!this.#order.includes(snapshot.id)) this.#order.unshift(snapshot.id);
    this.changed();
  }

  removeConversation(conversationId) {
    this.#conversations.delete(conversationId);
    this.#timelines.delete(conversationId);
    this.#order = this.#order.filter((id) => id !== conversationId);
    this.changed();
  }

  /** A message was created: it moves its conversation up, and counts if someone else sent it. */
  receive(message) {
    this.#takeFromOutbox(message);
    this.timeline(message.conversationId).put(message);
    const conversation = this.conversation(message.conversationId);
    if (conversation && message.seq > (conversation.lastMessage?.seq ?? 0)) {
      if (message.senderId !== this.userId) this.#countUnread(conversation, message);
      this.#assign(conversation.id, { lastMessage: message });
      this.#order = [conversation.id, ...this.#order.filter((id) => id !== conversation.id)];
    }
    this.changed();
  }

  /** A message was changed: edited, deleted, reacted to. */
  update(message) {
    this.timeline(message.conversationId).update(message);
    const last = this.conversation(message.conversationId)?.lastMessage;
    if (last?.id === message.id) this.#assign(message.conversationId, { lastMessage: message });
    this.changed();
  }

  /** The last message of a conversation, as its row in the list shows it; null if it has none. */
  setPreview(conversationId, message) {
    const known = this.conversation(conversationId)?.lastMessage;
    const lastMessage = message && message.seq >= (known?.seq ?? 0) ? message : known;
    this.#assign(conversationId, { lastMessage, hasPreview: true });
  }

  setUnread(conversationId, unreadCount) {
    this.#assign(conversationId, { unreadCount });
  }

  /** The service has been told what is read: counts asked for before now are outdated. */
  outdateUnread(conversationId) {
    this.#assign(conversationId, { readAt: this.now() });
  }

  /** After a broken connection nothing is known to be complete. */
  becomeStale() {
    for (const timeline of this.#timelines.values()) timeline.becomeStale();
    for (const id of this.#order) this.#assign(id, { hasPreview: false });
  }

  addNewest(conversationId, page) {
    const timeline = this.timeline(conversationId);
    timeline.addNewest(page);
    for (const each of page.messages) this.#takeFromOutbox(each);
    this.setPreview(conversationId, timeline.newest);
  }

  addOlder(conversationId, page) {
    this.timeline(conversationId).addOlder(page);
    this.changed();
  }

  /** A draft on its way, or the same one with a new state. */
  putInOutbox(draft) {
    const others = this.outbox.filter((each) => each.clientMessageId !== draft.clientMessageId);
    const index = this.outbox.findIndex((each) => each.clientMessageId === draft.clientMessageId);
    this.set({ outbox: others.toSpliced(index < 0 ? others.length : index, 0, draft) });
  }

  #countUnread({ id, unreadCount }, message) {
    const isFirst = unreadCount === 0 && id === this.openId && !this.isReading;
    if (isFirst) this.timeline(id).firstUnreadId = message.id;
    this.#assign(id, { unreadCount: unreadCount + 1 });
  }

  #takeFromOutbox({ senderId, conversationId, clientMessageId }) {
    if (senderId !== this.userId || clientMessageId === null) return;
    this.outbox = this.outbox.filter(
      (each) =>
        each.conversationId !== conversationId || each.clientMessageId !== clientMessageId,
    );
  }

  #assign(conversationId, fields) {
    const known = this.#conversations.get(conversationId);
    if (known) this.#conversations.set(conversationId, { ...known, ...fields });
    this.changed();
  }
}
