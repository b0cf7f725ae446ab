/** In the details: muting a conversation, blocking the other of a direct one, reporting. */

import { element, setText } from "../dom.js";
import { Part } from "./part.js";
import { Section, smallButton } from "./section.js";

export class BoundariesSection extends Part {
  #about = element("p", { class: "terms" });
  #mute = smallButton("", () => this.#toggleMute());
  #block = smallButton("", () => this.#toggleBlock());
  #report = smallButton("", () => this.#openReport());
  #section;
  #boundaries;
  #reporting;
  #shown = null;

  /** `boundaries` makes changes, `reporting` loads the dialog. */
  constructor(shell, { boundaries, reporting }) {
    super(shell);
    this.#boundaries = boundaries;
    this.#reporting = reporting;
    const buttons = element("div", { class: "acts" }, this.#mute, this.#block, this.#report);
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
    setText(this.#mute, isMuted ? this.say("boundaries.unmute") : this.say("boundaries.mute"));
    const named = { name: name ?? "" };
    const isBlocked = blockedIds.has(other);
    setText(this.#block, isBlocked ? this.say("blocked.endNamed", named) : this.say("blocked.begin", named));
    setText(this.#report, other ? this.say("report.named", named) : this.say("report.group"));
    this.#block.hidden = other === null;
    const isNobody = conversation.type === "direct" && other === null;
    this.#report.hidden = isNobody || !this.shell.has("reports");
  }

  #toggleMute() {
    const { id } = this.#shown;
    const isMuted = this.store.mutedIds.has(id);
    const act = () => (isMuted ? this.#boundaries.unmute(id) : this.#boundaries.mute(id));
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
