/** Where a log of messages is scrolled to, and whether it follows its end. */

const NEAR_END_PX = 60;
const SAME_PX = 2;

/**
 * A log follows its end while the reader is near it. A log that opens at a line further up stays
 * there, however near the end is, until the reader scrolls or goes to the end. The log is the
 * offset parent of its rows.
 */
export class ScrollPosition {
  /** Whether new messages scroll the log. */
  isFollowing = true;
  #log;
  /** The scroll position at the end, when the log was last there. */
  #endTop = 0;
  /** The size of the log when it was last looked at. */
  #size = "";
  /** The line at which the log opened, and where it was put; null once the reader has left it. */
  #held = null;

  constructor(log) {
    this.#log = log;
  }

  /** The log shows another conversation. */
  reset() {
    this.isFollowing = true;
    this.#held = null;
  }

  goToEnd() {
    const before = this.#log.scrollTop;
    this.#log.scrollTop = this.#log.scrollHeight;
    this.#endTop = this.#log.scrollTop;
    this.isFollowing = true;
    if (this.#endTop !== before) this.#held = null;
  }

  /** Go back to where a row was `offset` pixels below the top of the view. */
  returnTo(row, offset) {
    this.#log.scrollTop = row.offsetTop - offset;
    this.isFollowing = false;
  }

  /** Go to the end, or only as far as a line (null: none) stays in view. */
  openAt(line) {
    this.goToEnd();
    if (!line) return;
    // Not scrollIntoView, which would scroll a host's page as well.
    const lineTop = line.offsetTop - parseFloat(getComputedStyle(line).scrollMarginTop);
    if (lineTop >= this.#endTop) return;
    this.#log.scrollTop = lineTop;
    this.#hold(line);
  }

  /**
   * Note where the reader has scrolled to. Returns whether the log has begun or ceased to follow its
   * end. The scroll event comes a frame late: call this before the log's content changes.
   */
  update() {
    this.fit();
    if (this.#held && !this.#isWhereHeld()) this.#held = null;
    const wasFollowing = this.isFollowing;
    this.isFollowing = this.#distance < (this.#held ? 1 : NEAR_END_PX);
    return this.isFollowing !== wasFollowing;
  }

  /**
   * Keep the end, or the line, in view when the log's size changes: the composer grows, a phone's
   * keyboard opens, a thread takes half of the room. The observer of the size comes late.
   */
  fit() {
    const { clientWidth, clientHeight } = this.#log;
    const size = `${clientWidth} ${clientHeight}`;
    if (size === this.#size) return;
    this.#size = size;
    if (this.#held) this.#holdAgain(this.#held);
    else if (this.#hasNotLeft) this.goToEnd();
  }

  #hold(line) {
    const top = this.#log.scrollTop;
    this.#held = { line, top, offset: line.offsetTop - top };
    this.isFollowing = this.#distance < 1;
  }

  /** The line stays held also while all below it fits, since the log may become smaller again. */
  #holdAgain({ line }) {
    if (line.isConnected) this.openAt(line);
    this.#hold(line);
  }

  /** Messages that come above the line move it, but not in the reader's view. */
  #isWhereHeld() {
    const { line, top, offset } = this.#held;
    const now = this.#log.scrollTop;
    return [now - top, line.offsetTop - now - offset].some((px) => Math.abs(px) < SAME_PX);
  }

  /** The scroll event of a reader who has just left the end comes a frame late. */
  get #hasNotLeft() {
    return this.isFollowing && (this.#log.scrollTop >= this.#endTop || this.#distance < NEAR_END_PX);
  }

  /** How far the end is below the view, in pixels. */
  get #distance() {
    const { scrollTop, scrollHeight, clientHeight } = this.#log;
    return scrollHeight - scrollTop - clientHeight;
  }
}
