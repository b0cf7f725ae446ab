/** The queue of reports, for moderators: their targets and their status. */

import { element, Rows } from "../../../browser/dom.js";
import { say } from "../words.js";
import { select } from "./dialog.js";
import { ReportGroupRow, STATUSES } from "./report-group.js";
import { ListFoot, Section } from "./section.js";

const WORDS = { failed: say("reports.failed"), empty: say("reports.empty") };
const FILTERS = [["", say("reports.waiting")], ...Object.entries(STATUSES)];

export class ReportsSection {
  #filter = select("status", FILTERS);
  #list = element("ul", { class: "cases" });
  #foot;
  #rows;
  #section;
  #casework;

  /** `looks` are {context(messageId), standing(userId)}: what there is to look at. */
  constructor(casework, people, looks) {
    this.#casework = casework;
    this.#foot = new ListFoot(() => casework.groups.more());
    const move = (...moved) => this.#move(...moved);
    this.#rows = new Rows(this.#list, { people, move, ...looks });
    this.#filter.setAttribute("aria-label", say("reports.status"));
    this.#filter.addEventListener("change", () => {
      this.complain("");
      casework.listReports(this.#filter.value);
    });
    this.#section = new Section(say("reports.title"), [this.#filter], this.#list, this.#foot.node);
    this.node = this.#section.node;
  }

  complain(words) {
    this.#section.complain(words);
  }

  show() {
    const { groups } = this.#casework;
    this.#rows.show(
      groups.items.map((group) => ({
        key: `${group.targetType} ${group.targetId}`,
        Row: ReportGroupRow,
        state: { group },
      })),
    );
    this.#foot.show(groups, WORDS);
  }

  async #move(...moved) {
    await this.#section.attempt(() => this.#casework.move(...moved));
    this.#section.keepFocus();
  }
}
