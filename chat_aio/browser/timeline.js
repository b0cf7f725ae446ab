/**
 * The messages of a conversation's main list, or of a thread (`rootId`), as far as they are held:
 * each once, ordered by seq, without a gap. That is a window: where it grows at one end it is cut
 * at the other, and it need not reach the newest message.
 */

import { isOlderState, laterSummary, previewOf, withReply } from "./messages.js";
import { UnreadLine } from "./unread-line.js";

/** The number of messages at which the window is cut, and the number it keeps. */
const MOST_HELD = 400;
const KEPT = 300;
/** The number of new messages until which readers who are not at the end keep the loaded part. */
const MOST_MISSED = 2_000;

export class Timeline {
  /** Ascending seq. */
  messages = [];
  /** The cursor of older messages: undefined before the first page, null at the beginning. */
  older = undefined;
  /** The cursor of newer messages; null where the newest is loaded. */
  newer = null;
  /** Whether the loaded part must be fetched again, as after a lost connection. */
  isStale = true;
  /** What a request is doing: null, "newest", "older", "newer", "around", or "failed". */
  loading = null;
  /** The failed part that has not been loaded since: "newest", "older", "newer", or a thread's
   * "root". */
  failed = null;
  /** Why it has failed: an error. */
  problem = null;
  /** Whether the reader is at the end, and stays there when messages come. */
  isFollowed = true;
  /** The message that the reader looks at, and how far below the top of the view it begins, in
   * pixels; null for the newest. */
  seenId = null;
  seenOffset = 0;
  /** The line above messages that were unread when the reader came. */
  unread;
  /** The size of a page while unread messages are fetched; null otherwise. */
  pageSize = null;

  #byId = new Map();
  /** The events about messages, with their times. */
  #events = new Map();
  /** The times at which tombstones became known: later answers may contain restored messages. */
  #deletedAsOf = new Map();
  #now;
  /** Messages that arrived while it was unknown whether the window reaches them. */
  #beyond = [];
  /** Replies that arrived while their roots may have been on their way. */
  #uncounted = [];
  /** Up to this seq nothing is missing; while the connection holds that is everything. */
  #wholeUpTo = 0;
  #isWhole = false;
  /** The number of messages since the reader was at the end. */
  #missed = 0;

  /** `now()` is the clock that answers are dated with, by the time of their requests. */
  constructor(readerId, about = {}) {
    const { conversationId = null, rootId = null, keepsNewest = false, now = () => 0 } = about;
    this.#now = now;
    this.readerId = readerId;
    this.conversationId = conversationId;
    this.rootId = rootId;
    /** Whether it always reaches the newest message. */
    this.keepsNewest = keepsNewest;
    this.unread = new UnreadLine(readerId);
  }

  get isLoaded() {
    return this.older !== undefined;
  }

  get isAsking() {
    return this.loading !== null && this.loading !== "failed";
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

  /** A message was created. Where the window does not reach the newest one it is left out. */
  receive(message) {
    if (this.isAsking) this.#beyond.push(message);
    if (this.newer !== null) return;
    this.put(message);
    this.#missed = this.isFollowed ? 0 : this.#missed + 1;
    const isOldLetGo = this.isFollowed || this.#missed > MOST_MISSED;
    // The running request continues the part that is loaded now.
    if (!this.isAsking) this.#cut(isOldLetGo ? "older" : "newer");
  }

  /** A request starts, or ends: events in the meantime may be behind its page. */
  asks(loading, failed = null, problem = null) {
    if (!this.isAsking) [this.#beyond, this.#uncounted] = [[], []];
    this.loading = loading;
    if (!this.isAsking) [this.failed, this.problem] = [failed, problem];
  }

  /** Whether the newest page joins the loaded part. */
  reaches({ messages }) {
    return this.isLoaded && (messages.at(-1)?.seq ?? 0) <= this.#wholeUpTo;
  }

  /** Add a message, or take its newer state: an answer's only if no event arrived since `asOf`. */
  put(message, asOf = 0) {
    const event = this.#events.get(message.id);
    const given = event && event.at > asOf ? event.message : message;
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
   * Take the new state of a message that is held; others are not taken: they would leave a gap.
   * Previews of the message follow.
   */
  update(message, asOf = Infinity) {
    if (this.has(message.id)) this.put(message, asOf);
    const newest = this.get(message.id) ?? message;
    if (this.has(message.id) || this.isAsking) {
      this.#events.set(message.id, { at: this.#now(), message: newest });
    }
    for (const quoting of this.messages) {
      if (quoting.replyToMessageId === message.id) {
        this.#replace(quoting, { replyTo: previewOf(newest) });
      }
    }
  }

  /** A new reply of a thread: its root counts it, if the root is loaded. */
  countReply(reply) {
    const root = this.get(reply.threadRootMessageId);
    if (root) this.#replace(root, { threadSummary: withReply(root.threadSummary, reply) });
    else if (this.isAsking) this.#uncounted.push(reply);
  }

  /** From now on messages may be missed, until the newest page has been added again. */
  becomeStale() {
    if (this.#isWhole) this.#wholeUpTo = this.newest?.seq ?? 0;
    this.#isWhole = false;
    this.isStale = true;
  }

  /** The newest page. If it does not reach the part loaded before, that part is dropped: there
   * are no gaps. */
  addNewest({ messages, nextCursor }, asOf) {
    const first = messages.at(-1)?.seq ?? 0;
    if (!this.reaches({ messages })) {
      this.#letGo((message) => message.seq < first);
      this.older = nextCursor && { cursor: nextCursor };
    }
    for (const message of messages) this.put(message, asOf);
    this.#reachesNewest(messages[0]);
    this.#grown("newer");
  }

  /** A page from somewhere within, in place of the loaded part. */
  addAround({ messages, nextCursor, previousCursor }, asOf) {
    const ids = new Set(messages.map((message) => message.id));
    this.#letGo((message) => !ids.has(message.id));
    for (const message of messages) this.put(message, asOf);
    this.older = nextCursor && { cursor: nextCursor };
    this.#newerFrom(previousCursor);
    this.#grown("newer");
  }

  addOlder({ messages, nextCursor }, asOf) {
    for (const message of messages) this.put(message, asOf);
    this.older = nextCursor && { cursor: nextCursor };
    this.#grown("older");
  }

  addNewer({ messages, previousCursor }, asOf) {
    for (const message of messages) this.put(message, asOf);
    this.#newerFrom(previousCursor);
    this.#grown("newer");
  }

  /** Whether the line above unread messages is drawn, and belongs above the loaded part. */
  get isUnreadFurtherBack() {
    return this.unread.isWanted && this.isLoaded && this.older !== null;
  }

  /** From now on the reader is at the newest message. */
  leave() {
    this.seenId = null;
    this.isFollowed = true;
  }

  #newerFrom(previousCursor) {
    if (!previousCursor) return this.#reachesNewest(this.newest);
    this.newer = { cursor: previousCursor };
    this.#endsAt(this.newest);
  }

  /** After this message there are others that are not loaded. */
  #endsAt(last) {
    this.#isWhole = false;
    this.#wholeUpTo = last?.seq ?? 0;
  }

  #reachesNewest(newest) {
    this.newer = null;
    // It may have become stale again while the page was on its way.
    this.#isWhole = !this.isStale;
    this.#wholeUpTo = newest?.seq ?? 0;
  }

  /** After a page at one end: messages that arrived in the meantime follow it, and the other end is
   * cut. */
  #grown(end) {
    const last = this.newest?.seq ?? 0;
    const behind = this.newer === null ? this.#beyond.filter((message) => message.seq > last) : [];
    for (const message of behind) this.put(message);
    for (const reply of this.#uncounted) this.countReply(reply);
    [this.#beyond, this.#uncounted] = [[], []];
    this.unread.draw(this);
    this.#cut(end === "older" ? "newer" : "older");
    if (!this.isAsking) this.#forget();
  }

  /** Keep the window in bounds. While the first unread message is looked for, it grows. */
  #cut(end) {
    const most = this.pageSize === null ? MOST_HELD : Infinity;
    const isKept = end === "newer" && this.keepsNewest;
    if (isKept || this.messages.length <= most) return;
    if (end === "older") this.#cutOlder();
    else this.#cutNewer();
    if (!this.isAsking) this.#forget();
  }

  #cutOlder() {
    const [first] = this.messages.slice(-KEPT);
    this.#letGo((message) => message.seq < first.seq);
    this.older = { around: first.id };
    this.#missed = 0;
  }

  #cutNewer() {
    const last = this.messages[KEPT - 1];
    this.#letGo((message) => message.seq > last.seq);
    this.newer = { after: last.id };
    this.#endsAt(last);
  }

  #letGo(isOutside) {
    for (const message of this.messages) if (isOutside(message)) this.#byId.delete(message.id);
    this.messages = this.messages.filter((message) => !isOutside(message));
  }

  /** Events about messages that are not loaded are of use while a page is being fetched. */
  #forget() {
    for (const known of [this.#events, this.#deletedAsOf]) {
      for (const id of known.keys()) if (!this.has(id)) known.delete(id);
    }
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
