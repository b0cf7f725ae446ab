/** A group's name, who finds it and how it is joined: for admins to change, for others to know. */

import { element, setText } from "../dom.js";
import { field, select } from "./dialog.js";
import { followVisibility, JOIN_POLICIES, kindOf, VISIBILITIES } from "./group-words.js";
import { Section } from "./section.js";

export class SettingsSection {
  #name = element("input", { name: "name", maxlength: 200, autocomplete: "off" });
  #visibility = select("visibility", VISIBILITIES);
  #joinPolicy = select("joinPolicy", JOIN_POLICIES);
  #save = element("button", { type: "submit", class: "primary small" }, "Save");
  #done = element("p", { class: "done", role: "status" });
  #kind = element("p");
  #form;
  #section;
  #people;
  #update;
  #group = null;

  /** `update(group, fields)` changes them. */
  constructor(people, update) {
    this.#people = people;
    this.#update = update;
    this.#form = element(
      "form",
      {},
      field("Name", this.#name),
      field("Who can find it", this.#visibility),
      field("How people join", this.#joinPolicy),
      element("div", { class: "ending" }, this.#done, this.#save),
    );
    this.#section = new Section("Group", [], this.#kind, this.#form);
    this.node = this.#section.node;
    this.#form.addEventListener("input", () => this.#edited());
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#submit();
    });
  }

  show(group) {
    const isAdmin = this.#people.isAdminOf(group);
    const isOther = group.id !== this.#group?.id;
    const before = isOther ? null : valuesOf(this.#group);
    if (isOther) this.#reset();
    this.#group = group;
    this.#form.hidden = !isAdmin;
    this.#kind.hidden = isAdmin;
    setText(this.#kind, kindOf(group));
    this.#name.placeholder = this.#people.titleOf({ ...group, name: null });
    for (const [name, value] of Object.entries(valuesOf(group))) {
      // What somebody else changes is shown, but not over what one has begun.
      const control = this.#form.elements[name];
      if (!before || control.value === before[name]) control.value = value;
    }
    this.#follow();
  }

  #reset() {
    this.#section.complain("");
    setText(this.#done, "");
  }

  #edited() {
    this.#reset();
    this.#follow();
  }

  #follow() {
    followVisibility(this.#visibility, this.#joinPolicy);
    this.#save.disabled = Object.keys(this.#changed()).length === 0;
  }

  /** The fields that are not as they were. */
  #changed() {
    const before = valuesOf(this.#group);
    const given = Object.fromEntries(new FormData(this.#form));
    const changed = Object.entries({ ...given, name: given.name.trim() }).filter(
      ([name, value]) => value !== before[name],
    );
    return Object.fromEntries(changed.map(([name, value]) => [name, value || null]));
  }

  async #submit() {
    const group = this.#group;
    const isDone = await this.#section.attempt(() => this.#update(group, this.#changed()));
    if (!isDone || group.id !== this.#group.id) return;
    this.#name.value = this.#name.value.trim();
    setText(this.#done, "Saved.");
    this.#follow();
  }
}

function valuesOf({ name, visibility, joinPolicy }) {
  return { name: name ?? "", visibility, joinPolicy };
}
