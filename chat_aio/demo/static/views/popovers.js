/** Small panels beside the button that opened them: menus, and the choice of emoji. */

import { element } from "../dom.js";
import { icon } from "../icons.js";

const GAP_PX = 6;
const COMMON = ["👍", "❤️", "😂", "🎉", "😮", "😢", "🙏", "🔥", "👀", "✅", "🚀", "💯"];

/** The browser closes a popover on Escape and a click elsewhere, and gives the focus back. */
class Popover {
  #panel;
  #row = null;

  constructor(panel) {
    this.#panel = panel;
    panel.addEventListener("toggle", ({ newState }) => {
      if (newState === "closed") this.#row?.removeAttribute("data-active");
    });
    // Escape closes this, not what it stands in as well.
    panel.addEventListener("keydown", (event) => {
      if (event.key === "Escape") event.stopPropagation();
    });
  }

  /** Beside a button; the row that the button stands in shows its tools all the while. */
  open(button) {
    this.#row?.removeAttribute("data-active");
    this.#row = button.closest(".message");
    this.#row?.setAttribute("data-active", "");
    // Read out as a part of where its button stands.
    button.closest("main, .beside").append(this.#panel);
    this.#panel.showPopover();
    this.#place(button.getBoundingClientRect());
    this.#panel.querySelector("button").focus();
  }

  close() {
    this.#panel.hidePopover();
  }

  #place({ top, bottom, left, right }) {
    const { offsetWidth: width, offsetHeight: height, style } = this.#panel;
    const isBelow = bottom + GAP_PX + height <= innerHeight - GAP_PX;
    const wanted = left + width > innerWidth - GAP_PX ? right - width : left;
    const x = Math.max(GAP_PX, Math.min(wanted, innerWidth - width - GAP_PX));
    const y = isBelow ? bottom + GAP_PX : Math.max(GAP_PX, top - GAP_PX - height);
    style.left = `${x}px`;
    style.top = `${y}px`;
  }
}

export class Menu {
  #list;
  #popover;

  constructor(listId) {
    this.#list = document.querySelector(listId);
    this.#popover = new Popover(this.#list);
    this.#list.addEventListener("keydown", (event) => this.#pressed(event));
  }

  /** `items` are {name, label, act}. */
  open(button, items) {
    this.#list.replaceChildren(...items.map((each) => this.#item(each)));
    this.#popover.open(button);
  }

  #item({ name, label, act }) {
    const onclick = () => {
      this.#popover.close();
      act();
    };
    const fields = { type: "button", role: "menuitem", "data-name": name };
    const made = element("button", { ...fields, onclick });
    made.append(icon(name), label);
    return made;
  }

  #pressed(event) {
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const items = [...this.#list.children];
    items.at((items.indexOf(document.activeElement) + step) % items.length).focus();
  }
}

export class ReactionPicker {
  #panel = document.querySelector("#reaction-picker");
  #form = this.#panel.querySelector("form");
  #popover = new Popover(this.#panel);
  #choose = null;

  constructor() {
    const buttons = COMMON.map((emoji) => {
      const onclick = () => this.#take(emoji);
      return element("button", { type: "button", class: "emoji", onclick }, emoji);
    });
    this.#panel.querySelector(".palette").replaceChildren(...buttons);
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#take(this.#form.elements.emoji.value.trim());
    });
  }

  /** `choose(emoji)` is called once, or not at all. */
  open(button, choose) {
    this.#choose = choose;
    this.#form.reset();
    this.#popover.open(button);
  }

  #take(emoji) {
    if (!emoji) return;
    this.#popover.close();
    this.#choose(emoji);
  }
}
