/** Where no conversation is open, until it is hidden: what to do when one is new here. */

import { addressOf } from "../address.js";
import { element, setText } from "../../../browser/dom.js";
import { UserStorage } from "../user-storage.js";
import { problemOf } from "../problems.js";
import { say } from "../words.js";

const GUIDE = "mount";
/** The name of the demo's conversation that shows what a chat can do. */
const TOUR = "Start here";
const HIDDEN = "first-steps-hidden";

export class FirstSteps {
  #place = document.querySelector(".nothing");
  /** For all who use this browser: they are one person with several windows. */
  #kept = new UserStorage("");
  #problem = element("p", { class: "problem", role: "alert" });
  #write;
  #tour = element("a", {}, say("steps.tour", { name: TOUR }));
  #toTour = element("li", { hidden: true }, this.#tour);
  #node;

  /** `write(userId)` opens the conversation with somebody. */
  constructor(people, write) {
    this.#write = write;
    const other = people.others.find((person) => !person.bot);
    if (other && !this.#kept.get(HIDDEN)) this.#show(other);
  }

  /** `hrefOf(id)` is where a conversation is. The tour may be deleted. */
  show(conversations, hrefOf) {
    const tour = conversations.find((conversation) => conversation.name === TOUR);
    this.#toTour.hidden = !tour;
    if (tour) this.#tour.href = hrefOf(tour.id);
  }

  #show({ id, name }) {
    const title = element("h2", { id: "steps-title" }, say("steps.title"));
    const steps = [
      link(say("steps.window", { name }), addressOf(id)),
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
      await this.#write(userId);
    } catch (error) {
      setText(this.#problem, problemOf(error));
    }
  }

  #hide() {
    this.#kept.set(HIDDEN, true);
    this.#node.remove();
    this.#place.querySelector("a").focus();
  }
}

/** It opens a separate window. */
function link(words, href) {
  return element("a", { href, target: "_blank", rel: "noopener" }, words);
}

function button(words, onclick, fields = {}) {
  return element("button", { type: "button", onclick, ...fields }, words);
}
