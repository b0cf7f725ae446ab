/**
 * The messages of a conversation's main list, or of a thread (`rootId`), as far as they are known:
 * each once, ordered by seq.
 */

import { isOlderState, laterSummary, previewOf, withReply } from "./messages.js";

export class Timeline {
  /** Ascending seq. */
  messages = [];
  /** Where older messages go on: undefined before the first page, null at the beginning. */
  olderCursor = undefined;
  /** Whether the newest page is to be asked for, as after a broken connection. */
  isStale = true;
  /** What a request is doing: null, "newest", "older", or "failed". */
  loading = null;
  /** The first message that was unread when the reader came; a line is drawn above it. */
  firstUnreadId = null;

  /** How many messages were unread when the reader came. */
  unreadCount = 0;
  /** How many messages a page is to have while what is unread is brought; null otherwise. */
  pageSize = null;

  #byId = new Map();
  /** What was told of messages, and when. */
  #told = new Map();
  /** Since when tombstones were known to be there: what is asked for later may be restored. */
  #deletedAsOf = new Map();
  #now;
  /** Up to this seq nothing is missing; while the connection holds that is all there is. */
  #wholeUpTo = 0;
  #isWhole = false;
  #unread = { count: 0, upTo: null };

  /** `now()` is the clock that answers are dated with, by when they were asked for. */
  constructor(readerId, { conversationId = null, rootId = null, now = () => 0 } = {}) {
    this.#now = now;
    this.readerId = readerId;
    this.conversationId = conversationId;
    this.rootId = rootId;
  }

  get isLoaded() {
    return this.olderCursor !== undefined;
  }

  /** Whether it can be shown: not while the first unread message is still being looked for. */
  get isReady() {
    return this.isLoaded && this.pageSize === null;
  }

  get newest() {
    return this.messages.at(-1) ?? null;
  }

  has(messageId) {
    return this.#byId.has(messageId);
  }

  get(messageId) {
    return this.#byId.get(messageId) ?? null;
  }

  /** Add a message, or take its newer state: an answer's only if nothing was told since `asOf`. */
  put(message, asOf = 0) {
    const told = this.#told.get(message.id);
    const given = told && told.at > asOf ? told.message : message;
    const known = this.get(message.id);
    const isRestored = known?.deletedAt && asOf > (this.#deletedAsOf.get(message.id) ?? asOf);
    this.#noteDeletion(given, asOf);
    if (!known) this.#insert(given);
    else if (isOlderState(given, known) && !isRestored) return;
    else this.#replace(known, { ...given, threadSummary: laterSummary(known, given) });
    const parent = this.get(given.replyToMessageId);
    if (parent) this.#replace(this.get(given.id), { replyTo: previewOf(parent) });
  }

  /**
   * Take the new state of a message that is held; others are not: they would leave a gap. Previews
   * of it follow.
   */
  update(message, asOf = Infinity) {
    if (this.has(message.id)) this.put(message, asOf);
    const newest = this.get(message.id) ?? message;
    if (this.has(message.id) || this.loading) {
      this.#told.set(message.id, { at: this.#now(), message: newest });
    }
    for (const each of this.messages) {
      if (each.replyToMessageId === message.id) this.#replace(each, { replyTo: previewOf(newest) });
    }
  }

  /** A reply came into a thread: its root, if it is held, counts it. */
  countReply(reply) {
    const root = this.get(reply.threadRootMessageId);
    if (root) this.#replace(root, { threadSummary: withReply(root.threadSummary, reply) });
  }

  /** From now on messages may be missed, until the newest page has been added again. */
  becomeStale() {
    if (this.#isWhole) this.#wholeUpTo = this.newest?.seq ?? 0;
    this.#isWhole = false;
    this.isStale = true;
  }

  /** The newest page. If it does not reach what was held before, that is let go: no gaps. */
  addNewest({ messages, nextCursor }, asOf) {
    const first = messages.at(-1)?.seq ?? 0;
    const reaches = this.isLoaded && (nextCursor === null || first <= this.#wholeUpTo);
    if (!reaches) {
      for (const each of this.messages) if (each.seq < first) this.#byId.delete(each.id);
      this.messages = this.messages.filter((each) => each.seq >= first);
      this.olderCursor = nextCursor;
    }
    for (const each of messages) this.put(each, asOf);
    // It may have become stale again while the page was on its way.
    this.#isWhole = !this.isStale;
    this.#wholeUpTo = messages[0]?.seq ?? 0;
    this.#drawUnread();
  }

  addOlder({ messages, nextCursor }, asOf) {
    for (const each of messages) this.put(each, asOf);
    this.olderCursor = nextCursor;
    this.#drawUnread();
  }

  /** Draw the line above the oldest of the last `count` messages of others, once it is held. */
  markUnread(count) {
    this.firstUnreadId = null;
    this.unreadCount = count;
    this.#unread = { count, upTo: null };
    this.#drawUnread();
  }

  /** Whether the line of what is unread is to be drawn, and belongs in front of what is held. */
  get isUnreadFurtherBack() {
    return this.#unread.count > 0 && this.isLoaded && this.olderCursor !== null;
  }

  /** Where the first unread message is too far back, the line stands above the oldest one held. */
  endUnread() {
    if (!this.isLoaded) return;
    if (this.#unread.count > 0) this.firstUnreadId = this.messages[0]?.id ?? null;
    this.#unread = { count: 0, upTo: null };
  }

  #drawUnread() {
    if (this.#unread.count === 0 || this.isStale || !this.isLoaded) return;
    // What comes later is not counted: the line would move down with each message.
    this.#unread.upTo ??= this.newest?.seq ?? 0;
    const { count, upTo } = this.#unread;
    const isCounted = (each) => each.seq <= upTo && each.senderId !== this.readerId;
    const first = this.messages.filter(isCounted).at(-count);
    if (!first) return;
    this.firstUnreadId = first.id;
    this.#unread = { count: 0, upTo: null };
  }

  #noteDeletion({ id, deletedAt }, asOf) {
    const at = asOf === Infinity ? this.#now() : asOf;
    if (deletedAt) this.#deletedAsOf.set(id, at);
  }

  #insert(message) {
    let place = this.messages.length;
    while (place > 0 && this.messages[place - 1].seq > message.seq) place -= 1;
    this.messages.splice(place, 0, message);
    this.#byId.set(message.id, message);
  }

  #replace(known, fields) {
    const changed = { ...known, ...fields };
    this.messages[this.messages.indexOf(known)] = changed;
    this.#byId.set(known.id, changed);
  }
}
