/** The bans from a group, for its admins. */

import { avatar, element, Rows, setAttribute, setAvatar, setText } from "../dom.js";
import { Part } from "./part.js";
import { ListFoot, Section, smallButton } from "./section.js";

const wordsIn = (texts) => ({ failed: texts.say("bans.failed"), empty: texts.say("bans.empty") });

export class RoomBansSection extends Part {
  #list = element("ul", { class: "requests" });
  #foot = new ListFoot(this.shell, () => this.#admission.bans.more());
  #rows = new Rows(this.#list, { shell: this.shell, lift: (ban) => this.#lift(ban) });
  #section;
  #admission = null;

  constructor(shell) {
    super(shell);
    this.#section = new Section(this.shell, this.say("roomBans.title"), [], this.#list, this.#foot.node);
    this.node = this.#section.node;
  }

  show(admission) {
    if (admission !== this.#admission) this.#section.complain("");
    this.#admission = admission;
    this.#rows.show(admission.bans.items.map((ban) => this.#rowOf(ban)));
    this.#foot.show(admission.bans, wordsIn(this.texts));
  }

  #rowOf(ban) {
    const { userId, createdByUserId, createdAt } = ban;
    const picture = this.people.pictureOfPerson(userId);
    const [name, by] = [userId, createdByUserId].map((id) => this.people.nameOf(id));
    return { key: userId, Row: BanRow, state: { ban, name, by, ago: this.texts.agoOf(createdAt), ...picture } };
  }

  async #lift(ban) {
    const admission = this.#admission;
    await this.#section.attempt(() => admission.lift(ban));
    this.#section.keepFocus();
  }
}

class BanRow extends Part {
  #avatar = avatar();
  #name = element("span", { class: "person-name", dir: "auto" });
  #time = element("time", { class: "row-time" });
  #reason = element("p", { class: "request-note", dir: "auto" });
  #by = element("span", { class: "hint" });
  #lift;
  #ban = null;

  constructor({ shell, lift }) {
    super(shell);
    this.#lift = smallButton(this.say("roomBans.lift"), () => lift(this.#ban));
    this.node = element(
      "li",
      {},
      element("div", { class: "person" }, this.#avatar, this.#name, this.#time),
      this.#reason,
      element("div", { class: "ending" }, this.#by, this.#lift),
    );
  }

  show({ ban, name, by, ago, ...picture }) {
    this.#ban = ban;
    setAvatar(this.#avatar, picture);
    setText(this.#name, name);
    setText(this.#time, ago);
    setAttribute(this.#time, "datetime", ban.createdAt);
    setAttribute(this.#time, "title", this.texts.momentOf(ban.createdAt));
    setText(this.#reason, ban.reason ?? "");
    this.#reason.hidden = ban.reason === null;
    setText(this.#by, this.say("roomBans.by", { name: by }));
    this.#lift.setAttribute("aria-label", this.say("roomBans.liftOf", { name }));
  }
}
