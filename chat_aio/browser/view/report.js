/** Reporting a message, a person or a group to the moderators. */

import { briefOf } from "../brief.js";
import { element, setText } from "../dom.js";
import { Dialog, field } from "./dialog.js";
import { Part } from "./part.js";

const REASON = { name: "reason", rows: 4, maxlength: 1_000 };

export class ReportDialog extends Part {
  #excerpt = element("p", { class: "excerpt", dir: "auto" });
  #dialog = new Dialog(this.shell,
    { submit: this.say("report.submit"), isDanger: true },
    this.#excerpt,
    field(this.say("report.reason"), element("textarea", REASON)),
  );
  #thanks = new Dialog(this.shell,
    { heading: this.say("report.thanks"), cancel: this.say("common.close") },
    element("p", {}, this.say("report.done")),
  );
  #target = null;

  /** `report({targetType, targetId, reason})` hands it in. */
  constructor(shell, report) {
    super(shell);
    this.#dialog.onSubmit(async (given) => {
      const reason = given.get("reason").trim();
      const isDone = await this.#dialog.finish(() => {
        if (!reason) throw new Error(this.say("report.noReason"));
        return report({ ...this.#target, reason });
      });
      if (isDone) this.#thanks.open();
    });
  }

  openForMessage(message) {
    const target = { targetType: "message", targetId: message.id };
    this.#open(this.say("report.message"), target, briefOf(this.texts, message));
  }

  openForUser(userId, name) {
    this.#open(this.say("report.named", { name }), { targetType: "user", targetId: userId });
  }

  openForGroup({ id }, title) {
    this.#open(this.say("report.named", { name: title }), { targetType: "conversation", targetId: id });
  }

  #open(heading, target, excerpt = "") {
    this.#target = target;
    setText(this.#excerpt, excerpt);
    this.#excerpt.hidden = excerpt === "";
    this.#dialog.open({ heading });
  }
}
