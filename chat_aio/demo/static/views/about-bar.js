/** Above the text of a composer: the message that is edited or replied to, and a problem. */

import { briefOf } from "../brief.js";
import { setText } from "../../../browser/dom.js";
import { say } from "../words.js";

export class AboutBar {
  #bar;
  #title;
  #text;
  #problem;
  #people;

  constructor(form, people, cancel) {
    this.#people = people;
    this.#bar = form.querySelector(".about");
    this.#title = this.#bar.querySelector(".about-title");
    this.#text = this.#bar.querySelector(".about-text");
    this.#problem = form.querySelector(".problem");
    this.#bar.querySelector("button").addEventListener("click", () => {
      cancel();
      form.querySelector("textarea").focus();
    });
  }

  /** `about` is {kind: "reply" or "edit", message}, or null. */
  show({ about, isSaving }) {
    this.#bar.hidden = about === null;
    if (about === null) return;
    const { kind, message } = about;
    const isOwn = message.senderId === this.#people.userId;
    const name = this.#people.nameOf(message.senderId);
    const reply = say("composer.replying", { isOwn, name });
    this.#bar.dataset.kind = kind;
    const edit = isSaving ? say("composer.saving") : say("composer.editing");
    setText(this.#title, kind === "edit" ? edit : reply);
    setText(this.#text, briefOf(message));
  }

  complain(words) {
    setText(this.#problem, words);
  }
}
