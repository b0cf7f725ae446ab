/**
 * The list of people, channels or emoji that opens while one is being named. The focus stays in
 * the text.
 */

import { avatar, element, setAttribute, setAvatar } from "../dom.js";
import { begunAt, matching } from "../mentions.js";
import { Part } from "./part.js";

const MOST_CHANNELS = 8;

export class Completion extends Part {
  #input;
  node;
  #choose;
  #candidates = [];
  #found = [];
  #begun = null;
  #index = 0;
  /** Where a list was closed: it stays closed for that mention. */
  #dismissedAt = null;
  /** Called for the conversations that can be named. */
  channels = () => [];

  /**
   * `choose(meant, {start, end})` is called with the choice, a person, {channel, name} or
   * {emoji, name}, and its range in the text.
   */
  constructor(shell, input, id, choose) {
    super(shell);
    this.#input = input;
    const label = this.say("composer.people");
    const fields = { id, class: "completion", role: "listbox", "aria-label": label, hidden: true };
    this.node = element("ul", fields);
    this.#choose = choose;
    setAttribute(input, "aria-autocomplete", "list");
    setAttribute(input, "aria-controls", id);
    input.addEventListener("blur", () => this.close());
    input.addEventListener("click", () => this.update());
  }

  /** Who can be mentioned: {id, name}. Somebody may have begun to before that was known. */
  set candidates(people) {
    const wereKnown = this.#candidates.length > 0;
    this.#candidates = people;
    if (!wereKnown && people.length > 0 && this.shell.focused === this.#input) this.update();
  }

  /** The text or the caret has changed. */
  update() {
    const { value, selectionStart, selectionEnd } = this.#input;
    this.#begun = selectionStart === selectionEnd ? this.#begunAt(value, selectionStart) : null;
    if (this.#begun?.start !== this.#dismissedAt) this.#dismissedAt = null;
    const isWanted = this.#begun && this.#dismissedAt === null;
    this.#found = isWanted ? this.#begun.found : [];
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

  /** The choices for the word before the caret: {start, found, label}, or null. */
  #begunAt(text, caret) {
    const names = this.shell.has("emoji") && this.shell.emoji.now;
    const emoji = names && names.begunAt(text, caret);
    if (emoji) return { ...emoji, label: this.say("emoji.title") };
    const person = begunAt(text, caret);
    if (!person) return this.#channelBegunAt(text, caret);
    const found = matching(this.#candidates, person.query);
    return { start: person.start, found, label: this.say("composer.people") };
  }

  #channelBegunAt(text, caret) {
    const begun = begunAt(text, caret, "#");
    if (!begun) return null;
    const named = this.channels().map((channel) => ({ channel, name: channel.name }));
    const found = matching(named, begun.query).slice(0, MOST_CHANNELS);
    return { start: begun.start, found, label: this.say("composer.channels") };
  }

  #dismiss() {
    this.#dismissedAt = this.#begun.start;
    this.#found = [];
  }

  #take(meant) {
    const range = { start: this.#begun.start, end: this.#input.selectionStart };
    this.close();
    this.#choose(meant, range);
    return true;
  }

  #show() {
    this.node.replaceChildren(...this.#found.map((option, index) => this.#option(option, index)));
    if (this.#begun) setAttribute(this.node, "aria-label", this.#begun.label);
    this.node.hidden = this.#found.length === 0;
    const active = this.node.querySelector("[aria-selected=true]");
    setAttribute(this.#input, "aria-activedescendant", active?.id);
    active?.scrollIntoView({ block: "nearest" });
  }

  #option(meant, index) {
    const isChosen = index === this.#index;
    const id = `${this.node.id}-${index}`;
    const option = element("li", { id, role: "option", "aria-selected": String(isChosen) });
    option.append(this.#pictureOf(meant), meant.emoji ? `:${meant.name}:` : meant.name);
    option.addEventListener("pointerdown", (event) => {
      // The text keeps the focus, or the list would close before the click.
      event.preventDefault();
    });
    option.addEventListener("click", () => this.#take(meant));
    return option;
  }

  #pictureOf({ id, emoji, channel }) {
    if (emoji) return element("span", { class: "emoji" }, emoji);
    const picture = avatar();
    const shown = channel ? this.people.pictureOf(channel) : this.people.pictureOfPerson(id);
    setAvatar(picture, shown);
    return picture;
  }
}
