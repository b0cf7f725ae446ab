/** The queue of reports, for moderators: their targets and their status. */

import { element, Rows } from "../dom.js";
import { select } from "./dialog.js";
import { Part } from "./part.js";
import { ReportGroupRow, statusesIn } from "./report-group.js";
import { ListFoot, Section } from "./section.js";

const wordsIn = (texts) => ({ failed: texts.say("reports.failed"), empty: texts.say("reports.empty") });
const filtersIn = (texts) => [["", texts.say("reports.waiting")], ...Object.entries(statusesIn(texts))];

export class ReportsSection extends Part {
  #filter = select("status", filtersIn(this.texts));
  #list = element("ul", { class: "cases" });
  #foot;
  #rows;
  #section;
  #casework;

  /** `looks` are {context(messageId), standing(userId)}: what there is to look at. */
  constructor(shell, casework, looks) {
    super(shell);
    const { people } = shell;
    this.#casework = casework;
    this.#foot = new ListFoot(this.shell, () => casework.groups.more());
    const move = (...moved) => this.#move(...moved);
    this.#rows = new Rows(this.#list, { shell: this.shell, people, move, ...looks });
    this.#filter.setAttribute("aria-label", this.say("reports.status"));
    this.#filter.addEventListener("change", () => {
      this.complain("");
      casework.listReports(this.#filter.value);
    });
    this.#section = new Section(this.shell, this.say("reports.title"), [this.#filter], this.#list, this.#foot.node);
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
    this.#foot.show(groups, wordsIn(this.texts));
  }

  async #move(...moved) {
    await this.#section.attempt(() => this.#casework.move(...moved));
    this.#section.keepFocus();
  }
}
