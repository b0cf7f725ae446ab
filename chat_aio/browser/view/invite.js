/** The screen of an invite link: its group, and a button to join. */

import { avatar, element, setAvatar, setText } from "../dom.js";
import { joinProblemOf } from "../problems.js";
import { noteInput } from "./group-dialogs.js";
import { countOf, nameOf } from "./group-words.js";
import { field } from "./dialog.js";
import { Part } from "./part.js";
import { backLink } from "./screen.js";

export class InviteScreen extends Part {
  #heading;
  #avatar = avatar();
  #about = element("p", { class: "invite-about" });
  #terms = element("p", { class: "invite-terms", role: "status" });
  #submit = element("button", { type: "submit", class: "primary" });
  #problem = element("p", { class: "problem", role: "alert" });
  #note = field(this.say("join.note"), noteInput(), { optional: this.say("common.optional") });
  #form;
  #invitation;
  #isBusy = false;
  node;

  constructor(shell, invitation) {
    super(shell);
    this.#invitation = invitation;
    const { main, title } = shell.landmarks;
    this.#heading = element(title, { id: "invite-title", tabindex: -1, dir: "auto" });
    const about = [this.#heading, this.#about, this.#terms, this.#note];
    this.#form = element("form", {}, this.#avatar, ...about, this.#problem, this.#submit);
    const header = element("header", { class: "bar" }, backLink(shell));
    const fields = { id: "invite", class: "screen", "aria-labelledby": "invite-title" };
    this.node = element(main, fields, header, this.#form);
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#accept(new FormData(this.#form).get("message"));
    });
  }

  open(code) {
    this.#form.reset();
    setText(this.#problem, "");
    this.#invitation.open(code);
  }

  focus() {
    this.#heading.focus();
  }

  show() {
    if (this.store.elsewhere !== "invite") return;
    const { preview, problem, isSpent, isWaiting, enteredId } = this.#invitation;
    if (enteredId) {
      this.shell.places.replace(enteredId);
      return;
    }
    this.#avatar.hidden = !preview;
    this.#submit.hidden = !preview || isWaiting;
    this.#note.hidden = !preview?.requiresApproval || isWaiting;
    if (preview) this.#showPreview(preview, isWaiting);
    else this.#showNothing(problem, isSpent);
  }

  #showPreview(preview, isWaiting) {
    const { conversationId, participantCount, requiresApproval, invitedBy } = preview;
    const name = nameOf(this.texts, preview);
    const needs = requiresApproval ? this.say("join.needsAdmin") : "";
    setAvatar(this.#avatar, this.people.pictureOfGroup(conversationId, name));
    setText(this.#heading, name);
    const inviter = this.people.nameOf(invitedBy);
    const invited = this.say("invite.by", { name: inviter });
    setText(this.#about, `${invited} · ${countOf(this.texts, participantCount)}`);
    setText(this.#terms, isWaiting ? this.say("invite.waiting") : needs);
    setText(this.#submit, requiresApproval ? this.say("join.ask") : this.say("join.now"));
  }

  #showNothing(problem, isSpent) {
    const heading = isSpent ? this.say("invite.spent") : this.say("invite.failed");
    setText(this.#heading, problem ? heading : this.say("common.loading"));
    setText(this.#about, problem ? this.texts.problemOf(problem) : "");
    setText(this.#terms, isSpent ? this.say("invite.askForAnother") : "");
  }

  async #accept(message) {
    if (this.#isBusy) return;
    this.#isBusy = true;
    setText(this.#problem, "");
    try {
      await this.#invitation.accept(message);
    } catch (error) {
      // The inviting user may know why.
      const inviter = this.people.nameOf(this.#invitation.preview?.invitedBy);
      setText(this.#problem, joinProblemOf(this.texts, error, inviter));
    } finally {
      this.#isBusy = false;
    }
  }
}
