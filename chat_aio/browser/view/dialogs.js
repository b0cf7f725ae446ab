/** The dialogs about messages: whom to write to, where to forward to, whether to delete. */

import { briefOf } from "../brief.js";
import { newClientMessageId } from "../chat.js";
import { avatar, element, setAvatar, setHidden, setText } from "../dom.js";
import { Dialog, field, pictureOf } from "./dialog.js";
import { Part } from "./part.js";

/** Choosing a person starts the conversation: `start(userId)`. */
export class DirectDialog extends Part {
  #list = element("ul", { class: "choices" });
  #dialog = new Dialog(this.shell, { heading: this.say("direct.new") }, this.#list);
  #start;

  constructor(shell, start) {
    super(shell);
    this.#start = start;
  }

  open() {
    this.#list.replaceChildren(...this.people.others.map((person) => this.#choice(person)));
    this.#dialog.open();
  }

  #choice(person) {
    const onclick = () => this.#dialog.finish(() => this.#start(person.id));
    const button = element("button", { type: "button", class: "choice", onclick });
    button.append(pictureOf(person, this.people), person.name);
    return element("li", {}, button);
  }
}

/** `remove(message)` is called when that has been confirmed. */
export class DeleteDialog extends Part {
  #excerpt = excerpt();
  #dialog = new Dialog(this.shell,
    { heading: this.say("delete.title"), submit: this.say("delete.submit"), isDanger: true },
    this.#excerpt,
    element("p", {}, this.say("delete.about")),
  );
  #message = null;

  constructor(shell, remove) {
    super(shell);
    this.#dialog.onSubmit(() => this.#dialog.finish(() => remove(this.#message)));
  }

  open(message) {
    this.#message = message;
    setText(this.#excerpt, briefOf(this.texts, message));
    this.#dialog.open();
  }
}

/** Choosing a conversation forwards a message to it: `forward(message, conversationId, key)`. */
export class ForwardDialog extends Part {
  #excerpt = excerpt();
  #filter = element("input", { type: "search", autocomplete: "off" });
  #list = element("ul", { class: "choices" });
  #hint = element("p", { class: "hint" }, this.say("forward.none"));
  #more = element("button", { type: "button", class: "quiet more" }, this.say("forward.more"));
  #dialog = new Dialog(this.shell,
    { heading: this.say("forward.title") },
    this.#excerpt,
    field(this.say("forward.find"), this.#filter),
    element("div", { class: "targets" }, this.#list, this.#hint, this.#more),
  );
  #needs;
  #message = null;
  /** A key for each target: a message is forwarded there only once. */
  #keys = new Map();

  constructor(shell, needs) {
    super(shell);
    this.#needs = needs;
    this.#filter.addEventListener("input", () => this.show());
    this.#more.addEventListener("click", () => needs.more());
    this.#dialog.onSubmit(() => this.#list.querySelector("button")?.click());
  }

  open(message) {
    this.#message = message;
    this.#keys.clear();
    setText(this.#excerpt, briefOf(this.texts, message));
    this.#dialog.open();
    this.show();
    this.#filter.focus();
  }

  /** The list may change while it is open. */
  show() {
    if (!this.#dialog.isOpen) return;
    const { conversations, nextCursor } = this.store;
    const wanted = this.#filter.value.trim().toLowerCase();
    const found = conversations.filter((conversation) =>
      this.people.titleOf(conversation).toLowerCase().includes(wanted),
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
    setAvatar(picture, this.people.pictureOf(conversation));
    const title = element("span", { class: "choice-title", dir: "auto" }, this.people.titleOf(conversation));
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
