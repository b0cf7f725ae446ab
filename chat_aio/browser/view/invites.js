/** A group's invite links, for its admins. */

import { element, Rows, setText } from "../dom.js";
import { later } from "../tasks.js";
import { ConfirmDialog, InviteDialog } from "./group-dialogs.js";
import { Part } from "./part.js";
import { ListFoot, Section, smallButton } from "./section.js";

const COPIED_MS = 2_000;
const wordsIn = (texts) => ({ failed: texts.say("invites.failed"), empty: texts.say("invites.empty") });

export class InvitesSection extends Part {
  #list = element("ul", { class: "links" });
  #foot = new ListFoot(this.shell, () => this.#admission.invites.more());
  #making = new InviteDialog(this.shell, (terms) => this.#admission.invite(terms));
  #confirm = new ConfirmDialog(this.shell, () => this.#section.keepFocus());
  #rows = new Rows(this.#list, { shell: this.shell, revoke: (invite) => this.#askToRevoke(invite) });
  #section;
  #admission = null;

  constructor(shell) {
    super(shell);
    const make = smallButton(this.say("invites.new"), () => this.#making.open());
    this.#section = new Section(this.shell, this.say("invites.title"), [make], this.#list, this.#foot.node);
    this.node = this.#section.node;
  }

  show(admission) {
    this.#admission = admission;
    const { invites } = admission;
    const row = (invite) => ({ key: invite.code, Row: LinkRow, state: { invite } });
    this.#rows.show(invites.items.map(row));
    this.#foot.show(invites, wordsIn(this.texts));
  }

  #askToRevoke(invite) {
    const admission = this.#admission;
    const words = this.say("invites.revokeAbout");
    const question = { heading: this.say("invites.revokeTitle"), words, submit: this.say("invites.revoke") };
    this.#confirm.open(question, () => admission.revoke(invite));
  }
}

class LinkRow extends Part {
  #link = element("input", { readonly: true, "aria-label": this.say("invites.link") });
  #copy = smallButton(this.say("invites.copy"), () => this.#copied());
  #terms = element("p", { class: "terms" });
  #status = element("span", { class: "unseen", role: "status" });
  #pause = later(COPIED_MS);
  #invite = null;

  constructor({ shell, revoke }) {
    super(shell);
    const revoking = smallButton(this.say("invites.revoke"), () => revoke(this.#invite));
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
    this.#link.value = this.shell.places.linkTo("invite", invite.code);
    setText(this.#terms, termsOf(this.texts, invite));
    this.node.toggleAttribute("data-spent", isSpent(invite));
  }

  /** Only a page that came over HTTPS, or from this machine, may write to the clipboard. */
  async #copied() {
    try {
      await navigator.clipboard.writeText(this.#link.value);
      setText(this.#copy, this.say("message.copied"));
      setText(this.#status, this.say("invites.copied"));
    } catch {
      this.#link.focus();
      setText(this.#status, this.say("invites.copyByHand"));
    }
    this.#pause(() => {
      setText(this.#copy, this.say("invites.copy"));
      setText(this.#status, "");
    });
  }
}

function termsOf(texts, { uses, maxUses, expiresAt, requiresApproval }) {
  const times = uses === 0 ? texts.say("invites.unused") : texts.say("invites.used", { count: uses });
  const used = maxUses === null ? times : texts.say("invites.usedOf", { uses, most: maxUses });
  const needs = requiresApproval ? [texts.say("invites.needsApproval")] : [];
  return [used, endOf(texts, expiresAt), ...needs].join(" · ");
}

function endOf(texts, expiresAt) {
  if (expiresAt === null) return texts.say("invites.neverExpires");
  const when = texts.shortMomentOf(expiresAt);
  const isOver = hasExpired({ expiresAt });
  return isOver ? texts.say("invites.expired", { when }) : texts.say("invites.expiresAt", { when });
}

function isSpent(invite) {
  const { uses, maxUses } = invite;
  return hasExpired(invite) || (maxUses !== null && uses >= maxUses);
}

function hasExpired({ expiresAt }) {
  return expiresAt !== null && new Date(expiresAt) <= new Date();
}
