/** Reporting a message, a person or a group to the moderators. */

import { briefOf } from "../brief.js";
import { element, setText } from "../../../browser/dom.js";
import { say } from "../words.js";
import { Dialog, field } from "./dialog.js";

const REASON = { name: "reason", rows: 4, maxlength: 1_000 };

export class ReportDialog {
  #excerpt = element("p", { class: "excerpt", dir: "auto" });
  #dialog = new Dialog(
    { submit: say("report.submit"), isDanger: true },
    this.#excerpt,
    field(say("report.reason"), element("textarea", REASON)),
  );
  #thanks = new Dialog(
    { heading: say("report.thanks"), cancel: say("common.close") },
    element("p", {}, say("report.done")),
  );
  #target = null;

  /** `report({targetType, targetId, reason})` hands it in. */
  constructor(report) {
    this.#dialog.onSubmit(async (given) => {
      const reason = given.get("reason").trim();
      const isDone = await this.#dialog.finish(() => {
        if (!reason) throw new Error(say("report.noReason"));
        return report({ ...this.#target, reason });
      });
      if (isDone) this.#thanks.open();
    });
  }

  openForMessage(message) {
    const target = { targetType: "message", targetId: message.id };
    this.#open(say("report.message"), target, briefOf(message));
  }

  openForUser(userId, name) {
    this.#open(say("report.named", { name }), { targetType: "user", targetId: userId });
  }

  openForGroup({ id }, title) {
    this.#open(say("report.named", { name: title }), { targetType: "conversation", targetId: id });
  }

  #open(heading, target, excerpt = "") {
    this.#target = target;
    setText(this.#excerpt, excerpt);
    this.#excerpt.hidden = excerpt === "";
    this.#dialog.open({ heading });
  }
}
