/** The invite link in the address: its group, and whether the user may join. No DOM. */


export class Invitation {
  code = null;
  /** Null until it is known, and if the link is invalid. */
  preview = null;
  problem = null;
  /** Whether there is no such link, or none any more. */
  isSpent = false;
  isWaiting = false;

  #chat;
  #store;
  #groups;

  constructor(chat, store, groups) {
    this.#chat = chat;
    this.#store = store;
    this.#groups = groups;
  }

  /** The group to go to, if one is in it. */
  get enteredId() {
    if (!this.preview) return null;
    const { conversationId, alreadyParticipant } = this.preview;
    return alreadyParticipant || this.#store.conversation(conversationId) ? conversationId : null;
  }

  async open(code) {
    this.#show({ code, preview: null, problem: null, isWaiting: false, isSpent: false });
    try {
      const preview = await this.#chat.getInvitePreview(code);
      if (code === this.code) this.#show({ preview });
    } catch (error) {
      const { status } = error;
      const isSpent = status === 404 || status === 410;
      if (code === this.code) this.#show({ problem: error, isSpent });
    }
  }

  /** Rejects if the link is used up by then, or the group is full. */
  async accept(message) {
    const { code } = this;
    const { status } = await this.#groups.accept(code, message);
    if (code === this.code) this.#show({ isWaiting: status === "pending" });
  }

  /** The user has requested to join, perhaps in another window, or was answered. */
  receive({ conversationId, joinRequest: { userId, status } }) {
    if (conversationId !== this.preview?.conversationId || userId !== this.#store.userId) return;
    this.#show({ isWaiting: status === "pending" });
  }

  #show(fields) {
    Object.assign(this, fields);
    this.#store.changed();
  }
}
