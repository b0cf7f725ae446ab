/** What concerns one in all conversations: threads one takes part in, and mentions. No DOM. */

import { gathered } from "./tasks.js";
import { ThreadReadMarks } from "./thread-read-marks.js";
import { Paged } from "./paged.js";

/** Several replies come together. */
const PAUSE_MS = 1_000;

export class Inbox {
  #chat;
  #store;
  #refresh = gathered(PAUSE_MS, () => this.#refreshAll());
  #readings;

  /** `elsewhere` brings conversations that are not in the list. */
  constructor(chat, store, elsewhere) {
    const changed = () => store.changed();
    this.#chat = chat;
    this.#store = store;
    this.#readings = new ThreadReadMarks(chat, () => this.outdated());
    this.threads = new Paged({
      load: async (page) => {
        const { threads, nextCursor } = await chat.inbox.listThreads(page);
        for (const { root } of threads) elsewhere.know(root.conversationId);
        return { items: threads, nextCursor };
      },
      keyOf: ({ root }) => root.id,
      changed,
    });
    this.mentions = new Paged({
      load: async (page) => {
        const { mentions, nextCursor } = await chat.inbox.listMentions(page);
        for (const { message } of mentions) elsewhere.know(message.conversationId);
        return { items: mentions, nextCursor };
      },
      keyOf: ({ message }) => message.id,
      changed,
    });
  }

  /** In how many threads there is something new, as far as they are loaded. */
  get unreadThreads() {
    return this.threads.items.filter((thread) => thread.unreadReplyCount > 0).length;
  }

  get unreadMentions() {
    const counts = this.#store.conversations.map(
      (conversation) => this.#store.unreadOf(conversation) && (conversation.unreadMentions ?? 0),
    );
    return counts.reduce((sum, count) => sum + count, 0);
  }

  /** The stream has opened: something may have been missed. */
  outdated() {
    this.#refresh();
  }

  /** A message has come, or was changed. */
  receive({ threadRootMessageId, mentions = [] }) {
    const isMine = mentions.includes(this.#store.userId);
    if (threadRootMessageId || (isMine && this.mentions.isLoaded)) this.outdated();
  }

  /** A reply is before the reader's eyes: those of its thread up to it are read. */
  saw(timeline, messageId) {
    this.#readings.saw(timeline, messageId);
  }

  async unfollow({ root }) {
    await this.#chat.inbox.unfollowThread(root.conversationId, root.id);
    this.threads.drop({ root });
  }

  #refreshAll() {
    this.threads.refresh();
    if (this.mentions.isLoaded) this.mentions.refresh();
  }
}
