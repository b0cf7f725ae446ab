/** Bans, for moderators: their users, times and reasons; and the form of a new one. */

import { avatar, element, Rows, setAvatar, setText } from "../dom.js";
import { Dialog, field, select } from "./dialog.js";
import { Part } from "./part.js";
import { ListFoot, Section, smallButton } from "./section.js";

const MOST_REASON = 1_000;
const filtersIn = (texts) => [["active", texts.say("bans.active")], ["", texts.say("bans.all")]];

export class BansSection extends Part {
  #filter = select("active", filtersIn(this.texts));
  #ban;
  #list = element("ul", { class: "cases" });
  #foot;
  #rows;
  #section;
  #casework;

  /** `ban()` opens the form. */
  constructor(shell, casework, ban) {
    super(shell);
    this.#casework = casework;
    this.#ban = smallButton(this.say("bans.new"), () => ban());
    this.#foot = new ListFoot(this.shell, () => casework.bans.more());
    this.#rows = new Rows(this.#list, { shell: this.shell, revoke: (ban) => this.#revoke(ban) });
    this.#filter.setAttribute("aria-label", this.say("bans.which"));
    this.#filter.addEventListener("change", () => {
      this.complain("");
      casework.listBans(this.#filter.value === "active");
    });
    const actions = element("div", { class: "acts" }, this.#filter, this.#ban);
    this.#section = new Section(this.shell, this.say("bans.title"), [actions], this.#list, this.#foot.node);
    this.node = this.#section.node;
  }

  complain(words) {
    this.#section.complain(words);
  }

  show() {
    const { bans, isActiveOnly } = this.#casework;
    this.#rows.show(bans.items.map((ban) => this.#rowOf(ban)));
    const empty = isActiveOnly ? this.say("bans.empty") : this.say("bans.never");
    this.#foot.show(bans, { failed: this.say("bans.failed"), empty });
  }

  #rowOf(ban) {
    const { userId, createdByUserId } = ban;
    const by = this.people.nameOf(createdByUserId);
    const picture = this.people.pictureOfPerson(userId);
    const state = { ban, name: this.people.nameOf(userId), by, ...picture };
    return { key: ban.id, Row: BanRow, state };
  }

  async #revoke(ban) {
    await this.#section.attempt(() => this.#casework.revoke(ban));
    this.#section.keepFocus();
  }
}

class BanRow extends Part {
  #avatar = avatar();
  #name = element("span", { class: "person-name", dir: "auto" });
  #reason = element("p", { class: "case-reason", dir: "auto" });
  #terms = element("p", { class: "terms" });
  #revoke;
  #ban = null;

  constructor({ shell, revoke }) {
    super(shell);
    this.#revoke = smallButton(this.say("bans.revoke"), () => revoke(this.#ban));
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
    setText(this.#terms, termsOf(this.texts, ban, by));
    this.#revoke.hidden = !isActive(ban);
    this.#revoke.setAttribute("aria-label", this.say("bans.revokeOf", { name }));
  }
}

/** `ban(given)` with {targetUserId, reason, expiresAt}; the last two may be undefined. */
export class BanDialog extends Part {
  #dialog;
  #who;

  constructor(shell, ban) {
    super(shell);
    const { people } = shell;
    this.#who = select("targetUserId", people.others.map(({ id, name }) => [id, name]));
    this.#dialog = new Dialog(this.shell,
      { heading: this.say("bans.new"), submit: this.say("bans.ban"), isDanger: true },
      field(this.say("bans.who"), this.#who),
      field(this.say("case.reason"), textarea("reason"), { optional: this.say("common.optional") }),
      field(this.say("bans.until"), element("input", { type: "datetime-local", name: "until" }), { optional: this.say("common.optional") }),
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

export function termsOf(texts, { createdAt, expiresAt, revokedAt }, by) {
  const at = (iso) => ({ when: texts.shortMomentOf(iso) });
  const until = expiresAt === null ? texts.say("bans.forGood") : texts.say("bans.untilThen", at(expiresAt));
  const revoked = revokedAt === null ? [] : [texts.say("bans.revoked", at(revokedAt))];
  const banned = texts.say("bans.by", { name: by });
  return [banned, texts.shortMomentOf(createdAt), until, ...revoked].join(" · ");
}

function isActive({ expiresAt, revokedAt }) {
  return revokedAt === null && (expiresAt === null || new Date(expiresAt) > new Date());
}
