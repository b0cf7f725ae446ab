/** The messages of one conversation, as far as they are known: each once, ordered by seq. */

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

  #byId = new Map();
  /** Up to this seq nothing is missing; while the connection holds that is all there is. */
  #wholeUpTo = 0;
  #isWhole = false;
  #unread = { count: 0, upTo: null };

  constructor(readerId) {
    this.readerId = readerId;
  }

  get isLoaded() {
    return this.olderCursor !== undefined;
  }

  get newest() {
    return this.messages.at(-1) ?? null;
  }

  has(messageId) {
    return this.#byId.has(messageId);
  }

  /** Add a message, or take its newer state. */
  put(message) {
    const known = this.#byId.get(message.id);
    if (known) {
      if (isOlderState(message, known)) return;
      this.messages[this.messages.indexOf(known)] = message;
    } else {
      let place = this.messages.length;
      while (place > 0 && this.messages[place - 1].seq > message.seq) place -= 1;
      this.messages.splice(place, 0, message);
    }
    this.#byId.set(message.id, message);
  }

  /** Take the new state of a message that is held; others are not: they would leave a gap. */
  update(message) {
    if (this.has(message.id)) this.put(message);
  }

  /** From now on messages may be missed, until the newest page has been added again. */
  becomeStale() {
    if (this.#isWhole) this.#wholeUpTo = this.newest?.seq ?? 0;
    this.#isWhole = false;
    this.isStale = true;
  }

  /** The newest page. If it does not reach what was held before, that is let go: no gaps. */
  addNewest({ messages, nextCursor }) {
    const first = messages.at(-1)?.seq ?? 0;
    const reaches = this.isLoaded && (nextCursor === null || first <= this.#wholeUpTo);
    if (!reaches) {
      for (const each of this.messages) if (each.seq < first) this.#byId.delete(each.id);
      this.messages = this.messages.filter((each) => each.seq >= first);
      this.olderCursor = nextCursor;
    }
    for (const each of messages) this.put(each);
    // It may have become stale again while the page was on its way.
    this.#isWhole = !this.isStale;
    this.#wholeUpTo = messages[0]?.seq ?? 0;
    this.#drawUnread();
  }

  addOlder({ messages, nextCursor }) {
    for (const each of messages) this.put(each);
    this.olderCursor = nextCursor;
    this.#drawUnread();
  }

  /** Draw the line above the oldest of the last `count` messages of others, once it is held. */
  markUnread(count) {
    this.firstUnreadId = null;
    this.#unread = { count, upTo: null };
    this.#drawUnread();
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
}

/** Whether `message` tells less than `known`, as an answer does that an event has overtaken. */
function isOlderState(message, known) {
  if (known.deletedAt) return !message.deletedAt;
  if (message.deletedAt) return false;
  return (known.editedAt ?? "") > (message.editedAt ?? "");
}
