/** A screen reader reads new messages of a log aloud, not earlier ones. */

export class News {
  #log;
  #frame = 0;

  constructor(log) {
    this.#log = log;
    log.ariaLive = "polite";
  }

  /**
   * Rows added to the log now are not read aloud. Browsers look at rows added after the
   * frame that shows it, so that the log is quiet until the next one.
   */
  leaveOut() {
    this.#log.ariaLive = "off";
    cancelAnimationFrame(this.#frame);
    this.#frame = requestAnimationFrame(() => {
      this.#frame = requestAnimationFrame(() => {
        this.#log.ariaLive = "polite";
      });
    });
  }
}
