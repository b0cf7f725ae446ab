/** Ctrl+K: a field in which one types where to go, and what that can mean. */

import { element, isComposing, setAttribute, setText } from "../dom.js";
import { later } from "../tasks.js";
import { closeFromBeside } from "./dialog.js";
import { foundParts, shownOf } from "./found.js";
import { Part } from "./part.js";

const PAUSE_MS = 150;

export class Palette extends Part {
  #input = element("input", {
    ...{ type: "text", role: "combobox", autocomplete: "off", "aria-expanded": "true" },
    ...{ "aria-controls": "palette-found", "aria-autocomplete": "list" },
    ...{ "aria-label": this.say("palette.label"), placeholder: this.say("palette.placeholder") },
  });
  #list = element("ul", { id: "palette-found", role: "listbox", "aria-label": this.say("palette.found") });
  #hint = element("p", { class: "hint", role: "status" });
  #dialog = element(
    "dialog",
    { class: "palette-dialog", "aria-label": this.say("palette.label") },
    ...[this.#input, this.#list, this.#hint],
  );
  #finder;
  #needs;
  #pause = later(PAUSE_MS);
  #index = 0;
  #shown = "";

  /**
   * `needs.titleIn(conversationId)` names one; `needs.goTo(found)` goes to a result: a
   * person, a conversation, a message.
   */
  constructor(shell, finder, needs) {
    super(shell);
    this.#finder = finder;
    this.#needs = needs;
    shell.root.append(this.#dialog);
    this.#input.addEventListener("input", () => this.#pause(() => this.#find()));
    this.#dialog.addEventListener("keydown", (event) => this.#pressed(event));
    closeFromBeside(this.#dialog);
  }

  /** `typed` is already in the field. */
  open(typed) {
    if (this.shell.root.querySelector("dialog[open]")) return;
    this.#input.value = typed;
    this.#dialog.showModal();
    this.#find();
  }

  show() {
    if (!this.#dialog.open) return;
    const { found, isLoading, query } = this.#finder;
    this.#index = Math.max(0, Math.min(this.#index, found.length - 1));
    const words = found.map((place) => shownOf(this.texts, place, this.people, this.#needs.titleIn));
    // A press that has begun on a row is to end on it.
    const shown = JSON.stringify([this.#index, words, found.map((place) => place.key)]);
    if (shown !== this.#shown) {
      this.#list.replaceChildren(...found.map((place, at) => this.#option(place, words[at], at)));
    }
    this.#shown = shown;
    const active = this.#list.querySelector("[aria-selected=true]");
    setAttribute(this.#input, "aria-activedescendant", active?.id);
    active?.scrollIntoView({ block: "nearest" });
    const isNothing = found.length === 0 && query !== "" && !isLoading;
    setText(this.#hint, isLoading ? this.say("search.running") : isNothing ? this.say("palette.nothing") : "");
    this.#hint.hidden = this.#hint.textContent === "";
  }

  #find() {
    this.#index = 0;
    this.#finder.find(this.#input.value);
  }

  #pressed(event) {
    if (isComposing(event)) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step || event.key === "Enter") this.#catchUp();
    const count = this.#finder.found.length;
    if (step && count > 0) this.#index = (this.#index + step + count) % count;
    else if (event.key === "Enter") this.#choose(this.#finder.found[this.#index]);
    else return;
    event.preventDefault();
    this.show();
  }

  /** Enter refers to the typed text, not to earlier results. */
  #catchUp() {
    if (this.#input.value.trim() === this.#finder.query) return;
    this.#pause(() => {});
    this.#find();
  }

  #choose(found) {
    if (!found) return;
    this.#dialog.close();
    this.#needs.goTo(found);
  }

  #option(found, words, index) {
    const fields = { id: `palette-${index}`, role: "option", class: "row" };
    const isChosen = String(index === this.#index);
    const onclick = () => this.#choose(found);
    const parts = foundParts(words);
    return element("li", { ...fields, "aria-selected": isChosen, onclick }, ...parts);
  }
}
