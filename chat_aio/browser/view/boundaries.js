/** In the details: favourites, archive and mute, blocking the other of a direct one, reporting. */

import { element, setText } from "../dom.js";
import { OwnActs } from "./own-acts.js";
import { Part } from "./part.js";
import { Section, smallButton } from "./section.js";

const OWN = ["favourite", "archived", "muted"];

export class BoundariesSection extends Part {
  #about = element("p", { class: "terms" });
  #own = new Map(OWN.map((name) => [name, smallButton("", () => this.#act(name))]));
  #block = smallButton("", () => this.#toggleBlock());
  #report = smallButton("", () => this.#openReport());
  #section;
  #acts;
  #boundaries;
  #reporting;
  #shown = null;

  /** `session` makes changes, `reporting` loads the dialog. */
  constructor(shell, { session, reporting }) {
    super(shell);
    this.#acts = new OwnActs(shell, session);
    this.#boundaries = session.boundaries;
    this.#reporting = reporting;
    const others = [this.#block, this.#report];
    const buttons = element("div", { class: "acts" }, ...this.#own.values(), ...others);
    this.#section = new Section(this.shell, "", [], this.#about, buttons);
    this.node = this.#section.node;
  }

  show(conversation) {
    if (conversation.id !== this.#shown?.id) this.#section.complain("");
    this.#shown = conversation;
    const { mutedIds, blockedIds } = this.store;
    const isMuted = mutedIds.has(conversation.id);
    const other = this.people.otherIn(conversation);
    const name = other && this.people.nameOf(other);
    this.#section.title(other ? this.say("boundaries.titleOfBoth") : this.say("boundaries.title"));
    setText(this.#about, isMuted ? this.say("boundaries.muted") : this.say("boundaries.loud"));
    const labels = new Map(this.#acts.of(conversation).map(({ name: act, label }) => [act, label]));
    for (const [act, button] of this.#own) {
      setText(button, labels.get(act) ?? "");
      button.hidden = !labels.has(act);
    }
    const named = { name: name ?? "" };
    const isBlocked = blockedIds.has(other);
    setText(this.#block, isBlocked ? this.say("blocked.endNamed", named) : this.say("blocked.begin", named));
    setText(this.#report, other ? this.say("report.named", named) : this.say("report.group"));
    this.#block.hidden = other === null;
    const isNobody = conversation.type === "direct" && other === null;
    this.#report.hidden = isNobody || !this.shell.has("reports");
  }

  #act(name) {
    const { act } = this.#acts.of(this.#shown).find((own) => own.name === name);
    this.#section.attempt(act);
  }

  #toggleBlock() {
    const other = this.people.otherIn(this.#shown);
    const isBlocked = this.store.blockedIds.has(other);
    const act = () => (isBlocked ? this.#boundaries.unblock(other) : this.#boundaries.block(other));
    this.#section.attempt(act);
  }

  async #openReport() {
    const conversation = this.#shown;
    const other = this.people.otherIn(conversation);
    const dialog = await this.#reporting.get();
    if (other) dialog.openForUser(other, this.people.nameOf(other));
    else dialog.openForGroup(conversation, this.people.titleOf(conversation));
  }
}
