/** What one can do with a message: at hand where it is pointed at, or has the focus. */

import { element } from "../dom.js";
import { icon } from "./icons.js";
import { Part } from "./part.js";

export class Toolbar extends Part {
  node = element("div", {
    ...{ class: "toolbar", part: "actions", role: "toolbar", "aria-label": this.say("message.actions") },
  });

  #buttons = [];
  #more;

  /** `withMessage(act)` makes `act(message, button)` a listener. */
  constructor(shell, tools, withMessage) {
    super(shell);
    const button = (name, label, act) => {
      const onclick = ({ currentTarget }) => withMessage(act)(currentTarget);
      const fields = { type: "button", "aria-label": label, title: label };
      const made = element("button", { ...fields, onclick });
      made.append(icon(name));
      this.#buttons.push(made);
      this.node.append(made);
      return made;
    };
    button("react", this.say("message.react"), tools.react);
    button("reply", this.say("message.reply"), tools.reply);
    if (!tools.isThread) button("thread", this.say("message.replyInThread"), tools.answerInThread);
    this.#more = button("more", this.say("message.more"), tools.more);
    this.#more.setAttribute("aria-haspopup", "menu");
  }

  /** Open the menu, if there is one; returns whether there is. */
  openMenu() {
    if (!this.node.hidden) this.#more.click();
    return !this.node.hidden;
  }

  /** Deleted messages have only the menu, if it has entries for the user. */
  show({ isHidden, isDeleted }) {
    this.node.hidden = isHidden;
    for (const button of this.#buttons) button.hidden = isDeleted && button !== this.#more;
  }
}
