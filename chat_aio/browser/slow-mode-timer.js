/** The remaining time until the user can send again in slow mode. No DOM. */

const SECOND_MS = 1_000;

export class SlowModeTimer {
  /** The end of the wait, by conversation: past times stay until the user has written again. */
  #untils = new Map();
  #timer = null;
  #ticked;

  /** `ticked()` is called each second of a wait, and at its end. */
  constructor(ticked) {
    this.#ticked = ticked;
  }

  /** Wait `seconds` from now on. */
  begin(conversationId, seconds) {
    this.#untils.set(conversationId, Date.now() + seconds * SECOND_MS);
    this.#tick();
  }

  /** Forget a wait: the next send gets its own answer. */
  end(conversationId) {
    this.#untils.delete(conversationId);
  }

  /** {seconds, isOver}: without a wait there are none; it may be over, or not have started. */
  in({ id, slowModeSeconds = 0 }) {
    const until = this.#untils.get(id);
    if (until === undefined || slowModeSeconds === 0) return { seconds: 0, isOver: false };
    // The clock may have been set, and the interval, too.
    const left = Math.min(Math.ceil((until - Date.now()) / SECOND_MS), slowModeSeconds);
    return { seconds: Math.max(0, left), isOver: left <= 0 };
  }

  /** One timer for all waits, as long as there is one. */
  #tick() {
    clearTimeout(this.#timer);
    const latest = Math.max(...this.#untils.values());
    if (latest > Date.now()) this.#timer = setTimeout(() => this.#tick(), SECOND_MS);
    this.#ticked();
  }
}
