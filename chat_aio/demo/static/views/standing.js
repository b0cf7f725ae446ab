/** What moderators know of somebody, and what they do about them. */

import { element, Rows, setText } from "../../../browser/dom.js";
import { shortMomentOf } from "../times.js";
import { termsOf } from "./bans.js";
import { Dialog } from "./dialog.js";
import { RemovalsSection } from "./removals.js";
import { STATUSES } from "./report-group.js";
import { Section, smallButton } from "./section.js";

export class StandingDialog {
  #ban = smallButton("Ban", () => this.#needs.ban(this.#userId), {
    class: "primary danger small",
  });
  #bans = new Facts("Bans", "Never banned.", [this.#ban]);
  #reports = new Facts("Reports", "Nobody has reported them.");
  #conversations = new Facts("Conversations", "None.");
  #removals;
  #dialog;
  #desk;
  #people;
  #needs;
  #userId = null;

  /** `needs.ban(userId)` asks why and until when. */
  constructor(desk, people, needs) {
    this.#desk = desk;
    this.#people = people;
    this.#needs = needs;
    this.#removals = new RemovalsSection(desk);
    const sections = [this.#bans, this.#reports, this.#conversations, this.#removals];
    const given = { heading: "Standing", cancel: "Close" };
    this.#dialog = new Dialog(given, ...sections.map((each) => each.node));
    this.#dialog.onClose(() => this.#removals.stop());
  }

  open(userId) {
    this.#userId = userId;
    for (const each of [this.#bans, this.#reports, this.#conversations]) each.show([], "Loading…");
    this.#removals.open(userId, this.#people.nameOf(userId));
    this.#dialog.open({ heading: `Standing of ${this.#people.nameOf(userId)}` });
    return this.load();
  }

  /** A ban may have changed it. */
  async load() {
    if (!this.#dialog.isOpen) return;
    const asked = this.#userId;
    await this.#bans.section.explain(async () => {
      const standing = await this.#desk.getStanding(asked);
      if (asked === this.#userId) this.#show(standing);
    });
  }

  #show(standing) {
    const { activeBan, bans, latestReportsReceived, conversations, conversationCount } = standing;
    const { reportsReceived, unresolvedReportsReceived, reportsMade } = standing;
    this.#ban.hidden = activeBan !== null;
    this.#bans.show(bans.map((each) => this.#ofBan(each, activeBan)));
    this.#reports.show(
      latestReportsReceived.map((each) => this.#ofReport(each)),
      `${reportsReceived} received, ${unresolvedReportsReceived} waiting · ${reportsMade} made`,
    );
    this.#removals.suggest(
      conversations.map((each) => ({ id: each.conversationId, title: ofConversation(each).words })),
    );
    this.#conversations.show(
      conversations.map(ofConversation),
      conversationCount === 1 ? "In one" : `In ${conversationCount}`,
    );
  }

  #ofBan(ban, activeBan) {
    const inForce = ban.id === activeBan?.id ? "In force · " : "";
    const about = inForce + termsOf(ban, this.#people.nameOf(ban.createdByUserId));
    return { key: ban.id, words: ban.reason ?? "No reason given", about };
  }

  #ofReport({ id, status, reporterUserId, createdAt, reason }) {
    const by = `${STATUSES[status]} · By ${this.#people.nameOf(reporterUserId)}`;
    return { key: id, words: reason, about: `${by}, ${shortMomentOf(createdAt)}` };
  }
}

/** A list of what is known, under a line that sums it up. */
class Facts {
  #list = element("ul", { class: "context" });
  #sum = element("p", { class: "terms", role: "status" });
  #rows = new Rows(this.#list, null);
  #empty;
  section;
  node;

  constructor(title, empty, actions = []) {
    this.#empty = empty;
    this.section = new Section(title, actions, this.#sum, this.#list);
    this.node = this.section.node;
  }

  /** `facts` are {key, words, about}. */
  show(facts, sum = "") {
    setText(this.#sum, sum || (facts.length === 0 ? this.#empty : ""));
    this.#rows.show(facts.map(({ key, ...state }) => ({ key, Row: Fact, state })));
  }
}

class Fact {
  #words = element("p", { class: "case-reason", dir: "auto" });
  #about = element("p", { class: "terms" });
  node = element("li", {}, this.#words, this.#about);

  show({ words, about }) {
    setText(this.#words, words);
    setText(this.#about, about);
  }
}

function ofConversation({ conversationId, type, name, participantCount, role }) {
  const words = type === "direct" ? "A direct conversation" : (name ?? "A group");
  const people = participantCount === 1 ? "1 person" : `${participantCount} people`;
  return { key: conversationId, words, about: role === "admin" ? `${people} · Admin` : people };
}
