/** Bans, for moderators: their users, times and reasons; and the form of a new one. */

import { avatar, element, Rows, setAvatar, setText } from "../../../browser/dom.js";
import { shortMomentOf } from "../times.js";
import { say } from "../words.js";
import { Dialog, field, select } from "./dialog.js";
import { ListFoot, Section, smallButton } from "./section.js";

const MOST_REASON = 1_000;
const FILTERS = [["active", say("bans.active")], ["", say("bans.all")]];

export class BansSection {
  #filter = select("active", FILTERS);
  #ban;
  #list = element("ul", { class: "cases" });
  #foot;
  #rows;
  #section;
  #casework;
  #people;

  /** `ban()` opens the form. */
  constructor(casework, people, ban) {
    this.#casework = casework;
    this.#people = people;
    this.#ban = smallButton(say("bans.new"), () => ban());
    this.#foot = new ListFoot(() => casework.bans.more());
    this.#rows = new Rows(this.#list, { revoke: (ban) => this.#revoke(ban) });
    this.#filter.setAttribute("aria-label", say("bans.which"));
    this.#filter.addEventListener("change", () => {
      this.complain("");
      casework.listBans(this.#filter.value === "active");
    });
    const actions = element("div", { class: "acts" }, this.#filter, this.#ban);
    this.#section = new Section(say("bans.title"), [actions], this.#list, this.#foot.node);
    this.node = this.#section.node;
  }

  complain(words) {
    this.#section.complain(words);
  }

  show() {
    const { bans, isActiveOnly } = this.#casework;
    this.#rows.show(bans.items.map((ban) => this.#rowOf(ban)));
    const empty = isActiveOnly ? say("bans.empty") : say("bans.never");
    this.#foot.show(bans, { failed: say("bans.failed"), empty });
  }

  #rowOf(ban) {
    const { userId, createdByUserId } = ban;
    const by = this.#people.nameOf(createdByUserId);
    const picture = this.#people.pictureOfPerson(userId);
    const state = { ban, name: this.#people.nameOf(userId), by, ...picture };
    return { key: ban.id, Row: BanRow, state };
  }

  async #revoke(ban) {
    await this.#section.attempt(() => this.#casework.revoke(ban));
    this.#section.keepFocus();
  }
}

class BanRow {
  #avatar = avatar();
  #name = element("span", { class: "person-name", dir: "auto" });
  #reason = element("p", { class: "case-reason", dir: "auto" });
  #terms = element("p", { class: "terms" });
  #revoke;
  #ban = null;

  constructor({ revoke }) {
    this.#revoke = smallButton(say("bans.revoke"), () => revoke(this.#ban));
    this.node = element(
      "li",
      {},
      element("div", { class: "person" }, this.#avatar, this.#name, this.#revoke),
      ...[this.#reason, this.#terms],
    );
  }

  show({ ban, name, by, ...picture }) {
    this.#ban = ban;
    setAvatar(this.#avatar, picture);
    setText(this.#name, name);
    setText(this.#reason, ban.reason ?? "");
    this.#reason.hidden = ban.reason === null;
    setText(this.#terms, termsOf(ban, by));
    this.#revoke.hidden = !isActive(ban);
    this.#revoke.setAttribute("aria-label", say("bans.revokeOf", { name }));
  }
}

/** `ban(given)` with {targetUserId, reason, expiresAt}; the last two may be undefined. */
export class BanDialog {
  #dialog;
  #who;

  constructor(people, ban) {
    this.#who = select("targetUserId", people.others.map(({ id, name }) => [id, name]));
    this.#dialog = new Dialog(
      { heading: say("bans.new"), submit: say("bans.ban"), isDanger: true },
      field(say("bans.who"), this.#who),
      field(say("case.reason"), textarea("reason"), { isOptional: true }),
      field(say("bans.until"), element("input", { type: "datetime-local", name: "until" }), {
        isOptional: true,
      }),
    );
    this.#dialog.onSubmit((given) => this.#dialog.finish(() => ban(banFrom(given))));
  }

  /** With somebody chosen already, or nobody. */
  open(userId = null) {
    this.#dialog.open();
    if (userId !== null) this.#who.value = userId;
  }
}

function textarea(name) {
  return element("textarea", { name, rows: 3, maxlength: MOST_REASON });
}

/** The time in the form is in the moderator's time zone. */
function banFrom(given) {
  const until = given.get("until");
  return {
    targetUserId: given.get("targetUserId"),
    reason: given.get("reason").trim() || undefined,
    expiresAt: until ? new Date(until).toISOString() : undefined,
  };
}

export function termsOf({ createdAt, expiresAt, revokedAt }, by) {
  const at = (iso) => ({ when: shortMomentOf(iso) });
  const until = expiresAt === null ? say("bans.forGood") : say("bans.untilThen", at(expiresAt));
  const revoked = revokedAt === null ? [] : [say("bans.revoked", at(revokedAt))];
  const banned = say("bans.by", { name: by });
  return [banned, shortMomentOf(createdAt), until, ...revoked].join(" · ");
}

function isActive({ expiresAt, revokedAt }) {
  return revokedAt === null && (expiresAt === null || new Date(expiresAt) > new Date());
}
