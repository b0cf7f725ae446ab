/** The reports on one message, user or conversation, as one case. */

import { element, setAttribute, setText } from "../../../browser/dom.js";
import { agoOf, momentOf, shortMomentOf } from "../times.js";
import { listOf, say } from "../words.js";
import { field } from "./dialog.js";
import { labelOf, smallButton } from "./section.js";

export const STATUSES = {
  open: say("reports.open"),
  triaged: say("reports.triaged"),
  resolved: say("reports.resolved"),
  dismissed: say("reports.dismissed"),
};

const MOST_NOTE = 2_000;
const MOVES = [
  ["triaged", say("reports.triage")],
  ["dismissed", say("reports.dismiss")],
  ["resolved", say("reports.resolve")],
];

export class ReportGroupRow {
  #title = element("span", { class: "person-name", dir: "auto" });
  #count = element("span", { class: "role" });
  #status = element("span", { class: "role" });
  #about = element("p", { class: "terms" });
  #reason = element("p", { class: "case-reason", dir: "auto" });
  #evidence = element("p", { class: "excerpt", dir: "auto" });
  #note = element("textarea", { rows: 1, maxlength: MOST_NOTE });
  #looks;
  #moves;
  #people;
  #group = null;

  constructor({ people, move, context, standing }) {
    this.#people = people;
    const look = (words, type, act) => {
      return { type, button: smallButton(words, () => act(this.#group.targetId)) };
    };
    this.#looks = [
      look(say("reports.context"), "message", context),
      look(say("standing.title"), "user", standing),
    ];
    const act = (status) => () => move(this.#group, status, this.#note.value);
    const fieldsOf = (status) => (status === "resolved" ? { class: "primary small" } : {});
    this.#moves = MOVES.map(([status, words]) => ({
      status,
      button: smallButton(words, act(status), fieldsOf(status)),
    }));
    const buttons = [...this.#looks, ...this.#moves].map((action) => action.button);
    this.node = element(
      "li",
      {},
      element("div", { class: "person" }, this.#title, this.#count, this.#status),
      ...[this.#about, this.#reason, this.#evidence, field(say("reports.note"), this.#note)],
      element("div", { class: "ending" }, ...buttons),
    );
  }

  show({ group }) {
    const { latest, count } = group;
    const title = titleOf(latest, this.#people);
    setText(this.#title, title);
    setText(this.#count, say("reports.count", { count }));
    setText(this.#status, STATUSES[latest.status]);
    setText(this.#about, aboutOf(latest, this.#people));
    setAttribute(this.#about, "title", momentOf(latest.createdAt));
    setText(this.#reason, latest.reason);
    setText(this.#evidence, wordsOf(latest.evidence, this.#people));
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
      button.setAttribute("aria-label", labelOf(button, title));
    }
  }
}

function titleOf({ targetType, targetId, evidence }, people) {
  if (targetType === "user") return people.nameOf(targetId);
  if (targetType === "message") {
    return say("case.message", { name: people.nameOf(evidence.senderId) });
  }
  return evidence.type === "direct" ? say("case.direct") : (evidence.name ?? say("case.group"));
}

function aboutOf({ reporterUserId, createdAt, evidence }, people) {
  const by = { name: people.nameOf(reporterUserId), when: agoOf(createdAt) };
  const isMessage = evidence.targetType === "message";
  const writtenAt = isMessage && { when: shortMomentOf(evidence.createdAt) };
  const written = isMessage ? [say("reports.written", writtenAt)] : [];
  return [...written, say("reports.by", by)].join(" · ");
}

/** The evidence: the target as it was when it was reported. */
function wordsOf({ targetType, body, deletedAt, participantIds }, people) {
  if (targetType === "user") return "";
  if (targetType === "message") return deletedAt ? say("message.deleted") : body;
  return say("reports.with", { names: listOf(participantIds.map((id) => people.nameOf(id))) });
}
