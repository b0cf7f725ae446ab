/** A group's invite links, for its admins. */

import { inviteLinkOf } from "../address.js";
import { element, Rows, setText } from "../../../browser/dom.js";
import { later } from "../../../browser/tasks.js";
import { shortMomentOf } from "../times.js";
import { say } from "../words.js";
import { ConfirmDialog, InviteDialog } from "./group-dialogs.js";
import { ListFoot, Section, smallButton } from "./section.js";

const COPIED_MS = 2_000;
const WORDS = { failed: say("invites.failed"), empty: say("invites.empty") };

export class InvitesSection {
  #list = element("ul", { class: "links" });
  #foot = new ListFoot(() => this.#admission.invites.more());
  #making = new InviteDialog((terms) => this.#admission.invite(terms));
  #confirm = new ConfirmDialog(() => this.#section.keepFocus());
  #rows = new Rows(this.#list, { revoke: (invite) => this.#askToRevoke(invite) });
  #section;
  #admission = null;

  constructor() {
    const make = smallButton(say("invites.new"), () => this.#making.open());
    this.#section = new Section(say("invites.title"), [make], this.#list, this.#foot.node);
    this.node = this.#section.node;
  }

  show(admission) {
    this.#admission = admission;
    const { invites } = admission;
    const row = (invite) => ({ key: invite.code, Row: LinkRow, state: { invite } });
    this.#rows.show(invites.items.map(row));
    this.#foot.show(invites, WORDS);
  }

  #askToRevoke(invite) {
    const admission = this.#admission;
    const words = say("invites.revokeAbout");
    const question = { heading: say("invites.revokeTitle"), words, submit: say("invites.revoke") };
    this.#confirm.open(question, () => admission.revoke(invite));
  }
}

class LinkRow {
  #link = element("input", { readonly: true, "aria-label": say("invites.link") });
  #copy = smallButton(say("invites.copy"), () => this.#copied());
  #terms = element("p", { class: "terms" });
  #status = element("span", { class: "unseen", role: "status" });
  #pause = later(COPIED_MS);
  #invite = null;

  constructor({ revoke }) {
    const revoking = smallButton(say("invites.revoke"), () => revoke(this.#invite));
    this.#link.addEventListener("focus", () => this.#link.select());
    this.node = element(
      "li",
      {},
      element("div", { class: "link-line" }, this.#link, this.#copy, this.#status),
      element("div", { class: "link-line" }, this.#terms, revoking),
    );
  }

  show({ invite }) {
    this.#invite = invite;
    this.#link.value = inviteLinkOf(invite.code);
    setText(this.#terms, termsOf(invite));
    this.node.toggleAttribute("data-spent", isSpent(invite));
  }

  /** Only a page that came over HTTPS, or from this machine, may write to the clipboard. */
  async #copied() {
    try {
      await navigator.clipboard.writeText(this.#link.value);
      setText(this.#copy, say("message.copied"));
      setText(this.#status, say("invites.copied"));
    } catch {
      this.#link.focus();
      setText(this.#status, say("invites.copyByHand"));
    }
    this.#pause(() => {
      setText(this.#copy, say("invites.copy"));
      setText(this.#status, "");
    });
  }
}

function termsOf({ uses, maxUses, expiresAt, requiresApproval }) {
  const times = uses === 0 ? say("invites.unused") : say("invites.used", { count: uses });
  const used = maxUses === null ? times : say("invites.usedOf", { uses, most: maxUses });
  const needs = requiresApproval ? [say("invites.needsApproval")] : [];
  return [used, endOf(expiresAt), ...needs].join(" · ");
}

function endOf(expiresAt) {
  if (expiresAt === null) return say("invites.neverExpires");
  const when = shortMomentOf(expiresAt);
  const isOver = hasExpired({ expiresAt });
  return isOver ? say("invites.expired", { when }) : say("invites.expiresAt", { when });
}

function isSpent(invite) {
  const { uses, maxUses } = invite;
  return hasExpired(invite) || (maxUses !== null && uses >= maxUses);
}

function hasExpired({ expiresAt }) {
  return expiresAt !== null && new Date(expiresAt) <= new Date();
}
