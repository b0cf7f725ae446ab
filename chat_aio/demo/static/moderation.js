/** The moderation part of a service, as `chat.moderation`. Results are the service's JSON. */

export class Moderation {
  #request;

  /** `request(method, path, {query?, body?})` is the client's. */
  constructor(request) {
    this.#request = request;
  }

  /** A page of {blocks, nextCursor}: whom one has blocked oneself. */
  listBlocks({ limit, cursor } = {}) {
    return this.#request("GET", "/moderation/blocks", { query: { limit, cursor } });
  }

  block(targetUserId) {
    return this.#request("POST", "/moderation/blocks", { body: { targetUserId } });
  }

  unblock(targetUserId) {
    return this.#request("DELETE", "/moderation/blocks", { body: { targetUserId } });
  }

  /** A page of {mutes, nextCursor}. */
  listMutes({ limit, cursor } = {}) {
    return this.#request("GET", "/moderation/mutes", { query: { limit, cursor } });
  }

  mute(conversationId) {
    return this.#request("POST", "/moderation/mutes", { body: { conversationId } });
  }

  unmute(conversationId) {
    return this.#request("DELETE", "/moderation/mutes", { body: { conversationId } });
  }

  /** `given` is {targetType, targetId, reason}; a target is a user, message or conversation. */
  async report(given) {
    return (await this.#request("POST", "/moderation/reports", { body: given })).report;
  }

  /** A page of {reports, nextCursor}, newest first, for moderators. */
  listReports({ status, targetType, limit, cursor } = {}) {
    const query = { status, targetType, limit, cursor };
    return this.#request("GET", "/moderation/reports", { query });
  }

  /** `changed` is {status, moderatorNote?}; a note that is null is cleared. */
  async updateReport(reportId, changed) {
    const path = `/moderation/reports/${encodeURIComponent(reportId)}`;
    return (await this.#request("PATCH", path, { body: changed })).report;
  }

  /** A page of {bans, nextCursor}, newest first, for moderators. */
  listBans({ activeOnly, limit, cursor } = {}) {
    return this.#request("GET", "/moderation/bans", { query: { activeOnly, limit, cursor } });
  }

  /** `given` is {targetUserId, reason?, expiresAt?}. */
  async ban(given) {
    return (await this.#request("POST", "/moderation/bans", { body: given })).ban;
  }

  async revokeBan(banId) {
    const path = `/moderation/bans/${encodeURIComponent(banId)}`;
    return (await this.#request("DELETE", path, {})).ban;
  }
}
