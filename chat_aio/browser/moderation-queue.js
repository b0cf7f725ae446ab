/** The work of moderators: reports, held messages, and bans. No DOM. A failed change rejects. */

import { Paged } from "./paged.js";
import { gathered } from "./tasks.js";

const GATHER_MS = 200;

export class ModerationQueue {
  /** Which reports are listed; an empty one: those that wait, open or triaged. */
  status = "";
  isActiveOnly = true;
  /** Many calls at once share one request. */
  outdated = gathered(GATHER_MS, () => this.#refresh());

  #chat;
  /** Whether a message is being released: errors may then be its sender's. */
  isReleasing = false;
  #moderation;
  #desk;
  #ofStatus;

  constructor(chat, store) {
    const changed = () => store.changed();
    const keyOf = ({ targetType, targetId }) => `${targetType} ${targetId}`;
    const groups = (status) => (page) => this.#loadGroups({ status: status(), ...page });
    this.#chat = chat;
    this.#moderation = chat.moderation;
    this.#desk = chat.moderationTools;
    /** By the reported target. */
    this.waiting = new Paged({ load: groups(() => null), keyOf, changed });
    this.#ofStatus = new Paged({ load: groups(() => this.status), keyOf, changed });
    const listOf = (load) => new Paged({ load, keyOf: (item) => item.id, changed });
    this.bans = listOf((page) => this.#loadBans(page));
    this.held = listOf((page) => this.#loadHeld(page));
  }

  /** The reports that are listed. */
  get groups() {
    return this.status ? this.#ofStatus : this.waiting;
  }

  /** The count next to the link to this page: {count, hasMore}. */
  get open() {
    const lists = [this.waiting, this.held];
    const count = lists.reduce((sum, { items }) => sum + items.length, 0);
    return { count, hasMore: lists.some(({ nextCursor }) => nextCursor !== null) };
  }

  reload() {
    this.groups.reload();
    this.held.reload();
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

  /** Send it in the name of its sender. */
  async release(held) {
    this.isReleasing = true;
    try {
      await this.#chat.releaseHeldMessage(held.id);
    } finally {
      this.isReleasing = false;
    }
    this.held.drop(held);
  }

  async discard(held) {
    await this.#chat.discardHeldMessage(held.id);
    this.held.drop(held);
  }

  /** There are no events for held messages: they are fetched as often as reports. */
  #refresh() {
    const others = this.status ? [this.groups] : [];
    return Promise.all([this.waiting, this.held, ...others].map((list) => list.refresh()));
  }

  async #loadGroups(given) {
    const { reportGroups, nextCursor } = await this.#desk.listReportGroups(given);
    return { items: reportGroups, nextCursor };
  }

  async #loadHeld(page) {
    const { heldMessages, nextCursor } = await this.#chat.listHeldMessages(page);
    return { items: heldMessages, nextCursor };
  }

  async #loadBans(page) {
    const activeOnly = this.isActiveOnly;
    const { bans, nextCursor } = await this.#moderation.listBans({ activeOnly, ...page });
    return { items: bans, nextCursor };
  }
}
