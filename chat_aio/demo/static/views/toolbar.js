/** What one can do with a message: at hand where it is pointed at, or has the focus. */

import { element } from "../../../browser/dom.js";
import { icon } from "../icons.js";

export class Toolbar {
  node = element("div", { class: "toolbar", role: "toolbar", "aria-label": "Actions" });

  /** `withMessage(act)` makes `act(message, button)` a listener. */
  constructor(tools, withMessage) {
    const button = (name, label, act) => {
      const onclick = ({ currentTarget }) => withMessage(act)(currentTarget);
      const fields = { type: "button", "aria-label": label, title: label };
      const made = element("button", { ...fields, onclick });
      made.append(icon(name));
      this.node.append(made);
      return made;
    };
    button("react", "React", tools.react);
    button("reply", "Reply", tools.reply);
    if (!tools.isThread) button("thread", "Reply in thread", tools.answerInThread);
    const more = button("more", "More actions", tools.more);
    more.setAttribute("aria-haspopup", "menu");
  }

  show({ isHidden }) {
    this.node.hidden = isHidden;
  }
}
