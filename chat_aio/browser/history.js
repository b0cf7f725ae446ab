/** Fetches the messages of main lists and threads, page by page. No DOM. */

import { Retry } from "./retry.js";

const MESSAGES_PER_PAGE = 50;
/** Half of it is newer than the requested place. */
const MESSAGES_AROUND = 100;
/** As many as are laid out before a conversation is shown; more follow. */
const UNREAD_AROUND = 60;
/** The largest page, and the number of pages, if the first unread message is looked for. */
const UNREAD_PER_PAGE = 200;
const MOST_UNREAD_PAGES = 5;

export class History {
  #chat;
  #store;
  #onGone;
  /** Running requests, by list: one after the other, since the next continues the loaded part. */
  #running = new WeakMap();
  /** The retries of failed pages, by list. */
  #retries = new Map();

  /** `onGone(conversationId)` is called when a conversation cannot be read (any longer). */
  constructor(chat, store, onGone) {
    this.#chat = chat;
    this.#store = store;
    this.#onGone = onGone;
  }

  /** Stop all retries. */
  close() {
    for (const retry of this.#retries.values()) retry.stop();
  }

  loadNewest(timeline) {
    return this.#run(timeline, () => this.#loadNewest(timeline));
  }

  /** Load the newest messages, wherever the window is. */
  loadLatest(timeline) {
    // In its turn: until then the reader's place stays.
    return this.#run(timeline, () => {
      timeline.leave();
      timeline.becomeStale();
      return this.#loadNewest(timeline);
    });
  }

  /**
   * The first page to show: the newest one, or if more is unread the page around the first unread
   * message. Without any, readers come back to the place that they have left.
   */
  async loadUnread(timeline) {
    timeline.unread.draw(timeline);
    const { count, isWanted } = timeline.unread;
    const isFar = isWanted && count > MESSAGES_PER_PAGE;
    const isKept = count === 0 && timeline.isLoaded && !timeline.keepsNewest && timeline.seenId !== null;
    if (isKept) return this.loadNewest(timeline);
    timeline.leave();
    if (isWanted) timeline.pageSize = MESSAGES_PER_PAGE;
    const isAround = isFar && !timeline.keepsNewest;
    if (!isAround || !(await this.#loadAroundUnread(timeline))) {
      if (isFar) timeline.pageSize = UNREAD_PER_PAGE;
      await this.#loadUnreadPages(timeline);
    }
    // The connection may have been lost in the meantime.
    if (timeline.isStale && timeline.loading !== "failed") await this.loadNewest(timeline);
    timeline.pageSize = null;
    timeline.unread.end(timeline);
    this.#store.changed();
  }

  /** Returns whether the page contains the first unread message. */
  async #loadAroundUnread(timeline) {
    const { conversationId, unread } = timeline;
    const place = { ...unread.place, limit: UNREAD_AROUND };
    if (!(await this.#loadAround(timeline, place))) return timeline.loading === "failed";
    if (unread.isWanted && unread.place.around) {
      // Only its number is known in the main list: it is a reply of a thread.
      const lastRead = await this.#chat.getMessage(conversationId, unread.place.around).catch(nothing);
      if (lastRead) unread.startBehind(lastRead, timeline);
    }
    return !unread.isWanted;
  }

  /** The newest pages, as far as the first unread message, up to a reasonable number. */
  async #loadUnreadPages(timeline) {
    await (timeline.newer === null ? this.loadNewest(timeline) : this.loadLatest(timeline));
    for (let page = 1; page < MOST_UNREAD_PAGES && timeline.isUnreadFurtherBack; page += 1) {
      await this.loadOlder(timeline);
      if (timeline.loading === "failed") return;
    }
  }

  async loadOlder(timeline) {
    const running = this.#running.get(timeline);
    if (running) await running;
    else if (timeline.older) await this.#run(timeline, () => this.#loadOlder(timeline));
  }

  async loadNewer(timeline) {
    const running = this.#running.get(timeline);
    if (running) await running;
    else if (timeline.newer) await this.#run(timeline, () => this.#loadNewer(timeline));
  }

  /** After a failure: whichever part is missing. */
  loadAgain(timeline) {
    const { openThread } = this.#store;
    if (openThread?.timeline === timeline && !openThread.root) return this.loadThread(openThread);
    if (timeline.isStale) return this.loadUnread(timeline);
    return timeline.failed === "newer" ? this.loadNewer(timeline) : this.loadOlder(timeline);
  }

  /** A thread's root and newest replies; a thread that is not there `isGone`. */
  async loadThread(thread) {
    const asOf = this.#store.now();
    const { conversationId, rootId, timeline } = thread;
    if (!timeline.isStale && thread.root) return;
    const held = this.#store.message(conversationId, rootId);
    if (held) thread.putRoot(held);
    const replies = this.loadNewest(timeline);
    try {
      thread.putRoot(await this.#chat.getMessage(conversationId, rootId), asOf);
      if (timeline.failed === "root") this.#succeeded(timeline);
    } catch (error) {
      thread.isGone = isGone(error);
      await replies;
      if (!thread.isGone && timeline.loading === null) this.#failed(timeline, "root", error);
    }
    this.#store.changed();
  }

  /** Fetch the page around a message; returns whether the message is loaded. */
  async find(timeline, messageId) {
    await this.#running.get(timeline);
    if (!timeline.has(messageId)) await this.#loadAround(timeline, { around: messageId });
    return timeline.has(messageId);
  }

  /**
   * The newest message of a conversation, as far as its main list contains it: a reply of a thread
   * that was never opened is only known from its root's summary.
   */
  async findNewest(conversationId) {
    const known = this.#store.newestIn(conversationId);
    const newest = known ?? (await this.#askNewest(conversationId));
    const lastOf = (message) => message.threadSummary?.lastReplyAt ?? "";
    const [root] = this.#store
      .timeline(conversationId)
      .messages.filter((message) => lastOf(message) > (newest?.createdAt ?? ""))
      .sort((first, second) => (lastOf(first) < lastOf(second) ? 1 : -1));
    if (!root) return newest;
    const { messages } = await this.#chat.listThread(conversationId, root.id, { limit: 1 });
    return messages[0] ?? newest;
  }

  async #askNewest(conversationId) {
    const { messages } = await this.#chat.listMessages(conversationId, { limit: 1 });
    return messages[0] ?? null;
  }

  #run(timeline, work) {
    const before = this.#running.get(timeline);
    const run = (before ? before.then(work) : work()).finally(() => {
      if (this.#running.get(timeline) === run) this.#running.delete(timeline);
      // Requests in the meantime, because still more is needed, were part of this one.
      this.#store.changed();
    });
    this.#running.set(timeline, run);
    return run;
  }

  async #loadNewest(timeline) {
    while (timeline.isStale) {
      if (!(await this.#askAgain(timeline))) return timeline.becomeStale();
    }
  }

  /** Fetch the newest page, or the one at the reader's place; returns whether that succeeded. */
  async #askAgain(timeline) {
    const { newer, seenId, keepsNewest } = timeline;
    if (newer !== null && seenId !== null) {
      if (await this.#askAround(timeline, { around: seenId }, "newest")) return true;
      if (timeline.loading === "failed") return false;
    }
    timeline.isStale = false;
    const asOf = this.#store.now();
    const page = await this.#load(timeline, "newest", {});
    if (!page) return false;
    // Readers of older messages keep their place.
    if (seenId !== null && !keepsNewest && !timeline.reaches(page)) {
      if (await this.#askAround(timeline, { around: seenId }, "newest")) return true;
      if (timeline.loading === "failed") return false;
    }
    this.#store.addNewest(timeline, page, asOf);
    return true;
  }

  /** Whether there is such a place to look at: `around` a message, or `aroundSeq`. */
  #loadAround(timeline, place) {
    return this.#run(timeline, () => this.#askAround(timeline, place));
  }

  async #askAround(timeline, place, loading = "around") {
    const wasStale = timeline.isStale;
    timeline.isStale = false;
    const asOf = this.#store.now();
    const page = await this.#load(timeline, loading, place);
    if (page) {
      timeline.seenId = place.around ?? firstFrom(page.messages, place.aroundSeq);
      this.#store.addAround(timeline, page, asOf);
    } else if (wasStale) {
      timeline.becomeStale();
    }
    return page !== null;
  }

  async #loadOlder(timeline) {
    const asOf = this.#store.now();
    const page = await this.#load(timeline, "older", timeline.older);
    if (page) this.#store.addOlder(timeline, page, asOf);
    else if (timeline.loading !== "failed") this.loadLatest(timeline);
  }

  async #loadNewer(timeline) {
    const asOf = this.#store.now();
    const page = await this.#load(timeline, "newer", timeline.newer);
    if (page) this.#store.addNewer(timeline, page, asOf);
    else if (timeline.loading !== "failed") this.loadLatest(timeline);
  }

  /** A page, or null: the message does not exist, or `loading` is "failed". */
  async #load(timeline, loading, place) {
    timeline.asks(loading);
    this.#retries.get(timeline)?.stop();
    this.#store.changed();
    try {
      const size = isAround(place) ? MESSAGES_AROUND : MESSAGES_PER_PAGE;
      const limit = Math.max(size, timeline.pageSize ?? 0);
      const answer = await this.#list(timeline, { limit, ...place });
      this.#succeeded(timeline);
      return answer;
    } catch (error) {
      const isPlaced = Boolean(place.around ?? place.after);
      const isPlaceGone = isPlaced && error.code === "MESSAGE_NOT_FOUND";
      // If a message is looked for, the loaded part is unchanged.
      const hasFailed = !isPlaceGone && (loading !== "around" || !timeline.isLoaded);
      if (hasFailed) this.#failed(timeline, loading, error);
      else this.#succeeded(timeline);
      const isLeft = !isPlaceGone && isGone(error) && timeline.rootId === null;
      if (isLeft) this.#onGone(timeline.conversationId);
      return null;
    }
  }

  #succeeded(timeline) {
    timeline.asks(null);
    this.#retries.get(timeline)?.stop();
    this.#retries.delete(timeline);
    this.#store.changed();
  }

  /** After a temporary failure a page is loaded again if the list is still open then. */
  #failed(timeline, part, error) {
    timeline.asks("failed", part, error);
    this.#store.changed();
    // When a stream opens, all open lists are loaded.
    if (!error.isTemporary || this.#store.status !== "live") return;
    const retry = this.#retries.get(timeline) ?? new Retry(() => this.#retry(timeline));
    this.#retries.set(timeline, retry);
    retry.failed(error);
  }

  #retry(timeline) {
    const { openId, openThread } = this.#store;
    const openList = timeline.rootId === null ? this.#store.heldTimeline(openId) : openThread?.timeline;
    if (openList === timeline) this.loadAgain(timeline);
    else this.#retries.delete(timeline);
  }

  #list({ conversationId, rootId }, page) {
    if (rootId !== null) return this.#chat.listThread(conversationId, rootId, page);
    return this.#chat.listMessages(conversationId, page);
  }
}

function isAround({ around, aroundSeq }) {
  return Boolean(around ?? aroundSeq);
}

/** The id of the first message from a seq on, or of the last one before; `messages` are newest
 * first. */
function firstFrom(messages, seq) {
  return (messages.findLast((message) => message.seq >= seq) ?? messages[0])?.id ?? null;
}

function nothing() {
  return null;
}

/** Whether the answer means that this does not exist, or that the reader may not see it. */
export function isGone({ code }) {
  return ["CONVERSATION_NOT_FOUND", "MESSAGE_NOT_FOUND", "FORBIDDEN_READ"].includes(code);
}
