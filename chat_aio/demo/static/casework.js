/** What moderators work on: reports, and bans. No DOM. A change that fails rejects. */

import { Paged } from "./paged.js";

export class Casework {
  /** Which reports are listed; an empty one: all. */
  status = "open";
  isActiveOnly = true;

  #moderation;

  constructor(chat, store) {
    const changed = () => store.changed();
    const keyOf = (each) => each.id;
    this.#moderation = chat.moderation;
    this.reports = new Paged({ load: (page) => this.#loadReports(page), keyOf, changed });
    this.bans = new Paged({ load: (page) => this.#loadBans(page), keyOf, changed });
  }

  /** Nothing tells of new ones. */
  reload() {
    this.reports.reload();
    this.bans.reload();
  }

  listReports(status) {
    this.status = status;
    this.reports.reload();
  }

  listBans(isActiveOnly) {
    this.isActiveOnly = isActiveOnly;
    this.bans.reload();
  }

  /** `status` is "triaged", "resolved" or "dismissed"; an empty note is none. */
  async move(report, status, note) {
    const changed = { status, moderatorNote: note.trim() || null };
    const moved = await this.#moderation.updateReport(report.id, changed);
    if (this.status && this.status !== moved.status) this.reports.drop(moved);
    else this.reports.replace(moved);
  }

  /** `given` is {targetUserId, reason?, expiresAt?}. */
  async ban(given) {
    this.bans.add(await this.#moderation.banUser(given));
  }

  async revoke(ban) {
    const revoked = await this.#moderation.unbanUser(ban.id);
    if (this.isActiveOnly) this.bans.drop(revoked);
    else this.bans.replace(revoked);
  }

  async #loadReports(page) {
    const status = this.status || null;
    const { reports, nextCursor } = await this.#moderation.listReports({ status, ...page });
    return { items: reports, nextCursor };
  }

  async #loadBans(page) {
    const activeOnly = this.isActiveOnly;
    const { bans, nextCursor } = await this.#moderation.listBans({ activeOnly, ...page });
    return { items: bans, nextCursor };
  }
}
