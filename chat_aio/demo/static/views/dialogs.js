/** The dialogs about messages: whom to write to, where to forward to, whether to delete. */

import { briefOf } from "../brief.js";
import { newClientMessageId } from "../../../browser/chat.js";
import { avatar, element, setAvatar, setHidden, setText } from "../../../browser/dom.js";
import { say } from "../words.js";
import { Dialog, field, pictureOf } from "./dialog.js";

/** Choosing a person starts the conversation: `start(userId)`. */
export function makeDirectDialog(people, start) {
  const list = element("ul", { class: "choices" });
  const dialog = new Dialog({ heading: say("direct.new") }, list).openWith("#new-direct");
  const choose = (person) => () => dialog.finish(() => start(person.id));
  const choices = people.others.map((person) => {
    const button = element("button", { type: "button", class: "choice", onclick: choose(person) });
    button.append(pictureOf(person, people), person.name);
    return element("li", {}, button);
  });
  list.replaceChildren(...choices);
}

/** `remove(message)` is called when that has been confirmed. */
export class DeleteDialog {
  #excerpt = excerpt();
  #dialog = new Dialog(
    { heading: say("delete.title"), submit: say("delete.submit"), isDanger: true },
    this.#excerpt,
    element("p", {}, say("delete.about")),
  );
  #message = null;

  constructor(remove) {
    this.#dialog.onSubmit(() => this.#dialog.finish(() => remove(this.#message)));
  }

  open(message) {
    this.#message = message;
    setText(this.#excerpt, briefOf(message));
    this.#dialog.open();
  }
}

/** Choosing a conversation forwards a message to it: `forward(message, conversationId, key)`. */
export class ForwardDialog {
  #excerpt = excerpt();
  #filter = element("input", { type: "search", autocomplete: "off" });
  #list = element("ul", { class: "choices" });
  #hint = element("p", { class: "hint" }, say("forward.none"));
  #more = element("button", { type: "button", class: "quiet more" }, say("forward.more"));
  #dialog = new Dialog(
    { heading: say("forward.title") },
    this.#excerpt,
    field(say("forward.find"), this.#filter),
    element("div", { class: "targets" }, this.#list, this.#hint, this.#more),
  );
  #store;
  #people;
  #needs;
  #message = null;
  /** A key for each target: a message is forwarded there only once. */
  #keys = new Map();

  constructor(store, people, needs) {
    this.#store = store;
    this.#people = people;
    this.#needs = needs;
    this.#filter.addEventListener("input", () => this.show());
    this.#more.addEventListener("click", () => needs.more());
    this.#dialog.onSubmit(() => this.#list.querySelector("button")?.click());
  }

  open(message) {
    this.#message = message;
    this.#keys.clear();
    setText(this.#excerpt, briefOf(message));
    this.#dialog.open();
    this.show();
    this.#filter.focus();
  }

  /** The list may change while it is open. */
  show() {
    if (!this.#dialog.isOpen) return;
    const { conversations, nextCursor } = this.#store;
    const wanted = this.#filter.value.trim().toLowerCase();
    const found = conversations.filter((conversation) =>
      this.#people.titleOf(conversation).toLowerCase().includes(wanted),
    );
    const ids = found.map((conversation) => conversation.id).join(" ");
    if (this.#list.dataset.ids !== ids) {
      this.#list.dataset.ids = ids;
      this.#list.replaceChildren(...found.map((conversation) => this.#choice(conversation)));
    }
    setHidden(this.#more, nextCursor === null, this.#filter);
    this.#hint.hidden = found.length > 0;
  }

  #choice(conversation) {
    const onclick = () => this.#dialog.finish(() => this.#forwardTo(conversation));
    const button = element("button", { type: "button", class: "choice", onclick });
    const picture = avatar();
    setAvatar(picture, this.#people.pictureOf(conversation));
    const title = element("span", { class: "choice-title", dir: "auto" }, this.#people.titleOf(conversation));
    button.append(picture, title);
    return element("li", {}, button);
  }

  #forwardTo({ id }) {
    if (!this.#keys.has(id)) this.#keys.set(id, newClientMessageId());
    return this.#needs.forward(this.#message, id, this.#keys.get(id));
  }
}

function excerpt() {
  return element("p", { class: "excerpt", dir: "auto" });
}
