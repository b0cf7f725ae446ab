/** The screen of an invite link: what it leads to, and the way in. */

import { setAvatar, setText } from "../../../browser/dom.js";
import { noteInput } from "./group-dialogs.js";
import { countOf, nameOf } from "./group-words.js";
import { field } from "./dialog.js";

const SPENT = "This link leads nowhere";
const WAITING = "You have asked to be let in. The group appears here as soon as an admin agrees.";

export class InviteScreen {
  #screen = document.querySelector("#invite");
  #form = this.#screen.querySelector("form");
  #heading = this.#screen.querySelector("h1");
  #avatar = this.#screen.querySelector(".avatar");
  #about = this.#screen.querySelector(".invite-about");
  #terms = this.#screen.querySelector(".invite-terms");
  #submit = this.#screen.querySelector("[type=submit]");
  #problem = this.#screen.querySelector(".problem");
  #note = field("Note to the admins", noteInput(), { isOptional: true });
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
    const needs = requiresApproval ? "An admin has to let you in." : "";
    setAvatar(this.#avatar, this.#people.pictureOfGroup(conversationId, name));
    setText(this.#heading, name);
    const inviter = this.#people.nameOf(invitedBy);
    setText(this.#about, `${inviter} invites you · ${countOf(participantCount)}`);
    setText(this.#terms, isWaiting ? WAITING : needs);
    setText(this.#submit, requiresApproval ? "Ask to join" : "Join");
  }

  #showNothing(problem, isSpent) {
    const heading = isSpent ? SPENT : "The link did not load";
    setText(this.#heading, problem ? heading : "Loading…");
    setText(this.#about, problem ?? "");
    setText(this.#terms, isSpent ? "Ask whoever gave it to you for another one." : "");
  }

  async #accept(message) {
    if (this.#isBusy) return;
    this.#isBusy = true;
    setText(this.#problem, "");
    try {
      await this.#invitation.accept(message);
    } catch (error) {
      setText(this.#problem, error.message);
    } finally {
      this.#isBusy = false;
    }
  }
}
