/** A part of the details: a heading with a button, a problem, and the content. */

import { element, setAttribute, setHidden, setText } from "../dom.js";
import { Part } from "./part.js";

let made = 0;

export class Section extends Part {
  #heading;
  #problem = element("p", { class: "problem", role: "alert" });
  #isBusy = false;
  node;

  /** `actions` are buttons next to the heading. */
  constructor(shell, title, actions, ...content) {
    super(shell);
    made += 1;
    const id = `section-heading-${made}`;
    this.#heading = element("h3", { id, tabindex: -1 }, title);
    const head = element("div", { class: "section-head" }, this.#heading, ...actions);
    const fields = { class: "section", "aria-labelledby": id };
    this.node = element("section", fields, head, ...content, this.#problem);
  }

  title(words) {
    setText(this.#heading, words);
  }

  complain(words) {
    setText(this.#problem, words);
  }

  /** Where a row has gone that had the focus, the focus goes to the heading. */
  keepFocus() {
    if (this.shell.isFocusLost) this.#heading.focus();
  }

  /** Do it, once at a time, and show the reason if it fails. Resolves to whether it was done. */
  async attempt(work) {
    if (this.#isBusy) return false;
    this.#isBusy = true;
    const isDone = await this.explain(work);
    this.#isBusy = false;
    return isDone;
  }

  /** Do it, also while another action runs, and show the reason if it fails. */
  async explain(work) {
    this.complain("");
    try {
      await work();
      return true;
    } catch (error) {
      this.complain(this.texts.problemOf(error));
      return false;
    }
  }
}

/** Below a list with pages: that it is loading, or empty. */
export class ListFoot extends Part {
  #hint = element("p", { class: "hint", role: "status" });
  #more = element("button", { type: "button", class: "quiet more" }, this.say("common.loadMore"));
  node = element("div", {}, this.#hint, this.#more);

  constructor(shell, more) {
    super(shell);
    this.#more.addEventListener("click", more);
  }

  /** `words` are {failed, empty}. */
  show({ items, nextCursor, isLoaded, isLoading, problem }, { failed, empty }) {
    const isBare = items.length === 0;
    const isWaiting = isLoading && (!isLoaded || isBare);
    const waiting = isWaiting ? this.say("common.loading") : "";
    const words = problem ? `${failed} ${this.texts.problemOf(problem)}` : waiting || (isBare ? empty : "");
    setText(this.#hint, words);
    this.#hint.hidden = words === "";
    showMore(this.#more, this.node.parentElement, { nextCursor, isLoading });
  }
}

/** Below a list in `place`, a button for more of it. While it is waited for, it keeps the focus. */
export function showMore(button, place, { nextCursor, isLoading }) {
  const focus = () => [...place.querySelectorAll("li :is(a, button)")].at(-1)?.focus();
  setAttribute(button, "aria-disabled", isLoading && "true");
  setHidden(button, nextCursor === null, { focus });
}

/** A small button: `act()` is called when it is pressed. */
export function smallButton(words, act, fields = {}) {
  const common = { type: "button", class: "quiet small", onclick: act };
  return element("button", { ...common, ...fields }, words);
}

/** The accessible name of a button that every row of a list has. */
export function labelOf(texts, button, title) {
  return texts.say("case.act", { act: button.textContent, title });
}
