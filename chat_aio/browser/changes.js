/** Changes of messages that exist. No DOM. A failed request rejects. */

export class MessageChanges {
  #chat;
  #store;

  constructor(chat, store) {
    this.#chat = chat;
    this.#store = store;
  }

  edit(messageId, { body, mentions }) {
    return this.#take(this.#chat.editMessage(messageId, { body, mentions }));
  }

  delete(messageId) {
    return this.#take(this.#chat.deleteMessage(messageId));
  }

  /** Add the user's reaction, or remove it. */
  toggleReaction({ id, reactions }, emoji) {
    const { userIds = [] } = reactions.find((reaction) => reaction.emoji === emoji) ?? {};
    const isMine = userIds.includes(this.#store.userId);
    const act = isMine ? this.#chat.removeReaction(id, emoji) : this.#chat.addReaction(id, emoji);
    return this.#take(act);
  }

  /** The same key again sends it once. */
  async forward(messageId, conversationId, clientMessageId) {
    const target = { conversationId, clientMessageId };
    this.#store.receive(await this.#chat.forwardMessage(messageId, target));
  }

  /** An answer may arrive after the events of later changes. */
  async #take(asked) {
    const asOf = this.#store.now();
    this.#store.update(await asked, asOf);
  }
}
