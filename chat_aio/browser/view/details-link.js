/** In the head of a conversation: the link to its details, with the number of join requests. */

import { setAttribute } from "../dom.js";
import { iconLink } from "./icons.js";
import { Part } from "./part.js";

export class DetailsLink extends Part {
  #waiting;
  /** It opens them, and closes them. */
  node = iconLink("details", this.say("details.title"), { id: "to-details" });

  /** `waiting` has the join requests. */
  constructor(shell, waiting) {
    super(shell);
    this.#waiting = waiting;
  }

  show() {
    const { open, openDetails } = this.store;
    const isOpen = openDetails !== null;
    this.node.hidden = !open;
    if (!open) return;
    this.node.href = this.shell.places.hrefOf(open.id, ...(isOpen ? [] : ["details"]));
    setAttribute(this.node, "aria-current", isOpen);
    const count = this.#waiting.countIn(open.id);
    const words = count > 0 ? this.say("details.waiting", { count }) : this.say("details.title");
    setAttribute(this.node, "data-waiting", count > 0);
    setAttribute(this.node, "aria-label", words);
    setAttribute(this.node, "title", words);
  }
}
