/** Brings the messages of main lists and threads, page by page. No DOM. */

const MESSAGES_PER_PAGE = 50;
const MOST_PAGES_BACK = 20;
/** The most that a page can have: what is unread is read from its beginning. */
const UNREAD_PER_PAGE = 200;
const MOST_UNREAD_PAGES = 5;

export class History {
  #chat;
  #store;
  #onGone;
  /** What is being asked for, by list. */
  #running = new Map();

  /** `onGone(conversationId)` is told when a conversation cannot be read (any longer). */
  constructor(chat, store, onGone) {
    this.#chat = chat;
    this.#store = store;
    this.#onGone = onGone;
  }

  loadNewest(timeline) {
    if (timeline.loading === "newest") return this.#running.get(timeline);
    return this.#run(timeline, this.#loadNewest(timeline));
  }

  /** The newest page, and before it is shown those in front of it, as far as they are unread. */
  async loadUnread(timeline, count) {
    if (count > MESSAGES_PER_PAGE) timeline.pageSize = UNREAD_PER_PAGE;
    await this.loadNewest(timeline);
    for (let page = 1; page < MOST_UNREAD_PAGES && timeline.isUnreadFurtherBack; page += 1) {
      await this.loadOlder(timeline);
      if (timeline.loading === "failed") break;
    }
    timeline.pageSize = null;
    timeline.endUnread();
    this.#store.changed();
  }

  loadOlder(timeline) {
    const { loading, olderCursor } = timeline;
    if (loading === "newest" || loading === "older") return this.#running.get(timeline);
    return olderCursor ? this.#run(timeline, this.#loadOlder(timeline)) : Promise.resolve();
  }

  /** After a failure: whichever part is missing. */
  loadAgain(timeline) {
    const { openThread } = this.#store;
    if (openThread?.timeline === timeline && !openThread.root) return this.loadThread(openThread);
    if (!timeline.isStale) return this.loadOlder(timeline);
    return this.loadUnread(timeline, timeline.unreadCount);
  }

  /** A thread's root and newest replies; a thread that is not there `isGone`. */
  async loadThread(thread) {
    const asOf = this.#store.now();
    const { conversationId, rootId, timeline } = thread;
    if (!timeline.isStale && thread.root) return;
    const held = this.#store.message(conversationId, rootId);
    if (held) thread.putRoot(held);
    this.loadNewest(timeline);
    try {
      thread.putRoot(await this.#chat.getMessage(conversationId, rootId), asOf);
    } catch (error) {
      thread.isGone = isGone(error);
    }
    this.#store.changed();
  }

  /** Whether a message is held, after going back for it as far as that is reasonable. */
  async find(timeline, messageId) {
    for (let pages = 0; pages < MOST_PAGES_BACK && !timeline.has(messageId); pages += 1) {
      const isWhole = timeline.olderCursor === null && !timeline.isStale;
      if (isWhole || timeline.loading === "failed") break;
      await (timeline.isLoaded ? this.loadOlder(timeline) : this.loadNewest(timeline));
    }
    return timeline.has(messageId);
  }

  /**
   * The newest message of a conversation, as far as its main list tells: a reply of a thread that
   * was never opened is known by its root's summary only.
   */
  async findNewest(conversationId) {
    const newest = this.#store.newestIn(conversationId);
    const lastOf = (each) => each.threadSummary?.lastReplyAt ?? "";
    const [root] = this.#store
      .timeline(conversationId)
      .messages.filter((each) => lastOf(each) > (newest?.createdAt ?? ""))
      .sort((first, second) => (lastOf(first) < lastOf(second) ? 1 : -1));
    if (!root) return newest;
    const { messages } = await this.#chat.listThread(conversationId, root.id, { limit: 1 });
    return messages[0] ?? newest;
  }

  #run(timeline, work) {
    this.#running.set(timeline, work);
    return work;
  }

  async #loadNewest(timeline) {
    while (timeline.isStale) {
      timeline.isStale = false;
      const asOf = this.#store.now();
      const page = await this.#load(timeline, "newest", {});
      if (!page) return timeline.becomeStale();
      this.#store.addNewest(timeline, page, asOf);
    }
  }

  async #loadOlder(timeline) {
    const asOf = this.#store.now();
    const page = await this.#load(timeline, "older", { cursor: timeline.olderCursor });
    if (page) this.#store.addOlder(timeline, page, asOf);
  }

  async #load(timeline, loading, { cursor }) {
    const show = (state) => {
      timeline.loading = state;
      this.#store.changed();
    };
    show(loading);
    try {
      const limit = timeline.pageSize ?? MESSAGES_PER_PAGE;
      const answer = await this.#list(timeline, { limit, cursor });
      show(null);
      return answer;
    } catch (error) {
      show("failed");
      if (isGone(error) && timeline.rootId === null) this.#onGone(timeline.conversationId);
      return null;
    }
  }

  #list({ conversationId, rootId }, page) {
    if (rootId !== null) return this.#chat.listThread(conversationId, rootId, page);
    return this.#chat.listMessages(conversationId, page);
  }
}

export function isGone({ status, code }) {
  return status === 404 || (status === 403 && code !== "USER_BANNED");
}
