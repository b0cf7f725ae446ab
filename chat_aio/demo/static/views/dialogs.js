/** The two dialogs: whom to write to, and who is in a new group. */

import { avatar, element, setAvatar, setText } from "../dom.js";

/** A dialog that a button opens and that says what went wrong; Escape and "Cancel" close it. */
class Dialog {
  #dialog;
  #problem;

  constructor(dialogId, openerId) {
    this.#dialog = document.querySelector(dialogId);
    this.#problem = this.#dialog.querySelector(".problem");
    document.querySelector(openerId).addEventListener("click", () => this.#open());
    this.find(".cancel").addEventListener("click", () => this.close());
    // A click beside it lands on the dialog element itself: what it shows lies in its form.
    this.#dialog.addEventListener("click", ({ target }) => {
      if (target === this.#dialog) this.close();
    });
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

  #open() {
    setText(this.#problem, "");
    this.find("form").reset();
    this.#dialog.showModal();
  }
}

/** Choosing a person starts the conversation: `start(userId)`. */
export function makeDirectDialog(people, start) {
  const dialog = new Dialog("#direct-dialog", "#new-direct");
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
  const dialog = new Dialog("#group-dialog", "#new-group");
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

function pictureOf(person, people) {
  const picture = avatar();
  setAvatar(picture, people.pictureOfPerson(person.id));
  return picture;
}
