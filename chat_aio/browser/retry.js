/** Temporary failures are tried again. */

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

export class Retry {
  #work;
  #timer = null;
  #failures = 0;

  /** `work()` is the function to retry. */
  constructor(work) {
    this.#work = work;
  }

  /** Whether a retry is scheduled. */
  get isWaiting() {
    return this.#timer !== null;
  }

  /** Try again after a pause, which grows and is at least as long as `Retry-After`. */
  failed({ isTemporary, retryAfter }) {
    if (!isTemporary) return;
    this.stop();
    const pause = Math.min(FIRST_PAUSE_MS * 2 ** this.#failures, LONGEST_PAUSE_MS);
    this.#failures += 1;
    // So that pages do not retry at the same time.
    const spread = pause * (0.5 + Math.random() / 2);
    const wait = Math.max(spread, (retryAfter ?? 0) * 1_000);
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#work();
    }, wait);
  }

  succeeded() {
    this.stop();
    this.#failures = 0;
  }

  stop() {
    clearTimeout(this.#timer);
    this.#timer = null;
  }
}
