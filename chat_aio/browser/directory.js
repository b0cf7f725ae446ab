/** The public channels: search, joining, join requests. No DOM. */

import { Paged } from "./paged.js";

export class Directory {
  #groups;
  #store;
  #query = "";

  constructor(chat, store, groups) {
    this.#groups = groups;
    this.#store = store;
    this.channels = new Paged({
      load: async (page) => {
        const query = this.#query ? { q: this.#query } : {};
        const { channels, nextCursor } = await chat.listPublicConversations({ ...page, ...query });
        return { items: channels, nextCursor };
      },
      keyOf: (channel) => channel.conversationId,
      changed: () => store.changed(),
    });
  }

  /** The channels with a text in their name or topic, or all. */
  search(text) {
    this.#query = text.trim();
    this.channels.reload();
  }

  /** "in", "waiting" or "out". */
  stateOf({ conversationId, alreadyParticipant, requestPending }) {
    if (alreadyParticipant || this.#store.conversation(conversationId)) return "in";
    return requestPending ? "waiting" : "out";
  }

  /** The user has requested to join, perhaps in another window, or was answered. */
  receive({ conversationId, joinRequest: { userId, status } }) {
    const channel = this.channels.items.find((listed) => listed.conversationId === conversationId);
    if (!channel || userId !== this.#store.userId) return;
    this.channels.replace({ ...channel, requestPending: status === "pending" });
  }

  /** Resolves to whether one is in now. */
  async join(channel, message) {
    const { status } = await this.#groups.join(channel.conversationId, message);
    const isIn = status === "joined";
    this.channels.replace({ ...channel, alreadyParticipant: isIn, requestPending: !isIn });
    return isIn;
  }
}
