/** How long one still waits before one can write again, after slow mode has refused. No DOM. */

const SECOND_MS = 1_000;

export class SlowModeTimer {
  /** The end of the wait, by conversation: past times stay until the user has written again. */
  #untils = new Map();
  #timer = null;
  #ticked;

  /** `ticked()` is called each second while one waits, and at the end of it. */
  constructor(ticked) {
    this.#ticked = ticked;
  }

  /** Wait `seconds` from now on. */
  begin(conversationId, seconds) {
    this.#untils.set(conversationId, Date.now() + seconds * SECOND_MS);
    this.#tick();
  }

  /** The next send gets its own answer. */
  end(conversationId) {
    this.#untils.delete(conversationId);
  }

  /** {seconds, isOver}: none where one does not wait; it may be over, or not have begun. */
  in({ id, slowModeSeconds = 0 }) {
    const until = this.#untils.get(id);
    if (until === undefined || slowModeSeconds === 0) return { seconds: 0, isOver: false };
    // The clock may have been set, and the interval, too.
    const left = Math.min(Math.ceil((until - Date.now()) / SECOND_MS), slowModeSeconds);
    return { seconds: Math.max(0, left), isOver: left <= 0 };
  }

  /** One timer for all; none where nobody waits. */
  #tick() {
    clearTimeout(this.#timer);
    const latest = Math.max(...this.#untils.values());
    if (latest > Date.now()) this.#timer = setTimeout(() => this.#tick(), SECOND_MS);
    this.#ticked();
  }
}
