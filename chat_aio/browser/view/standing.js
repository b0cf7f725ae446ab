/** The record of a user, for moderators, and their actions. */

import { element, Rows, setText } from "../dom.js";
import { termsOf } from "./bans.js";
import { Dialog } from "./dialog.js";
import { countOf } from "./group-words.js";
import { Part } from "./part.js";
import { RemovalsSection } from "./removals.js";
import { statusesIn } from "./report-group.js";
import { Section, smallButton } from "./section.js";

export class StandingDialog extends Part {
  #ban = smallButton(this.say("bans.ban"), () => this.#needs.ban(this.#userId), {
    class: "primary danger small",
  });
  #bans = new Facts(this.shell, this.say("bans.title"), this.say("standing.neverBanned"), [this.#ban]);
  #reports = new Facts(this.shell, this.say("reports.title"), this.say("standing.neverReported"));
  #conversations = new Facts(this.shell, this.say("list.label"), this.say("standing.inNone"));
  #removals;
  #dialog;
  #desk;
  #needs;
  #userId = null;

  /** `needs.ban(userId)` opens the form. */
  constructor(shell, desk, needs) {
    super(shell);
    this.#desk = desk;
    this.#needs = needs;
    this.#removals = new RemovalsSection(this.shell, desk);
    const sections = [this.#bans, this.#reports, this.#conversations, this.#removals];
    const given = { heading: this.say("standing.title"), cancel: this.say("common.close") };
    this.#dialog = new Dialog(this.shell, given, ...sections.map((section) => section.node));
    this.#dialog.onClose(() => this.#removals.stop());
  }

  open(userId) {
    this.#userId = userId;
    const waiting = this.say("common.loading");
    const sections = [this.#bans, this.#reports, this.#conversations];
    for (const section of sections) section.show([], waiting);
    this.#removals.open(userId);
    const name = this.people.nameOf(userId);
    this.#dialog.open({ heading: this.say("standing.titleOf", { name }) });
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
      reportsOf(this.texts, standing),
    );
    this.#removals.suggest(
      conversations.map((conversation) => ({
        id: conversation.conversationId,
        title: ofConversation(this.texts, conversation).words,
      })),
    );
    this.#conversations.show(
      conversations.map((conversation) => ofConversation(this.texts, conversation)),
      this.say("standing.inConversations", { count: conversationCount }),
    );
  }

  #ofBan(ban, activeBan) {
    const inForce = ban.id === activeBan?.id ? `${this.say("standing.inForce")} · ` : "";
    const about = inForce + termsOf(this.texts, ban, this.people.nameOf(ban.createdByUserId));
    return { key: ban.id, words: ban.reason ?? this.say("standing.noReason"), about };
  }

  #ofReport({ id, status, reporterUserId, createdAt, reason }) {
    const by = { name: this.people.nameOf(reporterUserId), when: this.texts.shortMomentOf(createdAt) };
    const about = `${statusesIn(this.texts)[status]} · ${this.say("standing.reportedBy", by)}`;
    return { key: id, words: reason, about };
  }
}

function reportsOf(texts, { reportsReceived, unresolvedReportsReceived, reportsMade }) {
  const received = { received: reportsReceived, waiting: unresolvedReportsReceived };
  const made = texts.say("standing.reportsMade", { made: reportsMade });
  return [texts.say("standing.reportsReceived", received), made].join(" · ");
}

/** A list of entries, below a line that sums them up. */
class Facts extends Part {
  #list = element("ul", { class: "context" });
  #sum = element("p", { class: "terms", role: "status" });
  #rows = new Rows(this.#list, { shell: this.shell });
  #empty;
  section;
  node;

  constructor(shell, title, empty, actions = []) {
    super(shell);
    this.#empty = empty;
    this.section = new Section(this.shell, title, actions, this.#sum, this.#list);
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

function ofConversation(texts, { conversationId, type, name, participantCount, role }) {
  const words = type === "direct" ? texts.say("case.direct") : (name ?? texts.say("case.group"));
  const people = countOf(texts, participantCount);
  const about = role === "admin" ? `${people} · ${texts.say("members.admin")}` : people;
  return { key: conversationId, words, about };
}
