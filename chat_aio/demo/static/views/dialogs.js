/** The dialogs: whom to write to, who is in a new group, where to forward to, whether to delete. */

import { newClientMessageId } from "../chat.js";
import { avatar, element, setAvatar, setText } from "../dom.js";
import { previewOf } from "../messages.js";

/** A dialog that says what went wrong; Escape and "Cancel" close it. */
class Dialog {
  #dialog;
  #problem;

  constructor(dialogId) {
    this.#dialog = document.querySelector(dialogId);
    this.#problem = this.#dialog.querySelector(".problem");
    this.find(".cancel").addEventListener("click", () => this.close());
    // A click beside it lands on the dialog element itself: what it shows lies in its form.
    this.#dialog.addEventListener("click", ({ target }) => {
      if (target === this.#dialog) this.close();
    });
  }

  /** Let a button open it. */
  openWith(buttonId) {
    document.querySelector(buttonId).addEventListener("click", () => this.open());
    return this;
  }

  find(selector) {
    return this.#dialog.querySelector(selector);
  }

  close() {
    this.#dialog.close();
  }

  /** Do what was chosen; it stays open, with the reason, if that fails. */
  async finish(work) {
    setText(this.#problem, "");
    try {
      await work();
      this.close();
    } catch (error) {
      setText(this.#problem, error.message);
    }
  }

  get isOpen() {
    return this.#dialog.open;
  }

  open() {
    setText(this.#problem, "");
    this.find("form").reset();
    this.#dialog.showModal();
  }
}

/** Choosing a person starts the conversation: `start(userId)`. */
export function makeDirectDialog(people, start) {
  const dialog = new Dialog("#direct-dialog").openWith("#new-direct");
  const choose = (person) => () => dialog.finish(() => start(person.id));
  const choices = people.others.map((person) => {
    const button = element("button", { type: "button", class: "choice", onclick: choose(person) });
    button.append(pictureOf(person, people), person.name);
    return element("li", {}, button);
  });
  dialog.find("ul").replaceChildren(...choices);
  dialog.find("form").addEventListener("submit", (event) => event.preventDefault());
}

/** `create({name, userIds})`; a group without a name is called by its members. */
export function makeGroupDialog(people, create) {
  const dialog = new Dialog("#group-dialog").openWith("#new-group");
  const form = dialog.find("form");
  const choices = people.others.map((person) => {
    const box = element("input", { type: "checkbox", name: "member", value: person.id });
    const label = element("label", { class: "choice" }, box, pictureOf(person, people));
    label.append(person.name);
    return element("li", {}, label);
  });
  dialog.find("ul").replaceChildren(...choices);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const given = new FormData(form);
    const name = given.get("name").trim() || undefined;
    dialog.finish(() => create({ name, userIds: given.getAll("member") }));
  });
}

/** `remove(message)` is called when that has been confirmed. */
export class DeleteDialog {
  #dialog = new Dialog("#delete-dialog");
  #message = null;

  constructor(remove) {
    this.#dialog.find("form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.#dialog.finish(() => remove(this.#message));
    });
  }

  open(message) {
    this.#message = message;
    setText(this.#dialog.find(".excerpt"), previewOf(message).excerpt);
    this.#dialog.open();
  }
}

/** Choosing a conversation forwards a message to it: `forward(message, conversationId, key)`. */
export class ForwardDialog {
  #dialog = new Dialog("#forward-dialog");
  #filter = this.#dialog.find("input");
  #list = this.#dialog.find("ul");
  #more = this.#dialog.find(".more");
  #store;
  #people;
  #needs;
  #message = null;
  /** One for each target: what was forwarded there once is not forwarded again. */
  #keys = new Map();

  constructor(store, people, needs) {
    this.#store = store;
    this.#people = people;
    this.#needs = needs;
    this.#filter.addEventListener("input", () => this.show());
    this.#more.addEventListener("click", () => needs.more());
    this.#dialog.find("form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.#list.querySelector("button")?.click();
    });
  }

  open(message) {
    this.#message = message;
    this.#keys.clear();
    setText(this.#dialog.find(".excerpt"), previewOf(message).excerpt);
    this.#dialog.open();
    this.show();
    this.#filter.focus();
  }

  /** The list may change while it is open. */
  show() {
    if (!this.#dialog.isOpen) return;
    const { conversations, nextCursor } = this.#store;
    const wanted = this.#filter.value.trim().toLowerCase();
    const found = conversations.filter((each) =>
      this.#people.titleOf(each).toLowerCase().includes(wanted),
    );
    const ids = found.map((each) => each.id).join(" ");
    if (this.#list.dataset.ids !== ids) {
      this.#list.dataset.ids = ids;
      this.#list.replaceChildren(...found.map((each) => this.#choice(each)));
    }
    this.#more.hidden = nextCursor === null;
    this.#dialog.find(".hint").hidden = found.length > 0;
  }

  #choice(conversation) {
    const onclick = () => this.#dialog.finish(() => this.#forwardTo(conversation));
    const button = element("button", { type: "button", class: "choice", onclick });
    const picture = avatar();
    setAvatar(picture, this.#people.pictureOf(conversation));
    const title = element("span", { class: "choice-title" }, this.#people.titleOf(conversation));
    button.append(picture, title);
    return element("li", {}, button);
  }

  #forwardTo({ id }) {
    if (!this.#keys.has(id)) this.#keys.set(id, newClientMessageId());
    return this.#needs.forward(this.#message, id, this.#keys.get(id));
  }
}

function pictureOf(person, people) {
  const picture = avatar();
  setAvatar(picture, people.pictureOfPerson(person.id));
  return picture;
}
