/** A group's name, who finds it, joins it and writes: for admins to change, for others to know. */

import { element, setText } from "../../../browser/dom.js";
import { say } from "../words.js";
import { field, select } from "./dialog.js";
import { followVisibility, intervalOf, JOIN_POLICIES, kindOf, SLOW_MODES } from "./group-words.js";
import { HISTORIES, historyIn, VISIBILITIES, WRITERS, writingIn } from "./group-words.js";
import { Section } from "./section.js";

export class SettingsSection {
  #name = element("input", { name: "name", maxlength: 200, autocomplete: "off", dir: "auto" });
  #topic = element("textarea", { name: "topic", maxlength: 500, rows: 2, dir: "auto" });
  #visibility = select("visibility", VISIBILITIES);
  #joinPolicy = select("joinPolicy", JOIN_POLICIES);
  #writers = select("frozen", WRITERS);
  #slowMode = select("slowModeSeconds", SLOW_MODES);
  #history = select("history", HISTORIES);
  #save = element("button", { type: "submit", class: "primary small" }, say("settings.save"));
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
      field(say("group.name"), this.#name),
      field(say("settings.topic"), this.#topic),
      field(say("group.visibility"), this.#visibility),
      field(say("group.joinPolicy"), this.#joinPolicy),
      field(say("settings.writers"), this.#writers),
      field(say("settings.slowMode"), this.#slowMode),
      field(say("settings.history"), this.#history),
      element("div", { class: "ending" }, this.#done, this.#save),
    );
    this.#section = new Section(say("settings.title"), [], this.#kind, this.#form);
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
    const words = [kindOf(group), writingIn(group), historyIn(group)];
    setText(this.#kind, words.filter(Boolean).join(" "));
    this.#offer(group.slowModeSeconds);
    this.#name.placeholder = this.#people.titleOf({ ...group, name: null });
    for (const [name, value] of Object.entries(valuesOf(group))) {
      // What somebody else changes is shown, but not over what one has begun.
      const control = this.#form.elements[name];
      if (!before || control.value === before[name]) control.value = value;
    }
    this.#follow();
  }

  /** Another program may have set an interval that is none of the usual ones. */
  #offer(seconds) {
    const isKnown = [...this.#slowMode.options].some((option) => option.value === String(seconds));
    if (!isKnown) this.#slowMode.append(new Option(intervalOf(seconds), String(seconds)));
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
    const trimmed = { ...given, name: given.name.trim(), topic: topicFrom(given) };
    const changed = Object.entries(trimmed).filter(([name, value]) => value !== before[name]);
    return Object.fromEntries(changed.map(([name, value]) => [name, FIELDS[name](value)]));
  }

  async #submit() {
    const group = this.#group;
    const isDone = await this.#section.attempt(() => this.#update(group, this.#changed()));
    if (!isDone || group.id !== this.#group.id) return;
    this.#name.value = this.#name.value.trim();
    this.#topic.value = this.#topic.value.trim();
    setText(this.#done, say("settings.saved"));
    this.#follow();
  }
}

/** What the service takes for what the form has. */
const FIELDS = {
  name: (value) => value || null,
  topic: (value) => value,
  visibility: (value) => value,
  joinPolicy: (value) => value,
  frozen: (value) => value === "true",
  slowModeSeconds: Number,
  history: (value) => value,
};

function valuesOf({ name, topic, visibility, joinPolicy, history, frozen, slowModeSeconds }) {
  const writing = { frozen: String(frozen), slowModeSeconds: String(slowModeSeconds) };
  return { name: name ?? "", topic, visibility, joinPolicy, history, ...writing };
}

/** A form gives line breaks as two characters. */
function topicFrom({ topic }) {
  return topic.replaceAll("\r\n", "\n").trim();
}
