/** The conversations that the user has archived. No DOM. */

import { Paged } from "./paged.js";
import { gathered } from "./tasks.js";

/** Several messages come together. */
const PAUSE_MS = 1_000;

export class Archive {
  #session;
  #refresh = gathered(PAUSE_MS, () => this.conversations.refresh());

  /** `session` changes the views. */
  constructor(chat, store, session) {
    this.#session = session;
    this.conversations = new Paged({
      load: async (page) => {
        const wanted = { ...page, archived: true, include: ["lastMessage"] };
        const { conversations, lastMessages, nextCursor } = await chat.listConversations(wanted);
        const itemOf = (conversation) => ({ conversation, message: lastMessages[conversation.id] });
        return { items: conversations.map(itemOf), nextCursor };
      },
      keyOf: ({ conversation }) => conversation.id,
      changed: () => store.changed(),
    });
  }

  /** A message has come, or was changed. */
  receive({ conversationId }) {
    const isIn = ({ conversation }) => conversation.id === conversationId;
    if (this.conversations.items.some(isIn)) this.#refresh();
  }

  async restore(item) {
    await this.#session.changeView(item.conversation.id, { archived: false });
    this.conversations.drop(item);
  }
}
