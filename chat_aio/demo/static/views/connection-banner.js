/** Says that the connection is lost, once that has lasted for a moment. */

import { setAttribute, setText } from "../../../browser/dom.js";
import { say } from "../words.js";

const QUIET_MS = 2_000;

export class ConnectionBanner {
  #banner = document.querySelector("#banner");
  #words = this.#banner.querySelector("[role=status]");
  #button = this.#banner.querySelector("button");
  #timer = null;
  #store;
  #needs;

  /** `needs.reconnect()` tries at once; `needs.focus()` is for when its button goes away. */
  constructor(store, needs) {
    this.#store = store;
    this.#needs = needs;
    this.#button.addEventListener("click", () => needs.reconnect());
  }

  show() {
    const { status, listProblem } = this.#store;
    // Trying again does not help: the list shows what does.
    const isSignedOut = listProblem?.code === "UNAUTHENTICATED";
    if (status !== "reconnecting" || isSignedOut) this.#hide();
    else this.#timer ??= setTimeout(() => this.#appear(), QUIET_MS);
  }

  #appear() {
    this.#show(say("connection.lost"));
  }

  #hide() {
    clearTimeout(this.#timer);
    this.#timer = null;
    const hadFocus = this.#banner.contains(document.activeElement);
    this.#show("");
    if (hadFocus) this.#needs.focus();
  }

  #show(words) {
    setText(this.#words, words);
    this.#button.hidden = words === "";
    setAttribute(this.#banner, "data-shown", words !== "");
  }
}
