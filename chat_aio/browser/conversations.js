/**
 * The conversations that are known; those that are listed, most recently active first. One that was
 * opened by a link can be further down than the list is loaded. No DOM.
 */

export class Conversations {
  #known = new Map();
  /** The ids of those that are listed. */
  #order = [];
  /** Those that are listed, until something changes. */
  #all = null;
  /** When conversations were removed. */
  #removedAt = new Map();
  #clearedAt = 0;
  #now;

  /** `now()` is the clock that answers are dated with, by the time of their requests. */
  constructor(now) {
    this.#now = now;
  }

  get all() {
    this.#all ??= this.#order.map((id) => this.#known.get(id));
    return this.#all;
  }

  get(conversationId) {
    return this.#known.get(conversationId) ?? null;
  }

  /** The list from its start, as of `asOf`; conversations that have moved up since stay there. */
  replaceAll(conversations, asOf, openId) {
    const present = this.#present(conversations, asOf);
    const moved = this.#order.filter((id) => this.get(id).movedAt > asOf);
    this.#setOrder([...new Set([...moved, ...present.map((conversation) => conversation.id)])]);
    for (const conversation of present) this.put(conversation, asOf);
    const listed = new Set(this.#order);
    for (const id of this.#known.keys()) {
      if (!listed.has(id) && id !== openId) this.#known.delete(id);
    }
  }

  /** More of the list, behind its loaded part. */
  append(conversations, asOf) {
    const listed = new Set(this.#order);
    const present = this.#present(conversations, asOf);
    const more = present.map((conversation) => conversation.id).filter((id) => !listed.has(id));
    this.#setOrder([...this.#order, ...more]);
    for (const conversation of present) this.put(conversation, asOf);
  }

  /** List a conversation first, if it is not listed. */
  list(conversationId) {
    if (!this.#order.includes(conversationId)) this.moveUp(conversationId);
  }

  /**
   * Take a snapshot of a conversation, listed or not.
   *
   * Events' snapshots have no unread count, and an answer requested (`asOf`) before the reader's
   * last reading, or before the known count, has an outdated one: that stays. Later
   * changes stay too.
   */
  put(snapshot, asOf) {
    if (this.#isRemoved(snapshot, asOf)) return;
    const local = this.get(snapshot.id) ?? {
      ...{ unreadCount: 0, lastMessage: null, lastReply: null, hasPreview: false },
      ...{ movedAt: 0, readAt: 0, toldAt: 0, countedAt: 0, viewedAt: 0, view: null },
    };
    const isNewer = asOf >= Math.max(local.readAt, local.countedAt);
    const isCounted = snapshot.unreadCount !== undefined && isNewer;
    const { unreadCount } = isCounted ? snapshot : local;
    const countedAt = isCounted ? asOf : local.countedAt;
    const given = asOf < local.toldAt ? local : snapshot;
    const view = asOf < local.viewedAt ? local.view : (snapshot.view ?? local.view);
    this.#set(snapshot.id, { ...local, ...given, unreadCount, countedAt, view });
  }

  assign(conversationId, fields) {
    const known = this.#known.get(conversationId);
    if (known) this.#set(conversationId, { ...known, ...fields });
  }

  moveUp(conversationId) {
    if (!this.#known.has(conversationId)) return;
    this.assign(conversationId, { movedAt: this.#now() });
    this.#setOrder([conversationId, ...this.#order.filter((id) => id !== conversationId)]);
  }

  unlist(conversationId) {
    this.#setOrder(this.#order.filter((id) => id !== conversationId));
  }

  remove(conversationId) {
    this.#removedAt.set(conversationId, this.#now());
    this.#known.delete(conversationId);
    this.unlist(conversationId);
  }

  clear() {
    this.#clearedAt = this.#now();
    this.#known.clear();
    this.#setOrder([]);
  }

  #set(conversationId, conversation) {
    const { unreadCount, unreadMentions = 0 } = conversation;
    // There are no events for single read ones.
    const mentions = { unreadMentions: Math.min(unreadMentions, unreadCount) };
    this.#known.set(conversationId, { ...conversation, ...mentions });
    this.#all = null;
  }

  #setOrder(order) {
    this.#order = order;
    this.#all = null;
  }

  #present(conversations, asOf) {
    return conversations.filter((conversation) => !this.#isRemoved(conversation, asOf));
  }

  /** An answer requested before the removal does not bring it back. */
  #isRemoved({ id }, asOf) {
    return asOf < Math.max(this.#removedAt.get(id) ?? 0, this.#clearedAt);
  }
}
