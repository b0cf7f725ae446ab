/** A panel next to the conversation, which covers it where there is no room for both. */

import { element, isComposing, setText } from "../dom.js";
import { iconLink } from "./icons.js";
import { Part } from "./part.js";

export class Panel extends Part {
  #subtitle;
  #close;
  node;

  /** `name` is its id, and begins those of its nodes; `words` are {title, close}. */
  constructor(shell, name, { title, close }) {
    super(shell);
    this.#subtitle = element("p", { id: `${name}-subtitle`, dir: "auto" });
    this.#close = iconLink("cross", close, { id: `${name}-close` });
    const heading = element("h2", { id: `${name}-title` }, title);
    const headings = element("div", { class: "headings" }, heading, this.#subtitle);
    const bar = element("div", { class: "bar", part: "header" }, headings, this.#close);
    const fields = { id: name, part: name, class: "conversation beside" };
    const role = { role: shell.landmarks.side, "aria-labelledby": heading.id };
    this.node = element("div", { ...fields, ...role }, bar);
    this.node.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || event.defaultPrevented || isComposing(event)) return;
      shell.places.go(this.store.openId);
    });
  }

  show(conversation) {
    setText(this.#subtitle, this.people.titleOf(conversation));
    this.#close.href = this.shell.places.hrefOf(conversation.id);
  }

  focus() {
    this.#close.focus();
  }
}
