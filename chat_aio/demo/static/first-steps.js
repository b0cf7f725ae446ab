/** Where no conversation is open, until it is hidden: what to do when one is new here. */

import { element, setText } from "../../browser/dom.js";
import { UserStorage } from "../../browser/user-storage.js";

const GUIDE = "mount";
/** The name of the demo's conversation that shows what a chat can do. */
const TOUR = "Start here";
const HIDDEN = "first-steps-hidden";

export class FirstSteps {
  #place = document.querySelector(".empty");
  #invitation = document.querySelector("#invitation");
  /** For all who use this browser: they are one person with several windows. */
  #kept = new UserStorage("");
  #problem = element("p", { class: "problem", role: "alert" });
  #tour = element("a");
  #toTour = element("li", { hidden: true }, this.#tour);
  #chat;
  #texts;
  #me;
  #node;

  /** `other` is somebody to write to. */
  constructor(chat, texts, me, other) {
    const { say } = texts;
    this.#chat = chat;
    this.#texts = texts;
    this.#me = me;
    setText(this.#tour, say("steps.tour"));
    this.#invitation.href = `#${other.id}`;
    setText(this.#invitation, say("nothing.invitation", { name: other.name }));
    if (!this.#kept.get(HIDDEN)) this.#show(other);
  }

  /** The tour may be deleted. */
  show(conversations) {
    const tour = conversations.find((conversation) => conversation.name === TOUR);
    this.#toTour.hidden = !tour;
    if (tour) this.#tour.href = `#${this.#me.id}/${tour.id}`;
  }

  #show({ id, name }) {
    const { say } = this.#texts;
    const title = element("h2", { id: "steps-title" }, say("steps.title"));
    const steps = [
      link(say("steps.window", { name }), `#${id}`),
      button(say("steps.write", { name }), () => this.#writeTo(id)),
      link(say("steps.mount"), GUIDE),
    ].map((step) => element("li", {}, step));
    const hide = button(say("steps.hide"), () => this.#hide(), { class: "quiet small" });
    const fields = { class: "first-steps", "aria-labelledby": title.id };
    const list = element("ol", {}, this.#toTour, ...steps);
    this.#node = element("section", fields, title, list, this.#problem, hide);
    this.#place.append(this.#node);
  }

  async #writeTo(userId) {
    setText(this.#problem, "");
    try {
      await this.#chat.openDirect(userId);
    } catch (error) {
      setText(this.#problem, this.#texts.problemOf(error));
    }
  }

  #hide() {
    this.#kept.set(HIDDEN, true);
    this.#node.remove();
    this.#invitation.focus();
  }
}

/** It opens a separate window. */
function link(words, href) {
  return element("a", { href, target: "_blank", rel: "noopener" }, words);
}

function button(words, onclick, fields = {}) {
  return element("button", { type: "button", onclick, ...fields }, words);
}
