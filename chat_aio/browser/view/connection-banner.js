/** Says that the connection is lost, once that has lasted for a moment. */

import { element, setAttribute, setText } from "../dom.js";
import { Part } from "./part.js";
import { smallButton } from "./section.js";

const QUIET_MS = 2_000;

export class ConnectionBanner extends Part {
  #words = element("p", { role: "status" });
  #button = smallButton(this.say("connection.now"), () => this.#needs.reconnect(), {
    ...{ class: "quiet small", hidden: true },
  });
  node = element(
    "div",
    {
      ...{ id: "banner", class: "banner", part: "banner", role: "region" },
      "aria-label": this.say("connection.label"),
    },
    ...[this.#words, this.#button],
  );
  #timer = null;
  #needs;

  /** `needs.reconnect()` tries at once; `needs.focus()` is for when its button goes away. */
  constructor(shell, needs) {
    super(shell);
    this.#needs = needs;
  }

  show() {
    const { status, listProblem } = this.store;
    // Trying again does not help: the list shows what does.
    const isSignedOut = listProblem?.code === "UNAUTHENTICATED";
    if (status !== "reconnecting" || isSignedOut) this.hide();
    else this.#timer ??= setTimeout(() => this.#appear(), QUIET_MS);
  }

  #appear() {
    this.#show(this.say("connection.lost"));
  }

  hide() {
    clearTimeout(this.#timer);
    this.#timer = null;
    const hadFocus = this.node.contains(this.shell.focused);
    this.#show("");
    if (hadFocus) this.#needs.focus();
  }

  #show(words) {
    setText(this.#words, words);
    this.#button.hidden = words === "";
    setAttribute(this.node, "data-shown", words !== "");
  }
}
