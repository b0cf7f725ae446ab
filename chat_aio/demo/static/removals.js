/** Removing all messages of a user: counted first, then removed up to that time. No DOM. */

export class Removals {
  /** null, "counting", "counted", "removing", "stopped" or "done". */
  state = null;
  counted = 0;
  removed = 0;

  #desk;
  #userId;
  #changed;
  #until = null;
  #cursor = null;
  #isAsking = false;

  /** `changed()` is called when there is something new to show. */
  constructor(desk, userId, changed) {
    this.#desk = desk;
    this.#userId = userId;
    this.#changed = changed;
  }

  async count() {
    if (this.#isAsking) return;
    [this.#until, this.#cursor] = [null, null];
    this.#show({ state: "counting", counted: 0, removed: 0 });
    const isDone = await this.#follow("counting", true, ({ messages, until }) => {
      this.#until = until;
      this.#show({ counted: this.counted + messages });
    });
    this.#show({ state: isDone ? "counted" : null });
    this.#cursor = null;
  }

  /** What was stopped goes on where it was. */
  async remove() {
    if (this.#isAsking) return;
    this.#show({ state: "removing" });
    const isDone = await this.#follow("removing", false, ({ messages }) => {
      this.#show({ removed: this.removed + messages });
    });
    this.#show({ state: isDone ? "done" : "stopped" });
  }

  /** After the portion at hand. */
  stop() {
    if (this.state === "counting") this.#show({ state: null });
    if (this.state === "removing") this.#show({ state: "stopped" });
  }

  /** Follow the cursor; resolves to whether its end was reached. A failure stops it. */
  async #follow(state, dryRun, told) {
    this.#isAsking = true;
    try {
      const which = { userId: this.#userId, dryRun, ...(this.#until && { until: this.#until }) };
      do {
        const done = await this.#desk.removeMessages({ ...which, cursor: this.#cursor });
        this.#cursor = done.nextCursor;
        told(done);
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
