/** Says that the connection is lost, once that has lasted for a moment. */

const QUIET_MS = 2_000;

export class ConnectionBanner {
  #banner = document.querySelector("#banner");
  #timer = null;
  #store;
  #needs;

  /** `needs.reconnect()` tries at once; `needs.focus()` is for when its button goes away. */
  constructor(store, needs) {
    this.#store = store;
    this.#needs = needs;
    this.#banner.querySelector("button").addEventListener("click", () => needs.reconnect());
  }

  show() {
    const { status } = this.#store;
    if (status !== "reconnecting") this.#hide();
    else this.#timer ??= setTimeout(() => this.#appear(), QUIET_MS);
  }

  #appear() {
    this.#banner.hidden = false;
  }

  #hide() {
    clearTimeout(this.#timer);
    this.#timer = null;
    const hadFocus = this.#banner.contains(document.activeElement);
    this.#banner.hidden = true;
    if (hadFocus) this.#needs.focus();
  }
}
