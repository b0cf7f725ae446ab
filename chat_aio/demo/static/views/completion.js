/** The list of people that opens while a mention is being written. The focus stays in the text. */

import { avatar, element, setAttribute, setAvatar } from "../dom.js";
import { begunAt, matching } from "../mentions.js";

export class Completion {
  #input;
  #list;
  #people;
  #choose;
  #candidates = [];
  #found = [];
  #begun = null;
  #index = 0;
  /** Where a list was closed: it stays closed for that mention. */
  #dismissedAt = null;

  /** `choose(person, {start, end})` is told who is meant, and which part of the text it is. */
  constructor(input, list, people, choose) {
    this.#input = input;
    this.#list = list;
    this.#people = people;
    this.#choose = choose;
    setAttribute(input, "aria-autocomplete", "list");
    setAttribute(input, "aria-controls", list.id);
    input.addEventListener("blur", () => this.close());
    input.addEventListener("click", () => this.update());
  }

  /** Who can be mentioned: {id, name}. Somebody may have begun to before that was known. */
  set candidates(people) {
    const wereKnown = this.#candidates.length > 0;
    this.#candidates = people;
    if (!wereKnown && people.length > 0 && document.activeElement === this.#input) this.update();
  }

  /** The text or the caret has changed. */
  update() {
    const { value, selectionStart, selectionEnd } = this.#input;
    this.#begun = selectionStart === selectionEnd ? begunAt(value, selectionStart) : null;
    if (this.#begun?.start !== this.#dismissedAt) this.#dismissedAt = null;
    const isWanted = this.#begun && this.#dismissedAt === null;
    this.#found = isWanted ? matching(this.#candidates, this.#begun.query) : [];
    this.#index = 0;
    this.#show();
  }

  close() {
    this.#found = [];
    this.#show();
  }

  /** Whether a key was meant for the list. */
  takes({ key, shiftKey }) {
    const count = this.#found.length;
    if (count === 0 || shiftKey) return false;
    if (key === "ArrowDown") this.#index = (this.#index + 1) % count;
    else if (key === "ArrowUp") this.#index = (this.#index + count - 1) % count;
    else if (key === "Enter" || key === "Tab") return this.#take(this.#found[this.#index]);
    else if (key === "Escape") this.#dismiss();
    else return false;
    this.#show();
    return true;
  }

  #dismiss() {
    this.#dismissedAt = this.#begun.start;
    this.#found = [];
  }

  #take(person) {
    const range = { start: this.#begun.start, end: this.#input.selectionStart };
    this.close();
    this.#choose(person, range);
    return true;
  }

  #show() {
    this.#list.replaceChildren(...this.#found.map((each, index) => this.#option(each, index)));
    this.#list.hidden = this.#found.length === 0;
    const active = this.#list.querySelector("[aria-selected=true]");
    setAttribute(this.#input, "aria-activedescendant", active?.id);
    active?.scrollIntoView({ block: "nearest" });
  }

  #option(person, index) {
    const picture = avatar();
    setAvatar(picture, this.#people.pictureOfPerson(person.id));
    const isChosen = index === this.#index;
    const id = `${this.#list.id}-${index}`;
    const option = element("li", { id, role: "option", "aria-selected": String(isChosen) });
    option.append(picture, person.name);
    option.addEventListener("pointerdown", (event) => {
      // The text keeps the focus, or the list would close before the click.
      event.preventDefault();
    });
    option.addEventListener("click", () => this.#take(person));
    return option;
  }
}
