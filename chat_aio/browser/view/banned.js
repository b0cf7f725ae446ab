/** What a banned user sees, in place of all else. */

import { element, setText } from "../dom.js";
import { Part } from "./part.js";

export class Banned extends Part {
  #title;
  #words = element("p", { id: "banned-words" });
  node;

  /** `again()` asks whether the ban has ended. */
  constructor(shell, again) {
    super(shell);
    const { main, title } = shell.landmarks;
    const about = { id: "banned-title", tabindex: -1 };
    this.#title = element(title, about, this.say("banned.title"));
    const fields = { class: "quiet", type: "button", onclick: again };
    const button = element("button", fields, this.say("common.again"));
    // A host's way to another user.
    const acts = element("p", { class: "acts" }, button, " ", element("slot", { name: "banned" }));
    const labelled = { "aria-labelledby": "banned-title", hidden: true };
    const parts = [this.#title, this.#words, acts];
    this.node = element(main, { id: "banned", class: "welcome", ...labelled }, ...parts);
  }

  show() {
    if (!this.node.hidden) return;
    const { root, mayTakeFocus } = this.shell;
    const name = this.people.nameOf(this.people.userId);
    for (const dialog of root.querySelectorAll("dialog[open]")) dialog.close();
    for (const popover of root.querySelectorAll(":popover-open")) popover.hidePopover();
    setText(this.#words, this.say("banned.words", { name }));
    this.node.hidden = false;
    if (mayTakeFocus) this.#title.focus();
  }
}
