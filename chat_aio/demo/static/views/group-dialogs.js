/** The dialogs about groups: a new one, more people, a link, a request, and "Really?". */

import { element, setText } from "../../../browser/dom.js";
import { numberOf, say } from "../words.js";
import { Dialog, field, peopleChoices, select } from "./dialog.js";
import { JOIN_POLICIES, followVisibility, VISIBILITIES } from "./group-words.js";

const HOUR_S = 3_600;
const EXPIRIES = [
  [String(7 * 24 * HOUR_S), say("invites.afterDays", { count: 7 })],
  [String(24 * HOUR_S), say("invites.afterDays", { count: 1 })],
  [String(HOUR_S), say("invites.afterHour")],
  ["", say("invites.neverEnds")],
];
const USES = [
  ["", say("invites.anyNumber")],
  ["1", say("invites.one")],
  ...[5, 25].map((number) => [String(number), numberOf(number)]),
];
const MOST_NOTE = 500;

/** `create(group)` with {name, userIds, visibility, joinPolicy}; the name may be undefined. */
export function makeGroupDialog(people, create) {
  const name = element("input", {
    ...{ name: "name", maxlength: 200, autocomplete: "off", dir: "auto" },
  });
  const visibility = select("visibility", VISIBILITIES);
  const joinPolicy = select("joinPolicy", JOIN_POLICIES);
  const dialog = new Dialog(
    { heading: say("group.new"), submit: say("group.create") },
    field(say("group.name"), name, { isOptional: true }),
    members(element("ul", { class: "choices" }, ...peopleChoices(people.others, people))),
    field(say("group.visibility"), visibility),
    field(say("group.joinPolicy"), joinPolicy),
  );
  // Enter in the name makes a group, and may come before the members are chosen.
  let isAloneMeant = false;
  const requireSomebody = (userIds) => {
    if (userIds.length > 0 || isAloneMeant) return;
    isAloneMeant = true;
    throw new Error(say("group.onlyYou"));
  };
  const follow = () => followVisibility(visibility, joinPolicy);
  visibility.addEventListener("change", follow);
  // The form is reset when it opens; then it is private.
  document.querySelector("#new-group").addEventListener("click", () => {
    dialog.open();
    isAloneMeant = false;
    follow();
  });
  dialog.onSubmit((given) =>
    dialog.finish(() => {
      const userIds = given.getAll("member");
      requireSomebody(userIds);
      return create({
        name: given.get("name").trim() || undefined,
        userIds,
        visibility: given.get("visibility"),
        joinPolicy: given.get("joinPolicy") ?? undefined,
      });
    }),
  );
}

/** `add(group, userIds)` puts people into a group. */
export class AddPeopleDialog {
  #list = element("ul", { class: "choices" });
  #hint = element("p", { class: "hint" }, say("members.allIn"));
  #dialog = new Dialog(
    { heading: say("members.add"), submit: say("members.addThem") },
    ...[this.#hint, members(this.#list)],
  );
  #people;
  #group = null;

  constructor(people, add) {
    this.#people = people;
    this.#dialog.onSubmit((given) =>
      this.#dialog.finish(() => {
        const userIds = given.getAll("member");
        if (userIds.length === 0) throw new Error(say("members.chooseSomebody"));
        return add(this.#group, userIds);
      }),
    );
  }

  open(group) {
    this.#group = group;
    const isIn = ({ id }) => group.participants.some((participant) => participant.userId === id);
    const others = this.#people.all.filter((person) => !isIn(person));
    this.#list.replaceChildren(...peopleChoices(others, this.#people));
    this.#hint.hidden = others.length > 0;
    this.#list.parentElement.hidden = others.length === 0;
    this.#dialog.open();
  }
}

/** `make(terms)` makes a link; terms are {expiresInSeconds, maxUses, requiresApproval}. */
export class InviteDialog {
  #dialog = new Dialog(
    { heading: say("invites.newTitle"), submit: say("invites.create") },
    field(say("invites.expires"), select("expiresInSeconds", EXPIRIES)),
    field(say("invites.maxUses"), select("maxUses", USES)),
    element(
      "label",
      { class: "check" },
      element("input", { type: "checkbox", name: "requiresApproval" }),
      element("span", {}, say("invites.approval")),
    ),
  );

  constructor(make) {
    const numberOf = (text) => (text === "" ? undefined : Number(text));
    this.#dialog.onSubmit((given) =>
      this.#dialog.finish(() =>
        make({
          expiresInSeconds: numberOf(given.get("expiresInSeconds")),
          maxUses: numberOf(given.get("maxUses")),
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
export class AskDialog {
  #dialog = new Dialog(
    { heading: say("join.ask"), submit: say("join.ask") },
    element("p", {}, say("join.needsAdmin")),
    field(say("join.note"), noteInput(), { isOptional: true }),
  );
  #channel = null;

  /** `done()` is called when the dialog has done its work. */
  constructor(ask, done) {
    this.#dialog.onSubmit(async (given) => {
      await this.#dialog.finish(() => ask(this.#channel, given.get("message")));
      done();
    });
  }

  open(channel, title) {
    this.#channel = channel;
    this.#dialog.open({ heading: say("join.askNamed", { name: title }) });
  }
}

/** Asks whether something is really meant. */
export class ConfirmDialog {
  #words = element("p");
  #dialog = new Dialog({ submit: say("common.yes"), isDanger: true }, this.#words);
  #act = null;

  /** `done()` is called when it has been done, and what had the focus may be gone. */
  constructor(done) {
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

function members(list) {
  return element("fieldset", {}, element("legend", {}, say("group.members")), list);
}
