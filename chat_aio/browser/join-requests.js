/** The join requests of the groups that the user administers. No DOM. */

/** The number of groups whose requests are fetched when the page opens; others follow by events. */
const MOST_ASKED = 10;

export class JoinRequests {
  #chat;
  #store;
  /** The ids of those who wait, by conversation. */
  #waiting = new Map();

  constructor(chat, store) {
    this.#chat = chat;
    this.#store = store;
  }

  countIn(conversationId) {
    return this.#waiting.get(conversationId)?.size ?? 0;
  }

  /** A join request was made or decided. */
  receive({ conversationId, joinRequest: { userId, status } }) {
    if (userId === this.#store.userId) return;
    const ids = new Set(this.#waiting.get(conversationId));
    if (status === "pending") ids.add(userId);
    else ids.delete(userId);
    this.#waiting.set(conversationId, ids);
    this.#store.changed();
  }

  /** The existing requests: in public groups with approval. */
  async load() {
    const isAsked = ({ type, visibility, joinPolicy, participants }) =>
      type === "group" && visibility === "public" && joinPolicy === "approval" &&
      participants.some(
        (member) => member.userId === this.#store.userId && member.role === "admin",
      );
    const asked = this.#store.conversations.filter(isAsked).slice(0, MOST_ASKED);
    for (const { id } of asked) await this.#loadOf(id);
  }

  async #loadOf(conversationId) {
    try {
      const { joinRequests } = await this.#chat.listJoinRequests(conversationId);
      this.#waiting.set(conversationId, new Set(joinRequests.map((request) => request.userId)));
      this.#store.changed();
    } catch {
      // Later requests arrive as events; the details of the group fetch them again.
    }
  }
}
