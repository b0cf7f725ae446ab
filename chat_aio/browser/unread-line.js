/** The line above the first message that was unread when the reader came. No DOM. */

/**
 * The key of the line's row. A line that is drawn again is another row: if it were moved, the
 * messages that it passes would be put in again, and screen readers would read them out.
 */
export function unreadKey(firstId) {
  return `unread:${firstId}`;
}

export class UnreadLine {
  /** The message below the line; null without one, or while it is not loaded. */
  firstId = null;
  /** The number of messages that were unread then; 0 if they arrived later. */
  count = 0;
  /** The seq up to which the reader has seen messages below the line. */
  seenSeq = 0;
  /** Whether the line must still be drawn. */
  isWanted = false;
  /** The message that the reader had read last, if known. */
  lastReadId = null;
  #readerId;
  #firstSeq = null;
  /** Later messages are not counted: the line would move down with each message. */
  #upTo = null;

  constructor(readerId) {
    this.#readerId = readerId;
  }

  /**
   * `count` messages of others are unread: those from `firstSeq` on, or after `lastReadId`; where
   * neither is known, the newest ones.
   */
  mark({ count, firstSeq = null, lastReadId = null }) {
    this.clear();
    this.seenSeq = 0;
    this.count = count;
    this.isWanted = count > 0;
    this.#firstSeq = firstSeq;
    this.lastReadId = lastReadId;
  }

  clear() {
    this.firstId = null;
    this.isWanted = false;
    this.#upTo = null;
  }

  /** A place from which the first unread message is near: the others' messages that were never
   * read start with the first one. */
  get place() {
    if (this.#firstSeq !== null) return { aroundSeq: this.#firstSeq };
    return this.lastReadId ? { around: this.lastReadId } : { aroundSeq: 1 };
  }

  /** The message that was read last is known to have this seq. */
  startBehind({ seq }, timeline) {
    this.#firstSeq = seq + 1;
    this.draw(timeline);
  }

  /** A new message that is not read at once. */
  drawAbove(messageId) {
    this.clear();
    this.firstId = messageId;
    this.count = 0;
  }

  /** Draw the line if its place is loaded. */
  draw(timeline) {
    if (!this.isWanted || !timeline.isLoaded) return;
    const { isKnown, first } = this.#firstIn(timeline);
    if (!isKnown) return;
    this.clear();
    this.firstId = first?.id ?? null;
  }

  /** If its place is too far back, it is above the oldest loaded message. */
  end(timeline) {
    if (!this.isWanted || !timeline.isLoaded) return;
    this.drawAbove(timeline.messages[0]?.id ?? null);
  }

  #firstIn({ messages, newer, older, newest, isStale }) {
    const fromOthers = messages.filter((message) => message.senderId !== this.#readerId);
    const from = this.#firstSeq ?? this.#seqAfterLastRead(messages);
    if (from !== null) {
      const first = fromOthers.find((message) => message.seq >= from);
      const reaches = older === null || messages[0]?.seq <= from;
      return { isKnown: reaches && (first !== undefined || (newer === null && !isStale)), first };
    }
    if (newer !== null && this.lastReadId === null && older === null) {
      return { isKnown: fromOthers.length > 0, first: fromOthers[0] };
    }
    if (newer !== null || isStale) return { isKnown: false };
    this.#upTo ??= newest?.seq ?? 0;
    const first = fromOthers.filter((message) => message.seq <= this.#upTo).at(-this.count);
    return { isKnown: first !== undefined, first };
  }

  #seqAfterLastRead(messages) {
    const lastRead = messages.find((message) => message.id === this.lastReadId);
    return lastRead ? lastRead.seq + 1 : null;
  }
}
