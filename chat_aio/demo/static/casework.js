/** What moderators work on: reports, and bans. No DOM. A change that fails rejects. */

import { Paged } from "./paged.js";
import { gathered } from "./tasks.js";

const GATHER_MS = 200;

export class Casework {
  /** Which reports are listed; an empty one: those that wait, open or triaged. */
  status = "";
  isActiveOnly = true;
  /** Calls of many reports at once ask once. */
  outdated = gathered(GATHER_MS, () => this.#refresh());

  #moderation;
  #desk;
  #ofStatus;

  constructor(chat, store) {
    const changed = () => store.changed();
    const keyOf = ({ targetType, targetId }) => `${targetType} ${targetId}`;
    const groups = (status) => (page) => this.#loadGroups({ status: status(), ...page });
    this.#moderation = chat.moderation;
    this.#desk = chat.desk;
    /** By what was reported, and counted beside the link that leads to them. */
    this.waiting = new Paged({ load: groups(() => null), keyOf, changed });
    this.#ofStatus = new Paged({ load: groups(() => this.status), keyOf, changed });
    const keyOfBan = (each) => each.id;
    this.bans = new Paged({ load: (page) => this.#loadBans(page), keyOf: keyOfBan, changed });
  }

  /** The reports that are listed. */
  get groups() {
    return this.status ? this.#ofStatus : this.waiting;
  }

  reload() {
    this.groups.reload();
    this.bans.reload();
  }

  listReports(status) {
    this.status = status;
    this.groups.reload();
  }

  listBans(isActiveOnly) {
    this.isActiveOnly = isActiveOnly;
    this.bans.reload();
  }

  /**
   * All unresolved reports on a target, as far as they were shown, get a status: "triaged",
   * "resolved" or "dismissed". Notes stay as they are if `note` is the one that was there.
   */
  async move({ targetType, targetId, lastAt: until, latest }, status, note) {
    const isNoted = note.trim() !== (latest.moderatorNote ?? "");
    const noted = isNoted ? { moderatorNote: note.trim() || null } : {};
    const given = { targetType, targetId, status, until, ...noted };
    let answer;
    do {
      answer = await this.#desk.resolveReports(given);
    } while (answer.more && answer.reports > 0);
    await this.#refresh();
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

  #refresh() {
    const others = this.status ? [this.groups] : [];
    return Promise.all([this.waiting, ...others].map((each) => each.refresh()));
  }

  async #loadGroups(given) {
    const { reportGroups, nextCursor } = await this.#desk.listReportGroups(given);
    return { items: reportGroups, nextCursor };
  }

  async #loadBans(page) {
    const activeOnly = this.isActiveOnly;
    const { bans, nextCursor } = await this.#moderation.listBans({ activeOnly, ...page });
    return { items: bans, nextCursor };
  }
}
