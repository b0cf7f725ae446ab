/** A screen in place of a conversation: a heading, and its content. */

import { element, setText } from "../dom.js";
import { iconLink } from "./icons.js";
import { Part } from "./part.js";
import { smallButton } from "./section.js";

export class Screen extends Part {
  #heading;
  #problem = element("p", { class: "problem", role: "alert" });
  #body;
  node;

  /** `name` is its id, `refresh()` fetches its content again. */
  constructor(shell, name, { title, refresh }) {
    super(shell);
    const { main, title: tag } = shell.landmarks;
    const about = { id: `${name}-title`, class: "headings", tabindex: -1 };
    this.#heading = element(tag, about, title);
    const again = { class: "quiet small refresh" };
    const button = smallButton(this.say("common.refresh"), refresh, again);
    const header = element("header", { class: "bar" }, backLink(shell), this.#heading, button);
    this.#body = element("div", { class: "screen-body" }, this.#problem);
    const fields = { id: name, class: "screen", "aria-labelledby": `${name}-title` };
    this.node = element(main, fields, header, this.#body);
  }

  append(...nodes) {
    this.#body.append(...nodes);
  }

  complain(words) {
    setText(this.#problem, words);
  }

  focus() {
    this.#heading.focus();
  }
}

/** To the list, where that is not next to it. */
export function backLink({ texts, places }) {
  const fields = { class: "icon back", href: places.hrefOf(), title: texts.say("frame.back") };
  return iconLink("back", texts.say("frame.backToList"), fields);
}
