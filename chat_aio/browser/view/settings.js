/** A group's name, who finds it, joins it and writes: for admins to change, for others to know. */

import { element, setText } from "../dom.js";
import { field, select } from "./dialog.js";
import { followVisibility, intervalOf, joinPoliciesIn, kindOf, slowModesIn } from "./group-words.js";
import { historiesIn, historyIn, visibilitiesIn, writersIn, writingIn } from "./group-words.js";
import { Part } from "./part.js";
import { Section } from "./section.js";

export class SettingsSection extends Part {
  #name = element("input", { name: "name", maxlength: 200, autocomplete: "off", dir: "auto" });
  #topic = element("textarea", { name: "topic", maxlength: 500, rows: 2, dir: "auto" });
  #visibility = select("visibility", visibilitiesIn(this.texts));
  #joinPolicy = select("joinPolicy", joinPoliciesIn(this.texts));
  #writers = select("frozen", writersIn(this.texts));
  #slowMode = select("slowModeSeconds", slowModesIn(this.texts));
  #history = select("history", historiesIn(this.texts));
  #save = element("button", { type: "submit", class: "primary small" }, this.say("settings.save"));
  #done = element("p", { class: "done", role: "status" });
  #kind = element("p");
  #form;
  #section;
  #update;
  #group = null;

  /** `update(group, fields)` changes them. */
  constructor(shell, update) {
    super(shell);
    this.#update = update;
    this.#form = element(
      "form",
      {},
      field(this.say("group.name"), this.#name),
      field(this.say("settings.topic"), this.#topic),
      field(this.say("group.visibility"), this.#visibility),
      field(this.say("group.joinPolicy"), this.#joinPolicy),
      field(this.say("settings.writers"), this.#writers),
      field(this.say("settings.slowMode"), this.#slowMode),
      field(this.say("settings.history"), this.#history),
      element("div", { class: "ending" }, this.#done, this.#save),
    );
    this.#section = new Section(this.shell, this.say("settings.title"), [], this.#kind, this.#form);
    this.node = this.#section.node;
    this.#form.addEventListener("input", () => this.#edited());
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#submit();
    });
  }

  show(group) {
    const isAdmin = this.people.isAdminOf(group);
    const isOther = group.id !== this.#group?.id;
    const before = isOther ? null : valuesOf(this.#group);
    if (isOther) this.#reset();
    this.#group = group;
    this.#form.hidden = !isAdmin;
    this.#kind.hidden = isAdmin;
    const words = [kindOf(this.texts, group), writingIn(this.texts, group), historyIn(this.texts, group)];
    setText(this.#kind, words.filter(Boolean).join(" "));
    this.#offer(group.slowModeSeconds);
    this.#name.placeholder = this.people.titleOf({ ...group, name: null });
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
    if (!isKnown) this.#slowMode.append(new Option(intervalOf(this.texts, seconds), String(seconds)));
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
    setText(this.#done, this.say("settings.saved"));
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
