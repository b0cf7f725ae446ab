/** A dialog that shows an error; Escape and its first button close it. */

import { avatar, element, setAvatar, setText } from "../dom.js";
import { Part } from "./part.js";

let made = 0;

export class Dialog extends Part {
  #dialog;
  #heading;
  #form = element("form");
  #problem = element("p", { class: "problem", role: "alert" });
  #opener = null;
  /** The number of its openings, and the one whose choice is acted on. */
  #opening = 0;
  #busyIn = null;

  /**
   * `given` are {heading?, submit?, cancel?, isDanger?, kind?}: `submit` is the word on its button,
   * if it has one, `kind` an additional class. `content` is put in its form.
   */
  constructor(shell, given, ...content) {
    super(shell);
    const { heading = "", submit = null, isDanger = false, kind = null } = given;
    const { cancel = this.say("common.cancel") } = given;
    made += 1;
    const id = `dialog-heading-${made}`;
    this.#heading = element("h2", { id, dir: "auto" }, heading);
    const menu = this.#menu({ submit, cancel, isDanger });
    this.#form.append(this.#heading, ...content, this.#problem, menu);
    this.#dialog = element("dialog", { "aria-labelledby": id, class: kind, part: "dialog" }, this.#form);
    // The dialog is the landmark: the page behind it may have parts of the same names.
    for (const section of this.#form.querySelectorAll("section")) section.role = "group";
    closeFromBeside(this.#dialog);
    this.#dialog.addEventListener("close", () => this.#giveBackFocus());
    shell.root.append(this.#dialog);
  }

  /** `act(given)` is called with the form's FormData. */
  onSubmit(act) {
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      act(new FormData(this.#form));
    });
    return this;
  }

  onClose(act) {
    this.#dialog.addEventListener("close", act);
  }

  /** Act on the choice, once; it stays open, with the reason, if that fails (then false). */
  async finish(work) {
    const opening = this.#opening;
    // It may have been closed since, and opened about something else.
    const isStill = () => opening === this.#opening;
    if (this.#busyIn === opening) return false;
    this.#busyIn = opening;
    setText(this.#problem, "");
    try {
      await work();
      if (isStill()) this.close();
      return true;
    } catch (error) {
      if (isStill()) setText(this.#problem, this.texts.problemOf(error));
      return false;
    } finally {
      if (this.#busyIn === opening) this.#busyIn = null;
    }
  }

  /** `act(event)` is called for each key that is pressed in it. */
  onKey(act) {
    this.#dialog.addEventListener("keydown", act);
  }

  title(words) {
    setText(this.#heading, words);
  }

  get isOpen() {
    return this.#dialog.open;
  }

  /** `words` are {heading, submit}, where they are not always the same. */
  open(words = {}) {
    const { heading = this.#heading.textContent, submit = null } = words;
    setText(this.#heading, heading);
    if (submit) setText(this.#form.querySelector("[type=submit]"), submit);
    setText(this.#problem, "");
    this.#opening += 1;
    this.#form.reset();
    this.#opener = this.shell.focused;
    this.#dialog.showModal();
  }

  close() {
    this.#dialog.close();
  }

  /** A message's buttons are hidden until it has the focus: the browser's own way fails there. */
  #giveBackFocus() {
    const row = this.#opener?.closest(".message");
    const { focused, isFocusLost } = this.shell;
    if (!row || (!isFocusLost && !this.#dialog.contains(focused))) return;
    row.focus();
    this.#opener.focus();
  }

  #menu({ submit, cancel, isDanger }) {
    const onclick = () => this.close();
    const closing = element("button", { type: "button", class: "quiet", onclick }, cancel);
    const menu = element("menu", {}, element("li", {}, closing));
    const fields = { type: "submit", class: isDanger ? "primary danger" : "primary" };
    if (submit) menu.append(element("li", {}, element("button", fields, submit)));
    return menu;
  }
}

/**
 * Close it on a click outside of its content, whose target is the dialog element itself. A press
 * that begins inside and ends outside, as when a text is selected, has the same target: it does not
 * close it.
 */
export function closeFromBeside(dialog) {
  let isFromBeside = false;
  dialog.addEventListener("pointerdown", ({ target }) => {
    isFromBeside = target === dialog;
  });
  dialog.addEventListener("click", ({ target }) => {
    if (target === dialog && isFromBeside) dialog.close();
  });
}

/** A labelled control. */
export function field(label, control, { optional = null } = {}) {
  const words = element("span", {}, label, ...(optional ? [" ", element("small", {}, optional)] : []));
  return element("label", { class: "field" }, words, control);
}

/** `options` are [value, words]. */
export function select(name, options) {
  const made = options.map(([value, words]) => element("option", { value }, words));
  return element("select", { name }, ...made);
}

/** A choice of people, each with a box to tick. */
export function peopleChoices(persons, people) {
  return persons.map((person) => {
    const box = element("input", { type: "checkbox", name: "member", value: person.id });
    const label = element("label", { class: "choice" }, box, pictureOf(person, people));
    label.append(person.name);
    return element("li", {}, label);
  });
}

export function pictureOf(person, people) {
  const picture = avatar();
  setAvatar(picture, people.pictureOfPerson(person.id));
  return picture;
}
