/** What a screen reader reads out of a log: what happens now, not what was said before. */

export class News {
  #log;
  #frame = 0;

  constructor(log) {
    this.#log = log;
    log.ariaLive = "polite";
  }

  /**
   * Nothing is read out of what is put into the log now. Browsers look at what was added after the
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
