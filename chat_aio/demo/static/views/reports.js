/** The queue of reports, for moderators: each with its evidence, and what becomes of it. */

import { element, Rows, setAttribute, setText } from "../dom.js";
import { agoOf, momentOf, shortMomentOf } from "../times.js";
import { field, select } from "./dialog.js";
import { ListFoot, Section, smallButton } from "./section.js";

const MOST_NOTE = 2_000;
const WORDS = { failed: "The reports did not load.", empty: "No reports." };
const STATUSES = { open: "Open", triaged: "Triaged", resolved: "Resolved", dismissed: "Dismissed" };
const FILTERS = [...Object.entries(STATUSES), ["", "All"]];
const MOVES = [["triaged", "Triage"], ["dismissed", "Dismiss"], ["resolved", "Resolve"]];

export class ReportsSection {
  #filter = select("status", FILTERS);
  #list = element("ul", { class: "cases" });
  #foot;
  #rows;
  #section;
  #casework;
  #people;

  constructor(casework, people) {
    this.#casework = casework;
    this.#people = people;
    this.#foot = new ListFoot(() => casework.reports.more());
    this.#rows = new Rows(this.#list, { people, move: (...moved) => this.#move(...moved) });
    this.#filter.setAttribute("aria-label", "Status of the reports");
    this.#filter.addEventListener("change", () => {
      this.complain("");
      casework.listReports(this.#filter.value);
    });
    this.#section = new Section("Reports", [this.#filter], this.#list, this.#foot.node);
    this.node = this.#section.node;
  }

  complain(words) {
    this.#section.complain(words);
  }

  show() {
    const { reports } = this.#casework;
    this.#rows.show(
      reports.items.map((report) => ({ key: report.id, Row: ReportRow, state: { report } })),
    );
    this.#foot.show(reports, WORDS);
  }

  async #move(...moved) {
    await this.#section.attempt(() => this.#casework.move(...moved));
    this.#section.keepFocus();
  }
}

class ReportRow {
  #title = element("span", { class: "person-name" });
  #status = element("span", { class: "role" });
  #about = element("p", { class: "terms" });
  #reason = element("p", { class: "case-reason", dir: "auto" });
  #evidence = element("p", { class: "excerpt", dir: "auto" });
  #note = element("textarea", { rows: 1, maxlength: MOST_NOTE });
  #buttons;
  #people;
  #report = null;

  constructor({ people, move }) {
    this.#people = people;
    const act = (status) => () => move(this.#report, status, this.#note.value);
    const fieldsOf = (status) => (status === "resolved" ? { class: "primary small" } : {});
    this.#buttons = MOVES.map(([status, words]) => ({
      status,
      button: smallButton(words, act(status), fieldsOf(status)),
    }));
    this.node = element(
      "li",
      {},
      element("div", { class: "person" }, this.#title, this.#status),
      ...[this.#about, this.#reason, this.#evidence, field("Note", this.#note)],
      element("div", { class: "ending" }, ...this.#buttons.map((each) => each.button)),
    );
  }

  show({ report }) {
    const before = this.#report?.moderatorNote ?? "";
    this.#report = report;
    const { evidence, createdAt } = report;
    const title = titleOf(report, this.#people);
    setText(this.#title, title);
    setText(this.#status, STATUSES[report.status]);
    setText(this.#about, aboutOf(report, this.#people));
    setAttribute(this.#about, "title", momentOf(createdAt));
    setText(this.#reason, report.reason);
    setText(this.#evidence, wordsOf(evidence, this.#people));
    this.#evidence.hidden = this.#evidence.textContent === "";
    // A note that is begun stays.
    if (this.#note.value === before) this.#note.value = report.moderatorNote ?? "";
    for (const { status, button } of this.#buttons) {
      button.hidden = status === report.status;
      button.setAttribute("aria-label", `${button.textContent}: ${title}`);
    }
  }
}

function titleOf({ targetType, targetId, evidence }, people) {
  if (targetType === "user") return people.nameOf(targetId);
  if (targetType === "message") return `A message by ${people.nameOf(evidence.senderId)}`;
  return evidence.type === "direct" ? "A direct conversation" : (evidence.name ?? "A group");
}

function aboutOf({ reporterUserId, createdAt, evidence }, people) {
  const reported = `Reported by ${people.nameOf(reporterUserId)}, ${agoOf(createdAt)}`;
  const isMessage = evidence.targetType === "message";
  const written = isMessage ? [`Written ${shortMomentOf(evidence.createdAt)}`] : [];
  return [...written, reported].join(" · ");
}

/** What was there when it was reported. */
function wordsOf({ targetType, body, deletedAt, participantIds }, people) {
  if (targetType === "user") return "";
  if (targetType === "message") return deletedAt ? "This message was deleted" : body;
  return `With ${participantIds.map((id) => people.nameOf(id)).join(", ")}`;
}
