/** The reports on one message, user or conversation, as one case. */

import { element, setAttribute, setText } from "../dom.js";
import { field } from "./dialog.js";
import { Part } from "./part.js";
import { labelOf, smallButton } from "./section.js";

export const statusesIn = (texts) => ({
  open: texts.say("reports.open"),
  triaged: texts.say("reports.triaged"),
  resolved: texts.say("reports.resolved"),
  dismissed: texts.say("reports.dismissed"),
});

const MOST_NOTE = 2_000;
const movesIn = (texts) => [
  ["triaged", texts.say("reports.triage")],
  ["dismissed", texts.say("reports.dismiss")],
  ["resolved", texts.say("reports.resolve")],
];

export class ReportGroupRow extends Part {
  #title = element("span", { class: "person-name", dir: "auto" });
  #count = element("span", { class: "role" });
  #status = element("span", { class: "role" });
  #about = element("p", { class: "terms" });
  #reason = element("p", { class: "case-reason", dir: "auto" });
  #evidence = element("p", { class: "excerpt", dir: "auto" });
  #note = element("textarea", { rows: 1, maxlength: MOST_NOTE });
  #looks;
  #moves;
  #group = null;

  constructor({ shell, move, context, standing }) {
    super(shell);
    const look = (words, type, act) => {
      return { type, button: smallButton(words, () => act(this.#group.targetId)) };
    };
    this.#looks = [
      look(this.say("reports.context"), "message", context),
      look(this.say("standing.title"), "user", standing),
    ];
    const act = (status) => () => move(this.#group, status, this.#note.value);
    const fieldsOf = (status) => (status === "resolved" ? { class: "primary small" } : {});
    this.#moves = movesIn(this.texts).map(([status, words]) => ({
      status,
      button: smallButton(words, act(status), fieldsOf(status)),
    }));
    const buttons = [...this.#looks, ...this.#moves].map((action) => action.button);
    this.node = element(
      "li",
      {},
      element("div", { class: "person" }, this.#title, this.#count, this.#status),
      ...[this.#about, this.#reason, this.#evidence, field(this.say("reports.note"), this.#note)],
      element("div", { class: "ending" }, ...buttons),
    );
  }

  show({ group }) {
    const { latest, count } = group;
    const title = titleOf(this.texts, latest, this.people);
    setText(this.#title, title);
    setText(this.#count, this.say("reports.count", { count }));
    setText(this.#status, statusesIn(this.texts)[latest.status]);
    setText(this.#about, aboutOf(this.texts, latest, this.people));
    setAttribute(this.#about, "title", this.texts.momentOf(latest.createdAt));
    setText(this.#reason, latest.reason);
    setText(this.#evidence, wordsOf(this.texts, latest.evidence, this.people));
    this.#evidence.hidden = this.#evidence.textContent === "";
    this.#showNote(latest);
    this.#group = group;
    this.#showButtons(group, title);
  }

  /** A note that is begun stays. */
  #showNote({ moderatorNote }) {
    const before = this.#group?.latest.moderatorNote ?? "";
    if (this.#note.value === before) this.#note.value = moderatorNote ?? "";
  }

  /** Resolved and dismissed reports stay so. */
  #showButtons({ targetType, latest: { status } }, title) {
    const isOver = !["open", "triaged"].includes(status);
    this.#note.readOnly = isOver;
    for (const { type, button } of this.#looks) button.hidden = type !== targetType;
    for (const move of this.#moves) move.button.hidden = isOver || move.status === status;
    for (const { button } of [...this.#looks, ...this.#moves]) {
      button.setAttribute("aria-label", labelOf(this.texts, button, title));
    }
  }
}

function titleOf(texts, { targetType, targetId, evidence }, people) {
  if (targetType === "user") return people.nameOf(targetId);
  if (targetType === "message") {
    return texts.say("case.message", { name: people.nameOf(evidence.senderId) });
  }
  return evidence.type === "direct" ? texts.say("case.direct") : (evidence.name ?? texts.say("case.group"));
}

function aboutOf(texts, { reporterUserId, createdAt, evidence }, people) {
  const by = { name: people.nameOf(reporterUserId), when: texts.agoOf(createdAt) };
  const isMessage = evidence.targetType === "message";
  const writtenAt = isMessage && { when: texts.shortMomentOf(evidence.createdAt) };
  const written = isMessage ? [texts.say("reports.written", writtenAt)] : [];
  return [...written, texts.say("reports.by", by)].join(" · ");
}

/** The evidence: the target as it was when it was reported. */
function wordsOf(texts, { targetType, body, deletedAt, participantIds }, people) {
  if (targetType === "user") return "";
  if (targetType === "message") return deletedAt ? texts.say("message.deleted") : body;
  return texts.say("reports.with", { names: texts.listOf(participantIds.map((id) => people.nameOf(id))) });
}
