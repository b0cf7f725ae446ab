/** The choice of emoji: those used last first, all by their names, and any other that is typed. */

import { element, setAttribute } from "../dom.js";
import { RecentEmoji } from "../emoji.js";
import { Part } from "./part.js";
import { Popover } from "./popovers.js";

/** As many as the style sheet puts side by side. */
const COLUMNS = 6;

export class EmojiPicker extends Part {
  #input = element("input", {
    ...{ name: "emoji", maxlength: 32, autocomplete: "off" },
    ...{ "aria-label": this.say("emoji.searchOrOther"), placeholder: this.say("emoji.search") },
  });
  #form = element(
    "form",
    {},
    this.#input,
    element("button", { class: "primary", type: "submit" }, this.say("emoji.add")),
  );
  #palette = element("div", {
    ...{ class: "palette", role: "group", "aria-label": this.say("emoji.all") },
  });
  #panel = element(
    "div",
    { id: "emoji-picker", class: "popover picker", popover: true, role: "dialog" },
    ...[this.#form, this.#palette],
  );
  #popover = new Popover(this.shell, this.#panel);
  #buttons = new Map();
  #recent;
  #choose = null;

  constructor(shell, kept) {
    super(shell);
    this.#recent = new RecentEmoji(kept);
    this.#input.addEventListener("input", () => this.#show());
    this.#panel.addEventListener("keydown", (event) => this.#pressed(event));
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      const written = this.#input.value.trim();
      this.#take((written && this.shell.emoji.now.matching(written)[0]?.emoji) || written);
    });
  }

  /** `choose(emoji)` is called once, or not at all. */
  open(button, label, choose) {
    this.#choose = choose;
    this.#form.reset();
    this.#show();
    setAttribute(this.#panel, "aria-label", label);
    // On a touch screen the keyboard would cover what one chooses from.
    const first = this.shell.hasMouse && this.shell.has("emoji") ? this.#input : this.#palette.querySelector("button");
    this.#popover.open(button, first);
  }

  #show() {
    const query = this.#input.value.trim();
    const isWhole = this.shell.has("emoji");
    this.#form.hidden = !isWhole;
    const all = isWhole ? this.shell.emoji.now.all.map(({ emoji }) => emoji) : [];
    const shown = query
      ? this.shell.emoji.now.matching(query).map(({ emoji }) => emoji)
      : [...new Set([...this.#recent.all, ...all])];
    const buttons = shown.map((emoji) => this.#buttonOf(emoji));
    const none = element("p", { class: "hint" }, this.say("emoji.none"));
    this.#palette.replaceChildren(...(buttons.length > 0 ? buttons : [none]));
    // The one that Enter takes.
    buttons.forEach((button, index) => setAttribute(button, "data-first", query !== "" && index === 0));
    // Tab goes past them: within them the arrows move.
    buttons.forEach((button, index) => setAttribute(button, "tabindex", index === 0 ? "0" : "-1"));
  }

  #buttonOf(emoji) {
    if (!this.#buttons.has(emoji)) {
      const { name = "" } = this.shell.emoji.now.all.find((known) => known.emoji === emoji) ?? {};
      const fields = { type: "button", class: "emoji", title: name.replaceAll("_", " ") };
      const onclick = () => this.#take(emoji);
      this.#buttons.set(emoji, element("button", { ...fields, onclick }, emoji));
    }
    return this.#buttons.get(emoji);
  }

  #pressed(event) {
    const isInPalette = this.#palette.contains(event.target);
    const step = this.#stepOf(event.key);
    const isMeant = isInPalette ? step : event.target === this.#input && event.key === "ArrowDown";
    if (!isMeant) return;
    event.preventDefault();
    const buttons = [...this.#palette.querySelectorAll("button")];
    const index = isInPalette ? buttons.indexOf(event.target) + step : 0;
    if (index < 0) this.#input.focus();
    else buttons[index]?.focus();
  }

  #stepOf(key) {
    const onward = this.shell.isFromRight ? -1 : 1;
    const sideways = { ArrowLeft: -onward, ArrowRight: onward };
    return { ...sideways, ArrowUp: -COLUMNS, ArrowDown: COLUMNS }[key];
  }

  #take(emoji) {
    if (!emoji) return;
    this.#recent.use(emoji);
    this.#popover.close();
    this.#choose(emoji);
  }
}
