/** The dialogs about groups: a new one, more people, a link, a request, and "Really?". */

import { element, setText } from "../dom.js";
import { Dialog, field, peopleChoices, select } from "./dialog.js";
import { joinPoliciesIn, followVisibility, visibilitiesIn } from "./group-words.js";
import { Part } from "./part.js";

const HOUR_S = 3_600;
const expiriesIn = (texts) => [
  [String(7 * 24 * HOUR_S), texts.say("invites.afterDays", { count: 7 })],
  [String(24 * HOUR_S), texts.say("invites.afterDays", { count: 1 })],
  [String(HOUR_S), texts.say("invites.afterHour")],
  ["", texts.say("invites.neverEnds")],
];
const usesIn = (texts) => [
  ["", texts.say("invites.anyNumber")],
  ["1", texts.say("invites.one")],
  ...[5, 25].map((number) => [String(number), texts.numberOf(number)]),
];
const MOST_NOTE = 500;

/** `create(group)` with {name, userIds, visibility, joinPolicy}; the name may be undefined. */
export class GroupDialog extends Part {
  #name = element("input", { name: "name", maxlength: 200, autocomplete: "off", dir: "auto" });
  #list = element("ul", { class: "choices" });
  #visibility = select("visibility", visibilitiesIn(this.texts));
  #joinPolicy = select("joinPolicy", joinPoliciesIn(this.texts));
  /** Enter in the name makes a group, and may come before the members are chosen. */
  #isAloneMeant = false;
  #dialog = new Dialog(
    this.shell,
    { heading: this.say("group.new"), submit: this.say("group.create") },
    field(this.say("group.name"), this.#name, { optional: this.say("common.optional") }),
    members(this.texts, this.#list),
    field(this.say("group.visibility"), this.#visibility),
    field(this.say("group.joinPolicy"), this.#joinPolicy),
  );

  constructor(shell, create) {
    super(shell);
    this.#visibility.addEventListener("change", () => this.#follow());
    this.#dialog.onSubmit((given) =>
      this.#dialog.finish(() => {
        const group = groupFrom(given);
        this.#requireSomebody(group.userIds);
        return create(group);
      }),
    );
  }

  /** The form is reset when it opens; then it is private. */
  open() {
    this.#list.replaceChildren(...peopleChoices(this.people.others, this.people));
    this.#dialog.open();
    this.#isAloneMeant = false;
    this.#follow();
  }

  #requireSomebody(userIds) {
    if (userIds.length > 0 || this.#isAloneMeant) return;
    this.#isAloneMeant = true;
    throw new Error(this.say("group.onlyYou"));
  }

  #follow() {
    followVisibility(this.#visibility, this.#joinPolicy);
  }
}

function groupFrom(given) {
  return {
    name: given.get("name").trim() || undefined,
    userIds: given.getAll("member"),
    visibility: given.get("visibility"),
    joinPolicy: given.get("joinPolicy") ?? undefined,
  };
}

/** `add(group, userIds)` puts people into a group. */
export class AddPeopleDialog extends Part {
  #list = element("ul", { class: "choices" });
  #hint = element("p", { class: "hint" }, this.say("members.allIn"));
  #dialog = new Dialog(this.shell,
    { heading: this.say("members.add"), submit: this.say("members.addThem") },
    ...[this.#hint, members(this.texts, this.#list)],
  );
  #group = null;

  constructor(shell, add) {
    super(shell);
    this.#dialog.onSubmit((given) =>
      this.#dialog.finish(() => {
        const userIds = given.getAll("member");
        if (userIds.length === 0) throw new Error(this.say("members.chooseSomebody"));
        return add(this.#group, userIds);
      }),
    );
  }

  open(group) {
    this.#group = group;
    const isIn = ({ id }) => group.participants.some((participant) => participant.userId === id);
    const others = this.people.all.filter((person) => !isIn(person));
    this.#list.replaceChildren(...peopleChoices(others, this.people));
    this.#hint.hidden = others.length > 0;
    this.#list.parentElement.hidden = others.length === 0;
    this.#dialog.open();
  }
}

/** `make(terms)` makes a link; terms are {expiresInSeconds, maxUses, requiresApproval}. */
export class InviteDialog extends Part {
  #dialog = new Dialog(this.shell,
    { heading: this.say("invites.newTitle"), submit: this.say("invites.create") },
    field(this.say("invites.expires"), select("expiresInSeconds", expiriesIn(this.texts))),
    field(this.say("invites.maxUses"), select("maxUses", usesIn(this.texts))),
    element(
      "label",
      { class: "check" },
      element("input", { type: "checkbox", name: "requiresApproval" }),
      element("span", {}, this.say("invites.approval")),
    ),
  );

  constructor(shell, make) {
    super(shell);
    const numberIn = (text) => (text === "" ? undefined : Number(text));
    this.#dialog.onSubmit((given) =>
      this.#dialog.finish(() =>
        make({
          expiresInSeconds: numberIn(given.get("expiresInSeconds")),
          maxUses: numberIn(given.get("maxUses")),
          requiresApproval: given.has("requiresApproval"),
        }),
      ),
    );
  }

  open() {
    this.#dialog.open();
  }
}

/** The note of a join request. */
export function noteInput() {
  return element("textarea", { name: "message", rows: 3, maxlength: MOST_NOTE });
}

/** A request to join, with a note: `ask(channel, message)`. */
export class AskDialog extends Part {
  #dialog = new Dialog(this.shell,
    { heading: this.say("join.ask"), submit: this.say("join.ask") },
    element("p", {}, this.say("join.needsAdmin")),
    field(this.say("join.note"), noteInput(), { optional: this.say("common.optional") }),
  );
  #channel = null;

  /** `done()` is called when the dialog has done its work. */
  constructor(shell, ask, done) {
    super(shell);
    this.#dialog.onSubmit(async (given) => {
      await this.#dialog.finish(() => ask(this.#channel, given.get("message")));
      done();
    });
  }

  open(channel, title) {
    this.#channel = channel;
    this.#dialog.open({ heading: this.say("join.askNamed", { name: title }) });
  }
}

/** Asks whether something is really meant. */
export class ConfirmDialog extends Part {
  #words = element("p");
  #dialog = new Dialog(this.shell, { submit: this.say("common.yes"), isDanger: true }, this.#words);
  #act = null;

  /** `done()` is called when it has been done, and what had the focus may be gone. */
  constructor(shell, done) {
    super(shell);
    this.#dialog.onSubmit(async () => {
      await this.#dialog.finish(() => this.#act());
      done();
    });
  }

  /** `question` is {heading, words, submit}. */
  open({ words, ...labels }, act) {
    this.#act = act;
    setText(this.#words, words);
    this.#dialog.open(labels);
  }
}

function members(texts, list) {
  return element("fieldset", {}, element("legend", {}, texts.say("group.members")), list);
}
