/**
 * The details of a conversation, next to it: mute and block; of a group its settings, its members,
 * and how users join.
 */

import { element } from "../dom.js";
import { BoundariesSection } from "./boundaries.js";
import { InvitesSection } from "./invites.js";
import { MembersSection } from "./members.js";
import { Panel } from "./panel.js";
import { Part } from "./part.js";
import { PinsSection } from "./pins.js";
import { RequestsSection } from "./requests.js";
import { RoomBansSection } from "./room-bans.js";
import { SettingsSection } from "./settings.js";

export class DetailsPanel extends Part {
  #panel = new Panel(this.shell, "details", {
    ...{ title: this.say("details.title"), close: this.say("details.close") },
  });
  node = this.#panel.node;
  #settings;
  #members;
  #invites;
  #requests;
  #bans;
  #boundaries;
  #pins;
  #needs;
  #admission = null;
  #shownIds = "";
  #shownStatus = null;

  /**
   * `needs.groups` and `needs.boundaries` make changes, `needs.reporting` loads the dialog,
   * `needs.presence` has the online users, `needs.admissionTo(id)` brings links and requests.
   */
  constructor(shell, needs) {
    super(shell);
    this.#needs = needs;
    const { groups, presence } = needs;
    this.#settings = new SettingsSection(this.shell, (group, fields) => groups.update(group, fields));
    this.#members = new MembersSection(this.shell, groups, presence);
    this.#invites = new InvitesSection(this.shell);
    this.#requests = new RequestsSection(this.shell);
    this.#bans = new RoomBansSection(this.shell);
    this.#boundaries = new BoundariesSection(this.shell, needs);
    this.#pins = new PinsSection(this.shell, needs);
    const sections = [this.#pins, ...this.#groupSections, this.#boundaries];
    const content = [...sections.map((section) => section.node), this.#members.end];
    this.node.append(element("div", { class: "details" }, ...content));
  }

  focus() {
    this.#panel.focus();
  }

  show() {
    const { openDetails } = this.store;
    if (openDetails) {
      this.#panel.show(openDetails);
      this.#boundaries.show(openDetails);
      this.#pins.show(openDetails);
    }
    this.#showGroup(openDetails?.type === "group" ? openDetails : null);
  }

  /** After an event of a join request or a ban. */
  receive(event) {
    this.#admission?.receive(event);
  }

  get #groupSections() {
    return [this.#requests, this.#members, this.#invites, this.#settings, this.#bans];
  }

  #showGroup(group) {
    for (const section of this.#groupSections) section.node.hidden = group === null;
    this.#members.end.hidden = group === null;
    const members = group?.participants ?? [];
    this.#needs.presence.watch("members", members.map((member) => member.userId));
    if (!group) {
      this.#admission = null;
      return;
    }
    this.#members.show(group);
    this.#settings.show(group);
    this.#showAdmission(group);
  }

  #showAdmission(group) {
    const isAdmin = this.people.isAdminOf(group);
    this.#invites.node.hidden = !isAdmin;
    this.#requests.node.hidden = !isAdmin;
    this.#bans.node.hidden = !isAdmin;
    if (!isAdmin) {
      this.#admission = null;
      return;
    }
    const isOther = this.#admission?.conversationId !== group.id;
    if (isOther) this.#admission = this.#needs.admissionTo(group.id);
    const ids = group.participants.map((participant) => participant.userId).join(" ");
    const { status } = this.store;
    const isBack = status === "live" && this.#shownStatus !== "live";
    // New members may have used an invite, or had a join request.
    if (isOther || isBack || ids !== this.#shownIds) this.#admission.reload();
    this.#shownIds = ids;
    this.#shownStatus = status;
    this.#invites.show(this.#admission);
    this.#requests.show(this.#admission);
    this.#bans.show(this.#admission);
  }
}
