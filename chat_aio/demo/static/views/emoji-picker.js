/** The choice of emoji: those used last first, all by their names, and any other that is typed. */

import { element, setAttribute } from "../../../browser/dom.js";
import { ALL_EMOJI, matchingEmoji, RecentEmoji } from "../emoji.js";
import { direction, say } from "../words.js";
import { Popover } from "./popovers.js";

/** As many as the style sheet puts side by side. */
const COLUMNS = 6;
const ONWARD = direction === "rtl" ? -1 : 1;
const STEPS = {
  ...{ ArrowLeft: -ONWARD, ArrowRight: ONWARD, ArrowUp: -COLUMNS, ArrowDown: COLUMNS },
};

export class EmojiPicker {
  #panel = document.querySelector("#emoji-picker");
  #form = this.#panel.querySelector("form");
  #input = this.#form.elements.emoji;
  #palette = this.#panel.querySelector(".palette");
  #popover = new Popover(this.#panel);
  #buttons = new Map();
  #recent;
  #choose = null;

  constructor(kept) {
    this.#recent = new RecentEmoji(kept);
    this.#input.addEventListener("input", () => this.#show());
    this.#panel.addEventListener("keydown", (event) => this.#pressed(event));
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      const written = this.#input.value.trim();
      this.#take((written && matchingEmoji(written)[0]?.emoji) || written);
    });
  }

  /** `choose(emoji)` is called once, or not at all. */
  open(button, label, choose) {
    this.#choose = choose;
    this.#form.reset();
    this.#show();
    setAttribute(this.#panel, "aria-label", label);
    // On a touch screen the keyboard would cover what one chooses from.
    const isTouched = !matchMedia("(hover: hover)").matches;
    this.#popover.open(button, isTouched ? this.#palette.querySelector("button") : this.#input);
  }

  #show() {
    const query = this.#input.value.trim();
    const all = ALL_EMOJI.map(({ emoji }) => emoji);
    const shown = query
      ? matchingEmoji(query).map(({ emoji }) => emoji)
      : [...new Set([...this.#recent.all, ...all])];
    const buttons = shown.map((emoji) => this.#buttonOf(emoji));
    const none = element("p", { class: "hint" }, say("emoji.none"));
    this.#palette.replaceChildren(...(buttons.length > 0 ? buttons : [none]));
    // The one that Enter takes.
    buttons.forEach((button, index) => setAttribute(button, "data-first", query !== "" && index === 0));
    // Tab goes past them: within them the arrows move.
    buttons.forEach((button, index) => setAttribute(button, "tabindex", index === 0 ? "0" : "-1"));
  }

  #buttonOf(emoji) {
    if (!this.#buttons.has(emoji)) {
      const { name = "" } = ALL_EMOJI.find((known) => known.emoji === emoji) ?? {};
      const fields = { type: "button", class: "emoji", title: name.replaceAll("_", " ") };
      const onclick = () => this.#take(emoji);
      this.#buttons.set(emoji, element("button", { ...fields, onclick }, emoji));
    }
    return this.#buttons.get(emoji);
  }

  #pressed(event) {
    const isInPalette = this.#palette.contains(event.target);
    const step = STEPS[event.key];
    const isMeant = isInPalette ? step : event.target === this.#input && event.key === "ArrowDown";
    if (!isMeant) return;
    event.preventDefault();
    const buttons = [...this.#palette.querySelectorAll("button")];
    const index = isInPalette ? buttons.indexOf(event.target) + step : 0;
    if (index < 0) this.#input.focus();
    else buttons[index]?.focus();
  }

  #take(emoji) {
    if (!emoji) return;
    this.#recent.use(emoji);
    this.#popover.close();
    this.#choose(emoji);
  }
}
