/** Removal of a user's messages, all or some: counted first, then removed up to that time. No
 * DOM. */

export class Removals {
  /** null, "counting", "counted", "removing", "stopped" or "done". */
  state = null;
  counted = 0;
  removed = 0;

  #desk;
  #userId;
  #changed;
  #narrowing = {};
  #until = null;
  #cursor = null;
  #isAsking = false;

  /** `changed()` is called when there is something new to show. */
  constructor(desk, userId, changed) {
    this.#desk = desk;
    this.#userId = userId;
    this.#changed = changed;
  }

  /** `narrowing` is {conversationId?, since?, until?, contains?}: which of them. */
  async count(narrowing = {}) {
    if (this.#isAsking) return;
    this.#narrowing = narrowing;
    [this.#until, this.#cursor] = [null, null];
    this.#show({ state: "counting", counted: 0, removed: 0 });
    const isDone = await this.#follow("counting", true, ({ messages, until }) => {
      this.#until = until;
      this.#show({ counted: this.counted + messages });
    });
    this.#show({ state: isDone ? "counted" : null });
    this.#cursor = null;
  }

  /** A stopped run continues at its place. */
  async remove() {
    if (this.#isAsking) return;
    this.#show({ state: "removing" });
    const isDone = await this.#follow("removing", false, ({ messages }) => {
      this.#show({ removed: this.removed + messages });
    });
    this.#show({ state: isDone ? "done" : "stopped" });
  }

  get isNarrowed() {
    return Object.keys(this.#narrowing).length > 0;
  }

  /** The count is outdated. */
  forget() {
    if (!this.#isAsking) this.#show({ state: null });
  }

  /** After the portion at hand. */
  stop() {
    if (this.state === "counting") this.#show({ state: null });
    if (this.state === "removing") this.#show({ state: "stopped" });
  }

  /** Follow the cursor; resolves to whether its end was reached. A failure stops it. */
  async #follow(state, dryRun, onProgress) {
    this.#isAsking = true;
    try {
      const end = this.#until && { until: this.#until };
      const which = { userId: this.#userId, dryRun, ...this.#narrowing, ...end };
      do {
        const done = await this.#desk.removeMessages({ ...which, cursor: this.#cursor });
        this.#cursor = done.nextCursor;
        onProgress(done);
      } while (this.#cursor !== null && this.state === state);
      return this.#cursor === null;
    } catch (error) {
      this.#show({ state: dryRun ? null : "stopped" });
      throw error;
    } finally {
      this.#isAsking = false;
    }
  }

  #show(fields) {
    Object.assign(this, fields);
    this.#changed();
  }
}
