/** Loads parts of the chat. Where that fails, it offers to try again. */

import { element, setAttribute, setHidden, setText } from "../dom.js";
import { Texts } from "../texts.js";
import { unloaded } from "../texts/unloaded.js";

export class Loading {
  #words = element("p", { role: "status", tabindex: -1 });
  #button = element("button", { type: "button", class: "quiet small", hidden: true });
  #signal;
  /** While one of the parts could not be loaded: {promise, resolve}. */
  #asking = null;
  /** Its own, until those of the language are loaded. */
  texts = new Texts("", {}, unloaded);
  node = element("div", { class: "banner", part: "banner" }, this.#words, this.#button);

  /** Nothing is loaded any more after `signal`. */
  constructor(signal) {
    this.#signal = signal;
    this.#button.addEventListener("click", () => this.tryAgain());
    addEventListener("online", () => this.tryAgain(), { signal });
  }

  /** What `load()` resolves to. After the end of the chat it never settles. */
  async part(load) {
    for (;;) {
      const loaded = await load().catch((error) => {
        // It may also be a mistake in a module.
        console.error(error);
        return null;
      });
      if (this.#signal.aborted) return new Promise(() => {});
      if (loaded !== null) return loaded;
      await this.#ask();
    }
  }

  /** Load what could not be loaded. */
  tryAgain() {
    this.#asking?.resolve();
    this.#asking = null;
    this.#show("");
  }

  #ask() {
    if (!this.#asking) {
      this.#asking = {};
      this.#asking.promise = new Promise((resolve) => Object.assign(this.#asking, { resolve }));
    }
    this.#show(this.texts.say("loading.failed"));
    setText(this.#button, this.texts.say("common.again"));
    return this.#asking.promise;
  }

  #show(words) {
    setText(this.#words, words);
    setHidden(this.#button, words === "", this.#words);
    setAttribute(this.node, "data-shown", words !== "");
  }
}
