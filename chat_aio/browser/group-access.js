/** The ways into a group, for its admins: links, join requests, bans. No DOM. */

import { Paged } from "./paged.js";

export class GroupAccess {
  #chat;
  #store;

  constructor(chat, store, conversationId) {
    const changed = () => store.changed();
    this.#chat = chat;
    this.#store = store;
    this.conversationId = conversationId;
    this.invites = new Paged({
      load: () => this.#loadInvites(),
      keyOf: (invite) => invite.code,
      changed,
    });
    this.requests = new Paged({
      load: (page) => this.#loadRequests(page),
      keyOf: (request) => request.userId,
      changed,
    });
    this.bans = new Paged({
      load: (page) => this.#loadBans(page),
      keyOf: (ban) => ban.userId,
      changed,
    });
  }

  /** There are no events for uses of a link, or for the time while the stream was down. */
  reload() {
    this.invites.reload();
    this.requests.reload();
    this.bans.reload();
  }

  /** `terms` are {expiresInSeconds?, maxUses?, requiresApproval?}. */
  async invite(terms) {
    this.invites.add(await this.#chat.createInvite(this.conversationId, terms));
  }

  async revoke(invite) {
    await this.#chat.revokeInvite(this.conversationId, invite.code);
    this.invites.drop(invite);
  }

  /** `decision` is "approve" or "deny". */
  async resolve(request, decision) {
    const asOf = this.#store.now();
    const { userId } = request;
    const answer = await this.#chat.resolveJoinRequest(this.conversationId, userId, decision);
    if (answer.conversation) this.#store.putConversation(answer.conversation, asOf);
    this.requests.drop(request);
  }

  async lift(ban) {
    await this.#chat.rooms.unbanFromConversation(this.conversationId, ban.userId);
    this.bans.drop(ban);
  }

  /** A join request was made or decided; a ban was set or removed. */
  receive({ type, conversationId, joinRequest, conversationBan }) {
    if (conversationId !== this.conversationId) return;
    if (type === "conversation_ban.created") this.bans.add(conversationBan);
    else if (conversationBan) this.bans.drop(conversationBan);
    else if (joinRequest.status === "pending") this.requests.add(joinRequest);
    else this.requests.drop(joinRequest);
  }

  async #loadInvites() {
    return { items: await this.#chat.listInvites(this.conversationId), nextCursor: null };
  }

  async #loadBans(page) {
    const answer = await this.#chat.rooms.listConversationBans(this.conversationId, page);
    return { items: answer.conversationBans, nextCursor: answer.nextCursor };
  }

  async #loadRequests(page) {
    const answer = await this.#chat.listJoinRequests(this.conversationId, page);
    return { items: answer.joinRequests, nextCursor: answer.nextCursor };
  }
}
