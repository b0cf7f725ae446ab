/** Small panels next to the button that opened them. */

import { element } from "../dom.js";
import { icon } from "./icons.js";
import { Part } from "./part.js";

const GAP_PX = 6;

/** The browser closes a popover on Escape and a click elsewhere, and gives the focus back. */
export class Popover extends Part {
  #panel;
  #button = null;
  #row = null;
  /** In a shadow tree not every browser gives the focus back. */
  #hadFocus = false;

  constructor(shell, panel) {
    super(shell);
    this.#panel = panel;
    shell.root.append(panel);
    panel.addEventListener("beforetoggle", ({ newState }) => {
      this.#hadFocus = newState === "closed" && panel.contains(shell.focused);
    });
    panel.addEventListener("toggle", ({ newState }) => {
      if (newState !== "closed") return;
      const isLost = shell.isFocusLost || panel.contains(shell.focused);
      if (this.#hadFocus && isLost) this.#button.focus();
      this.#row?.removeAttribute("data-active");
    });
    // Escape closes only this, not the panel around it.
    panel.addEventListener("keydown", (event) => {
      if (event.key === "Escape") event.stopPropagation();
    });
  }

  /**
   * Next to a button; the row of the button shows its tools while this is open. The focus goes to
   * `first`.
   */
  open(button, first = this.#panel.querySelector("button")) {
    if (!button.isConnected) return;
    this.#row?.removeAttribute("data-active");
    this.#button = button;
    this.#row = button.closest(".message");
    this.#row?.setAttribute("data-active", "");
    // Screen readers read it as a part of the region of its button.
    (button.closest(".conversation") ?? this.shell.root).append(this.#panel);
    this.#panel.showPopover();
    this.#place(button.getBoundingClientRect());
    first.focus();
  }

  close() {
    this.#panel.hidePopover();
    if (this.#hadFocus) this.#button.focus();
  }

  #place({ top, bottom, left, right }) {
    const { offsetWidth: width, offsetHeight: height, style } = this.#panel;
    const isBelow = bottom + GAP_PX + height <= innerHeight - GAP_PX;
    const fitsForward = left + width <= innerWidth - GAP_PX;
    const fitsBackward = right - width >= GAP_PX;
    const isForward = this.shell.isFromRight ? !fitsBackward : fitsForward;
    const wanted = isForward ? left : right - width;
    const x = Math.max(GAP_PX, Math.min(wanted, innerWidth - width - GAP_PX));
    const y = isBelow ? bottom + GAP_PX : Math.max(GAP_PX, top - GAP_PX - height);
    style.left = `${x}px`;
    style.top = `${y}px`;
  }
}

export class Menu extends Part {
  #list;
  #popover;

  constructor(shell, id, label) {
    super(shell);
    const fields = { id, class: "popover menu", popover: true, role: "menu", "aria-label": label };
    this.#list = element("div", fields);
    this.#popover = new Popover(shell, this.#list);
    this.#list.addEventListener("keydown", (event) => this.#pressed(event));
  }

  /** `items` are {name, label, act}. */
  open(button, items) {
    this.#list.replaceChildren(...items.map((item) => this.#item(item)));
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
    items.at((items.indexOf(this.shell.focused) + step) % items.length).focus();
  }
}
