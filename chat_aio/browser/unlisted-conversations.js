/** Conversations that the list is not loaded down to, where something of them is shown. No DOM. */

export class UnlistedConversations {
  #chat;
  #store;
  #known = new Map();

  constructor(chat, store) {
    this.#chat = chat;
    this.#store = store;
  }

  conversation(id) {
    return this.#store.conversation(id) ?? this.#known.get(id) ?? null;
  }

  titleOf(id, people) {
    const conversation = this.conversation(id);
    return conversation ? people.titleOf(conversation) : "";
  }

  /** Bring a conversation, unless it is known. */
  async know(id) {
    if (this.#store.conversation(id) || this.#known.has(id)) return;
    this.#known.set(id, null);
    try {
      this.#known.set(id, await this.#chat.getConversation(id));
      this.#store.changed();
    } catch {
      // A row is useful without the conversation's name.
      this.#known.delete(id);
    }
  }
}
