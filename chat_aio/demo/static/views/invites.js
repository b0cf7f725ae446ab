/** A group's invite links, for its admins. */

import { inviteLinkOf } from "../address.js";
import { element, Rows, setText } from "../../../browser/dom.js";
import { later } from "../../../browser/tasks.js";
import { shortMomentOf } from "../times.js";
import { ConfirmDialog, InviteDialog } from "./group-dialogs.js";
import { ListFoot, Section, smallButton } from "./section.js";

const COPIED_MS = 2_000;
const WORDS = { failed: "The links did not load.", empty: "No links yet." };

export class InvitesSection {
  #list = element("ul", { class: "links" });
  #foot = new ListFoot(() => this.#admission.invites.more());
  #making = new InviteDialog((terms) => this.#admission.invite(terms));
  #confirm = new ConfirmDialog(() => this.#section.keepFocus());
  #rows = new Rows(this.#list, { revoke: (invite) => this.#askToRevoke(invite) });
  #section;
  #admission = null;

  constructor() {
    const make = smallButton("New link", () => this.#making.open());
    this.#section = new Section("Invite links", [make], this.#list, this.#foot.node);
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
    const words = "Nobody can come in with it any more. Who is in stays in.";
    const question = { heading: "Revoke this link?", words, submit: "Revoke" };
    this.#confirm.open(question, () => admission.revoke(invite));
  }
}

class LinkRow {
  #link = element("input", { readonly: true, "aria-label": "Invite link" });
  #copy = smallButton("Copy", () => this.#copied());
  #terms = element("p", { class: "terms" });
  #status = element("span", { class: "unseen", role: "status" });
  #pause = later(COPIED_MS);
  #invite = null;

  constructor({ revoke }) {
    const onclick = () => revoke(this.#invite);
    this.#link.addEventListener("focus", () => this.#link.select());
    this.node = element(
      "li",
      {},
      element("div", { class: "link-line" }, this.#link, this.#copy, this.#status),
      element("div", { class: "link-line" }, this.#terms, smallButton("Revoke", onclick)),
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
      setText(this.#copy, "Copied");
      setText(this.#status, "The link is copied.");
    } catch {
      this.#link.focus();
      setText(this.#status, "Copy it with Control and C.");
    }
    this.#pause(() => {
      setText(this.#copy, "Copy");
      setText(this.#status, "");
    });
  }
}

function termsOf({ uses, maxUses, expiresAt, requiresApproval }) {
  const times = { 0: "Not used yet", 1: "Used once" }[uses] ?? `Used ${uses} times`;
  const used = maxUses === null ? times : `Used ${uses} of ${maxUses}`;
  const verb = hasExpired({ expiresAt }) ? "expired" : "expires";
  const end = expiresAt === null ? "never expires" : `${verb} ${shortMomentOf(expiresAt)}`;
  return [used, end, ...(requiresApproval ? ["needs approval"] : [])].join(" · ");
}

function isSpent(invite) {
  const { uses, maxUses } = invite;
  return hasExpired(invite) || (maxUses !== null && uses >= maxUses);
}

function hasExpired({ expiresAt }) {
  return expiresAt !== null && new Date(expiresAt) <= new Date();
}
