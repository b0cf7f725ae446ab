/** The conversations that are known, most recently active first. No DOM. */

export class Conversations {
  #known = new Map();
  #order = [];
  /** When conversations were removed. */
  #removedAt = new Map();
  #now;

  /** `now()` is the clock that answers are dated with, by when they were asked for. */
  constructor(now) {
    this.#now = now;
  }

  get all() {
    return this.#order.map((id) => this.#known.get(id));
  }

  get(conversationId) {
    return this.#known.get(conversationId) ?? null;
  }

  /** The list from its beginning, as it was at `asOf`; what came later stays, as does `openId`. */
  replaceAll(conversations, asOf, openId) {
    const present = this.#present(conversations, asOf);
    const listed = present.map((each) => each.id);
    const kept = this.#order.filter((id) => {
      const isNewer = this.get(id).addedAt > asOf;
      return !listed.includes(id) && (isNewer || id === openId);
    });
    this.#order = [...kept, ...listed];
    for (const each of present) this.put(each, asOf);
    for (const id of this.#known.keys()) {
      if (!this.#order.includes(id)) this.#known.delete(id);
    }
  }

  /** More of the list, behind what is known of it. */
  append(conversations, asOf) {
    for (const each of this.#present(conversations, asOf)) {
      if (!this.#known.has(each.id)) this.#order.push(each.id);
      this.put(each, asOf);
    }
  }

  /**
   * Take a snapshot; a new conversation comes first in the list.
   *
   * Events' snapshots have no unread count, and an answer asked for before the reader's last
   * reading (`asOf`) has an outdated one: the known count stays. What was told since stays too.
   */
  put(snapshot, asOf) {
    if (this.#isRemoved(snapshot, asOf)) return;
    const local = this.get(snapshot.id) ?? {
      ...{ unreadCount: 0, lastMessage: null, lastReply: null, hasPreview: false },
      ...{ addedAt: this.#now(), readAt: 0, toldAt: 0 },
    };
    const isCounted = snapshot.unreadCount !== undefined && asOf >= local.readAt;
    const { unreadCount } = isCounted ? snapshot : local;
    const given = asOf < local.toldAt ? local : snapshot;
    this.#known.set(snapshot.id, { ...local, ...given, unreadCount });
    if (!this.#order.includes(snapshot.id)) this.#order.unshift(snapshot.id);
  }

  assign(conversationId, fields) {
    const known = this.#known.get(conversationId);
    if (known) this.#known.set(conversationId, { ...known, ...fields });
  }

  moveUp(conversationId) {
    this.#order = [conversationId, ...this.#order.filter((id) => id !== conversationId)];
  }

  remove(conversationId) {
    this.#removedAt.set(conversationId, this.#now());
    this.#known.delete(conversationId);
    this.#order = this.#order.filter((id) => id !== conversationId);
  }

  #present(conversations, asOf) {
    return conversations.filter((each) => !this.#isRemoved(each, asOf));
  }

  /** An answer that was asked for before the removal does not bring it back. */
  #isRemoved({ id }, asOf) {
    return asOf < (this.#removedAt.get(id) ?? 0);
  }
}
