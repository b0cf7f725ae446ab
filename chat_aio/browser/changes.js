/** What one does with messages that are there. No DOM. A request that fails rejects. */

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

  /** React, or take one's reaction back. */
  toggleReaction({ id, reactions }, emoji) {
    const { userIds = [] } = reactions.find((each) => each.emoji === emoji) ?? {};
    const isMine = userIds.includes(this.#store.userId);
    const act = isMine ? this.#chat.removeReaction(id, emoji) : this.#chat.addReaction(id, emoji);
    return this.#take(act);
  }

  /** The same key again sends it once. */
  async forward(messageId, conversationId, clientMessageId) {
    const target = { conversationId, clientMessageId };
    this.#store.receive(await this.#chat.forwardMessage(messageId, target));
  }

  /** An answer may come after the events of what others did later. */
  async #take(asked) {
    const asOf = this.#store.now();
    this.#store.update(await asked, asOf);
  }
}
