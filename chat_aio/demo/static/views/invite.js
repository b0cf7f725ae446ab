/** The screen of an invite link: its group, and a button to join. */

import { setAvatar, setText } from "../../../browser/dom.js";
import { joinProblemOf } from "../problems.js";
import { say } from "../words.js";
import { noteInput } from "./group-dialogs.js";
import { countOf, nameOf } from "./group-words.js";
import { field } from "./dialog.js";

export class InviteScreen {
  #screen = document.querySelector("#invite");
  #form = this.#screen.querySelector("form");
  #heading = this.#screen.querySelector("h1");
  #avatar = this.#screen.querySelector(".avatar");
  #about = this.#screen.querySelector(".invite-about");
  #terms = this.#screen.querySelector(".invite-terms");
  #submit = this.#screen.querySelector("[type=submit]");
  #problem = this.#screen.querySelector(".problem");
  #note = field(say("join.note"), noteInput(), { isOptional: true });
  #invitation;
  #store;
  #people;
  #enter;
  #isBusy = false;

  /** `enter(conversationId)` is called when one is in. */
  constructor(invitation, store, people, enter) {
    this.#invitation = invitation;
    this.#store = store;
    this.#people = people;
    this.#enter = enter;
    this.#terms.after(this.#note);
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
    if (this.#store.elsewhere !== "invite") return;
    const { preview, problem, isSpent, isWaiting, enteredId } = this.#invitation;
    if (enteredId) {
      this.#enter(enteredId);
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
    const name = nameOf(preview);
    const needs = requiresApproval ? say("join.needsAdmin") : "";
    setAvatar(this.#avatar, this.#people.pictureOfGroup(conversationId, name));
    setText(this.#heading, name);
    const inviter = this.#people.nameOf(invitedBy);
    const invited = say("invite.by", { name: inviter });
    setText(this.#about, `${invited} · ${countOf(participantCount)}`);
    setText(this.#terms, isWaiting ? say("invite.waiting") : needs);
    setText(this.#submit, requiresApproval ? say("join.ask") : say("join.now"));
  }

  #showNothing(problem, isSpent) {
    const heading = isSpent ? say("invite.spent") : say("invite.failed");
    setText(this.#heading, problem ? heading : say("common.loading"));
    setText(this.#about, problem ?? "");
    setText(this.#terms, isSpent ? say("invite.askForAnother") : "");
  }

  async #accept(message) {
    if (this.#isBusy) return;
    this.#isBusy = true;
    setText(this.#problem, "");
    try {
      await this.#invitation.accept(message);
    } catch (error) {
      // The inviting user may know why.
      const inviter = this.#people.nameOf(this.#invitation.preview?.invitedBy);
      setText(this.#problem, joinProblemOf(error, inviter));
    } finally {
      this.#isBusy = false;
    }
  }
}
