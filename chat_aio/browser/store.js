/**
 * What the page knows: conversations, their order, unread counts, messages, pending sends.
 *
 * No requests and no DOM: methods change the state, and listeners are called once per turn.
 */

import { Conversations } from "./conversations.js";
import { happeningsOf, GroupActivity } from "./group-activity.js";
import { MessageLists } from "./message-lists.js";
import { isInMain, isOlderState } from "./messages.js";

export class Store {
  status = "connecting";
  openId = null;
  /** The root of the thread that is open next to the conversation. */
  openRootId = null;
  /** Whether the details of the open conversation are open. */
  isDetailsOpen = false;
  /** The page shown if no conversation is open: "channels", "invite", "moderation", or null. */
  elsewhere = null;
  /** Whether the open conversation is before the reader's eyes, down to its newest message. */
  isReading = false;
  /** The open conversation, if the reader has marked it as unread: it stays so while it is open. */
  keptUnreadId = null;
  /** Whom the reader has blocked, and which conversations are muted: ids. */
  blockedIds = new Set();
  mutedIds = new Set();
  isBanned = false;
  /** What assistants are writing: {draftId, conversationId, senderId, text, ...}. */
  writings = [];
  /** Joins, leaves and changes in groups, since the page was opened. */
  happenings = new GroupActivity();
  nextCursor = null;
  isListed = false;
  /** Whether the list is being fetched, with the last messages of its rows. */
  isListing = false;
  /**
   * How many conversations the list shows, down to the last that is before the reader's eyes; null:
   * as many as are listed.
   */
  listedDownTo = null;
  /** How often the list was reloaded: a page of an earlier one does not continue it. */
  listings = 0;
  /** Not yet confirmed: the fields of a message, and {state, problem}, as in sender.js. */
  outbox = [];

  /** Unread counts of conversations further down than the list is loaded, by id. */
  #unreadElsewhere = new Map();
  #conversations = new Conversations(() => this.now());
  #lists;
  #isListedEmpty;
  /** Whether the list follows the user's views: favourites first, archived ones elsewhere. */
  hasViews;
  /** Conversations that were opened here, and the shown ones, with their sources. */
  #opened = new Set();
  #shown = { all: null, opened: 0, conversations: [] };
  #listeners = new Set();
  #isTelling = false;
  #clock = 0;

  /**
   * With `keepsNewest` lists always reach the newest message, however far back one goes. A direct
   * conversation without messages is listed if it was opened here, or `isListedEmpty(id)`.
   */
  constructor(userId, { keepsNewest = false, hasViews = false, isListedEmpty = () => true } = {}) {
    this.userId = userId;
    this.hasViews = hasViews;
    this.#isListedEmpty = isListedEmpty;
    const isOpen = (id) => id === this.openId || id === this.openRootId;
    this.#lists = new MessageLists(userId, { keepsNewest, now: () => this.now() }, isOpen);
  }

  /** The answer ends it. */
  subscribe(listener) {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
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
    if (fields.openId) this.#opened.add(fields.openId);
    this.changed();
  }

  /** The listed conversations, most recently active first. */
  get conversations() {
    const { all } = this.#conversations;
    const { size: opened } = this.#opened;
    if (this.#shown.all !== all || this.#shown.opened !== opened) {
      const listed = all.filter((conversation) => this.#isListed(conversation));
      const isFavourite = ({ view }) => this.hasViews && Boolean(view?.favourite);
      const others = listed.filter((conversation) => !isFavourite(conversation));
      this.#shown = { all, opened, conversations: [...listed.filter(isFavourite), ...others] };
    }
    return this.#shown.conversations;
  }

  #isListed(conversation) {
    const { id } = conversation;
    if (this.hasViews && conversation.view?.archived) return false;
    return !isEmptyDirect(conversation) || this.#opened.has(id) || this.#isListedEmpty(id);
  }

  get open() {
    return this.conversation(this.openId);
  }

  /** The conversation whose details are open. */
  get openDetails() {
    return this.isDetailsOpen ? this.open : null;
  }

  conversation(conversationId) {
    return this.#conversations.get(conversationId);
  }

  timeline(conversationId) {
    return this.#lists.timeline(conversationId);
  }

  /** The main list of a conversation, if it is held. */
  heldTimeline(conversationId) {
    return this.#lists.heldTimeline(conversationId);
  }

  thread(conversationId, rootId) {
    return this.#lists.thread(conversationId, rootId);
  }

  get openThread() {
    return this.open && this.openRootId ? this.thread(this.openId, this.openRootId) : null;
  }

  /** A message that is held, in the main list or a thread. */
  message(conversationId, messageId) {
    return this.#lists.message(conversationId, messageId);
  }

  /** The newest message that is held, thread replies included. */
  newestIn(conversationId) {
    const newest = this.#lists.newestOf(conversationId);
    const { lastMessage, lastReply } = this.conversation(conversationId);
    const known = [...newest, lastMessage, lastReply].filter(Boolean);
    return known.sort((a, b) => b.seq - a.seq)[0] ?? null;
  }

  /** Unread messages as a badge shows them: none where the reader is reading. */
  unreadOf(conversation) {
    return this.isReadingIn(conversation.id) ? 0 : conversation.unreadCount;
  }

  /** Whether a new message is read: the reader's own, or one that the reader is looking at. */
  isRead({ senderId, conversationId }) {
    return senderId === this.userId || this.isReadingIn(conversationId);
  }

  isReadingIn(conversationId) {
    const { isReading, openId, keptUnreadId } = this;
    return isReading && conversationId === openId && conversationId !== keptUnreadId;
  }

  /** A message of the open conversation and all newer ones are unread again. */
  keepUnread({ conversationId, id, seq }) {
    this.timeline(conversationId).unread.drawAbove(id);
    this.#assign(conversationId, { firstUnreadSeq: seq });
    this.set({ keptUnreadId: conversationId });
  }

  get totalUnread() {
    const listed = new Set(this.conversations.map((conversation) => conversation.id));
    const elsewhere = [...this.#unreadElsewhere].filter(([id]) => !listed.has(id));
    const countOf = ([id, count]) => {
      if (this.mutedIds.has(id)) return 0;
      const known = this.conversation(id);
      if (!known) return count;
      return this.#isInTotal(known) ? this.unreadOf(known) : 0;
    };
    const shown = this.conversations.filter((conversation) => this.#isInTotal(conversation));
    const here = shown.map((conversation) => this.unreadOf(conversation));
    return [...here, ...elsewhere.map(countOf)].reduce((sum, count) => sum + count, 0);
  }

  /** The total leaves out archived and muted conversations. */
  #isInTotal({ id, view }) {
    return !view?.archived && !this.mutedIds.has(id);
  }

  /** A moment to compare with: take it before a request whose answer has unread counts. */
  now() {
    return ++this.#clock;
  }

  /** The list from its beginning, as the service ordered it at `asOf`; what came later stays. */
  setConversations(conversations, nextCursor, asOf) {
    const replace = () => this.#conversations.replaceAll(conversations, asOf, this.openId);
    this.#take(conversations, replace);
    this.set({ nextCursor, isListed: true, listings: this.listings + 1 });
  }

  addConversations(conversations, nextCursor, asOf) {
    this.#take(conversations, () => this.#conversations.append(conversations, asOf));
    this.set({ nextCursor });
  }

  /** The last message of each conversation of a page, and how often the reader is mentioned. */
  addHeads({ conversations, lastMessages = {}, unreadSummaries = {} }, asOf = this.now()) {
    for (const { id } of conversations) {
      this.setPreview(id, lastMessages[id] ?? null, asOf);
      const { unreadMentionCount = 0, firstUnreadSeq = null, seq = 0 } = unreadSummaries[id] ?? {};
      this.#assign(id, { lastSeq: seq });
      // Messages read since are not counted.
      if (asOf < (this.conversation(id)?.readAt ?? 0)) continue;
      this.#assign(id, { unreadMentions: unreadMentionCount, firstUnreadSeq });
    }
  }

  setUnreadElsewhere(conversations) {
    const counted = conversations.filter(({ view }) => !view?.archived);
    this.#unreadElsewhere = new Map(counted.map(({ id, unreadCount }) => [id, unreadCount]));
    this.changed();
  }

  /**
   * Take a snapshot, requested at `asOf`; a new conversation comes first in the list, unless it is
   * `aside`: its place may be further down. One that the user has hidden is not listed.
   */
  putConversation(snapshot, asOf = this.now(), { isAside = false } = {}) {
    const isNew = this.conversation(snapshot.id) === null;
    this.#take([snapshot], () => this.#conversations.put(snapshot, asOf));
    const known = this.conversation(snapshot.id);
    // A message that has come since lists it again.
    const isHidden = known?.view?.hidden && known.movedAt <= asOf && known.id !== this.openId;
    if (isHidden) this.#conversations.unlist(snapshot.id);
    else if (isNew && !isAside) this.#conversations.list(snapshot.id);
    this.changed();
  }

  /** Take an event about a conversation, with its snapshot. */
  receiveConversation(event) {
    const { type, affectedUserIds = [], conversation } = event;
    const found = happeningsOf(event, this.conversation(conversation.id));
    const newest = this.conversation(conversation.id) && this.newestIn(conversation.id);
    this.happenings.add(conversation.id, found, newest?.seq ?? 0);
    const isNew = type === "conversation.created" || affectedUserIds.includes(this.userId);
    this.putConversation(conversation, this.now(), { isAside: !isNew });
    this.#assign(conversation.id, { toldAt: this.now() });
  }

  removeConversation(conversationId) {
    this.#conversations.remove(conversationId);
    this.#lists.remove(conversationId);
    this.#unreadElsewhere.delete(conversationId);
    this.changed();
  }

  /** Forget all that the service has answered; answers to earlier requests do not count. */
  clear() {
    this.#conversations.clear();
    this.#lists.clear();
    this.#unreadElsewhere.clear();
    this.happenings = new GroupActivity();
    const sets = { blockedIds: new Set(), mutedIds: new Set(), writings: [] };
    this.set({ ...sets, nextCursor: null, isListed: false, listings: this.listings + 1 });
  }

  /** A message was created: it moves its conversation up, and counts if someone else sent it. */
  receive(message) {
    const { conversationId, senderId, seq } = message;
    this.#takeFromOutbox(message);
    if (isInMain(message)) this.#lists.heldTimeline(conversationId)?.receive(message);
    for (const thread of this.#lists.threadsOf(conversationId)) thread.receive(message);
    const conversation = this.conversation(conversationId);
    if (conversation && seq > lastSeqOf(conversation)) {
      if (senderId !== this.userId) this.#countUnread(conversation, message);
      const isShown = isInMain(message);
      if (isShown) this.#putPreview(conversationId, message, 0);
      else this.#assign(conversationId, { lastReply: message });
      this.#conversations.moveUp(conversationId);
    }
    this.changed();
  }

  /** A message arrived as new, once: if it is a reply, the root of its thread counts it. */
  countReply(message) {
    this.#lists.heldTimeline(message.conversationId)?.countReply(message);
    for (const thread of this.#lists.threadsOf(message.conversationId)) thread.countReply(message);
    this.changed();
  }

  /** A message was changed: edited, deleted, reacted to. */
  update(message, asOf = Infinity) {
    const { conversationId } = message;
    this.#lists.heldTimeline(conversationId)?.update(message, asOf);
    for (const thread of this.#lists.threadsOf(conversationId)) thread.update(message, asOf);
    const last = this.conversation(conversationId)?.lastMessage;
    if (last?.id === message.id) this.#putPreview(conversationId, message, asOf);
    this.changed();
  }

  /** The last message of a conversation, as its row in the list shows it and as it was at `asOf`;
   * null if it has none. */
  setPreview(conversationId, message, asOf = this.now()) {
    if (message) this.#putPreview(conversationId, message, asOf);
    this.#assign(conversationId, { hasPreview: true });
  }

  setUnread(conversationId, unreadCount) {
    if (this.#unreadElsewhere.has(conversationId)) {
      this.#unreadElsewhere.set(conversationId, unreadCount);
    }
    const read = unreadCount === 0 ? { unreadMentions: 0 } : {};
    const isKept = conversationId === this.keptUnreadId;
    const first = isKept ? {} : { firstUnreadSeq: null };
    this.#assign(conversationId, { unreadCount, ...first, ...read });
  }

  /** The reader's view of a conversation has changed. Cleared messages are no longer held. */
  setView(conversationId, view) {
    const snapshots = [{ id: conversationId }];
    this.#take(snapshots, () => this.#assign(conversationId, { view, viewedAt: this.now() }));
  }

  /** The read mark was sent: counts requested before now are outdated. */
  outdateUnread(conversationId) {
    this.#assign(conversationId, { readAt: this.now() });
  }

  /** After a broken connection nothing is known to be complete. */
  becomeStale() {
    this.#lists.becomeStale();
    for (const { id } of this.conversations) this.#assign(id, { hasPreview: false });
  }

  /** Something in the messages of a conversation has changed that no event has shown. */
  becomeStaleIn(conversationId) {
    this.#lists.becomeStaleIn(conversationId);
    this.#assign(conversationId, { hasPreview: false });
  }

  /** The newest page of a list, requested at `asOf`. */
  addNewest(timeline, page, asOf) {
    timeline.addNewest(page, asOf);
    for (const message of page.messages) this.#takeFromOutbox(message);
    if (timeline.rootId === null) this.setPreview(timeline.conversationId, timeline.newest, asOf);
    this.changed();
  }

  /** A page from somewhere within a list, in place of its loaded part. */
  addAround(timeline, page, asOf) {
    timeline.addAround(page, asOf);
    this.changed();
  }

  addOlder(timeline, page, asOf) {
    timeline.addOlder(page, asOf);
    this.changed();
  }

  addNewer(timeline, page, asOf) {
    timeline.addNewer(page, asOf);
    this.changed();
  }

  /** A draft on its way, or the same one with a new state. */
  putInOutbox(draft) {
    const isIt = (entry) => entry.clientMessageId === draft.clientMessageId;
    const isThere = this.outbox.some(isIt);
    const changed = this.outbox.map((entry) => (isIt(entry) ? draft : entry));
    this.set({ outbox: isThere ? changed : [...changed, draft] });
  }

  /** A later message, or its newer state: an answer's only if no event arrived since `asOf`. */
  #putPreview(conversationId, message, asOf) {
    const { lastMessage: known, previewAsOf } = this.conversation(conversationId) ?? {};
    const isLater = !known || message.seq > known.seq;
    if (!isLater && !isLaterState({ message, asOf }, { message: known, asOf: previewAsOf })) return;
    const at = asOf === Infinity ? this.now() : asOf;
    this.#assign(conversationId, { lastMessage: message, previewAsOf: at });
  }

  /** Take snapshots by `put`, and drop what the user has cleared according to them. */
  #take(snapshots, put) {
    const known = snapshots.map(({ id }) => this.conversation(id)).filter(Boolean);
    put();
    for (const before of known) {
      const now = this.conversation(before.id);
      if (now && clearedIn(now) > clearedIn(before)) this.#dropCleared(now);
    }
  }

  #dropCleared({ id, lastMessage, lastReply, view }) {
    this.#lists.remove(id);
    const left = (message) => (message && message.seq > view.clearedUpToSeq ? message : null);
    this.#assign(id, { lastMessage: left(lastMessage), lastReply: left(lastReply) });
  }

  #countUnread({ id, unreadCount }, message) {
    const isFirst = unreadCount === 0 && id === this.openId && !this.isReading;
    if (isFirst && isInMain(message)) this.timeline(id).unread.drawAbove(message.id);
    const { unreadMentions = 0 } = this.conversation(id);
    const isMine = (message.mentions ?? []).includes(this.userId);
    const fields = { unreadMentions: unreadMentions + (isMine ? 1 : 0) };
    this.#assign(id, { unreadCount: unreadCount + 1, countedAt: this.now(), ...fields });
  }

  #takeFromOutbox({ senderId, conversationId, clientMessageId }) {
    if (senderId !== this.userId || clientMessageId === null) return;
    this.outbox = this.outbox.filter(
      (draft) =>
        draft.conversationId !== conversationId || draft.clientMessageId !== clientMessageId,
    );
  }

  #assign(conversationId, fields) {
    this.#conversations.assign(conversationId, fields);
    this.changed();
  }
}

/** Whether a state of a message replaces the known one. */
function isLaterState(given, known) {
  if (given.message.id !== known.message.id || given.asOf < known.asOf) return false;
  const isRestored = known.message.deletedAt && given.asOf > known.asOf;
  return isRestored || !isOlderState(given.message, known.message);
}

function lastSeqOf({ lastMessage, lastReply }) {
  return Math.max(lastMessage?.seq ?? 0, lastReply?.seq ?? 0);
}

/** Someone may have looked for the other user, and not written. */
function isEmptyDirect({ type, lastMessage, lastReply, lastSeq = 0, unreadCount, view }) {
  const isUsed = lastMessage || lastReply || lastSeq > 0 || unreadCount > 0;
  return type === "direct" && !isUsed && clearedIn({ view }) === 0;
}

function clearedIn({ view }) {
  return view?.clearedUpToSeq ?? 0;
}
