/** Actions in groups: settings, members, joining and leaving. No DOM. A failure rejects. */

export class GroupChanges {
  #chat;
  #store;
  #onLeft;

  /** `onLeft(conversationId)` is called when the user has left. */
  constructor(chat, store, onLeft) {
    this.#chat = chat;
    this.#store = store;
    this.#onLeft = onLeft;
  }

  create(group) {
    return this.#take(() => this.#chat.createGroupConversation(group));
  }

  /**
   * `fields` are {name?, visibility?, joinPolicy?, frozen?, slowModeSeconds?, topic?, history?};
   * null clears the name.
   */
  update({ id }, fields) {
    return this.#take(() => this.#chat.updateConversation(id, fields));
  }

  add({ id }, userIds) {
    return this.#take(() => this.#chat.addParticipants(id, userIds));
  }

  remove({ id }, userId) {
    return this.#take(() => this.#chat.removeParticipant(id, userId));
  }

  /** Remove a member, who cannot rejoin until the ban is removed. The event names them. */
  ban({ id }, userId) {
    return this.#chat.rooms.banFromConversation(id, { userId });
  }

  setRole({ id }, userId, role) {
    return this.#take(() => this.#chat.setParticipantRole(id, userId, role));
  }

  pin({ id }, messageId) {
    return this.#take(() => this.#chat.rooms.pinMessage(id, messageId));
  }

  unpin({ id }, messageId) {
    return this.#take(() => this.#chat.rooms.unpinMessage(id, messageId));
  }

  /** The pinned messages, the latest pinned first. */
  listPins({ id }) {
    return this.#chat.rooms.listPins(id);
  }

  async leave({ id }) {
    await this.#chat.removeParticipant(id, this.#store.userId);
    this.#onLeft(id);
  }

  /** Resolves to {status, conversation, joinRequest}: the user has joined, or has to wait. */
  join(conversationId, message) {
    return this.#enter(() => this.#chat.joinConversation(conversationId, { message }));
  }

  accept(code, message) {
    return this.#enter(() => this.#chat.acceptInvite(code, { message }));
  }

  /** An answer may arrive after the events of later changes. */
  async #take(ask) {
    const asOf = this.#store.now();
    const conversation = await ask();
    this.#store.putConversation(conversation, asOf);
    return conversation;
  }

  async #enter(ask) {
    const asOf = this.#store.now();
    const answer = await ask();
    if (answer.status === "joined") this.#store.putConversation(answer.conversation, asOf);
    return answer;
  }
}
