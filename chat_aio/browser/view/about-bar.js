/** Above the text of a composer: the message that is edited or replied to. */

import { briefOf } from "../brief.js";
import { element, setText } from "../dom.js";
import { iconButton } from "./icons.js";
import { Part } from "./part.js";

export class AboutBar extends Part {
  #title = element("strong", { class: "about-title" });
  #text = element("span", { class: "about-text", dir: "auto" });
  node = element("div", { class: "about", hidden: true });

  constructor(shell, onclick) {
    super(shell);
    const fields = { title: this.say("composer.cancel"), onclick };
    const cancel = iconButton("cross", this.say("common.cancel"), fields);
    this.node.append(element("p", {}, this.#title, " ", this.#text), cancel);
  }

  /** `about` is {kind: "reply" or "edit", message}, or null. */
  show({ about, isSaving }) {
    this.node.hidden = about === null;
    if (about === null) return;
    const { kind, message } = about;
    const isOwn = message.senderId === this.people.userId;
    const name = this.people.nameOf(message.senderId);
    const reply = this.say("composer.replying", { isOwn, name });
    this.node.dataset.kind = kind;
    const edit = isSaving ? this.say("composer.saving") : this.say("composer.editing");
    setText(this.#title, kind === "edit" ? edit : reply);
    setText(this.#text, briefOf(this.texts, message));
  }
}
