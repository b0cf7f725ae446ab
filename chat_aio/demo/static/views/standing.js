/** The record of a user, for moderators, and their actions. */

import { element, Rows, setText } from "../../../browser/dom.js";
import { shortMomentOf } from "../times.js";
import { say } from "../words.js";
import { termsOf } from "./bans.js";
import { Dialog } from "./dialog.js";
import { countOf } from "./group-words.js";
import { RemovalsSection } from "./removals.js";
import { STATUSES } from "./report-group.js";
import { Section, smallButton } from "./section.js";

export class StandingDialog {
  #ban = smallButton(say("bans.ban"), () => this.#needs.ban(this.#userId), {
    class: "primary danger small",
  });
  #bans = new Facts(say("bans.title"), say("standing.neverBanned"), [this.#ban]);
  #reports = new Facts(say("reports.title"), say("standing.neverReported"));
  #conversations = new Facts(say("list.label"), say("standing.inNone"));
  #removals;
  #dialog;
  #desk;
  #people;
  #needs;
  #userId = null;

  /** `needs.ban(userId)` opens the form. */
  constructor(desk, people, needs) {
    this.#desk = desk;
    this.#people = people;
    this.#needs = needs;
    this.#removals = new RemovalsSection(desk);
    const sections = [this.#bans, this.#reports, this.#conversations, this.#removals];
    const given = { heading: say("standing.title"), cancel: say("common.close") };
    this.#dialog = new Dialog(given, ...sections.map((section) => section.node));
    this.#dialog.onClose(() => this.#removals.stop());
  }

  open(userId) {
    this.#userId = userId;
    const waiting = say("common.loading");
    const sections = [this.#bans, this.#reports, this.#conversations];
    for (const section of sections) section.show([], waiting);
    this.#removals.open(userId);
    const name = this.#people.nameOf(userId);
    this.#dialog.open({ heading: say("standing.titleOf", { name }) });
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
    this.#ban.hidden = activeBan !== null;
    this.#bans.show(bans.map((ban) => this.#ofBan(ban, activeBan)));
    this.#reports.show(
      latestReportsReceived.map((report) => this.#ofReport(report)),
      reportsOf(standing),
    );
    this.#removals.suggest(
      conversations.map((conversation) => ({
        id: conversation.conversationId,
        title: ofConversation(conversation).words,
      })),
    );
    this.#conversations.show(
      conversations.map(ofConversation),
      say("standing.inConversations", { count: conversationCount }),
    );
  }

  #ofBan(ban, activeBan) {
    const inForce = ban.id === activeBan?.id ? `${say("standing.inForce")} · ` : "";
    const about = inForce + termsOf(ban, this.#people.nameOf(ban.createdByUserId));
    return { key: ban.id, words: ban.reason ?? say("standing.noReason"), about };
  }

  #ofReport({ id, status, reporterUserId, createdAt, reason }) {
    const by = { name: this.#people.nameOf(reporterUserId), when: shortMomentOf(createdAt) };
    const about = `${STATUSES[status]} · ${say("standing.reportedBy", by)}`;
    return { key: id, words: reason, about };
  }
}

function reportsOf({ reportsReceived, unresolvedReportsReceived, reportsMade }) {
  const received = { received: reportsReceived, waiting: unresolvedReportsReceived };
  const made = say("standing.reportsMade", { made: reportsMade });
  return [say("standing.reportsReceived", received), made].join(" · ");
}

/** A list of entries, below a line that sums them up. */
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
  const words = type === "direct" ? say("case.direct") : (name ?? say("case.group"));
  const people = countOf(participantCount);
  const about = role === "admin" ? `${people} · ${say("members.admin")}` : people;
  return { key: conversationId, words, about };
}
