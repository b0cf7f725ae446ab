/** Fetches the changes that a replay leaves out, as `stream.changed` names them. No DOM. */

/** More at once are one list. */
const MOST_ONE_BY_ONE = 5;
/** The kinds that a row of the list shows. */
const OF_ROWS = ["members", "name", "metadata", "pins", "ownMarks"];

export class Resuming {
  #store;
  #needs;
  #isInDoubt = false;

  /**
   * `needs.all()` fetches everything, `needs.list()` the list of conversations and then stale
   * messages, `needs.fetch(conversationId)` one row, `needs.preview(conversationId)` its last message,
   * and `needs.open()` stale messages of the open one. `needs.gone(conversationId)` is called for those
   * that the user is no longer in.
   */
  constructor(store, needs) {
    this.#store = store;
    this.#needs = needs;
  }

  /** Something could not be fetched without a stream: no event will name it. */
  doubt() {
    this.#isInDoubt = true;
  }

  /** `event` is `stream.changed`. */
  async resume({ all, conversations: named }) {
    const store = this.#store;
    const isDoubtful = this.#isInDoubt || !store.isListed || Boolean(store.listProblem);
    this.#isInDoubt = false;
    if (all || isDoubtful) return this.#needs.all();
    for (const id of named.removed) this.#needs.gone(id);
    const rows = [...new Set(OF_ROWS.flatMap((kind) => named[kind]))];
    const joined = new Map(named.members.map((id) => [id, this.#joinedAt(id)]));
    for (const id of named.reactions) store.becomeStaleIn(id);
    // A conversation that is further down than the list is loaded has no place in it.
    const isListed = !store.nextCursor || rows.every((id) => store.conversation(id));
    const isFew = new Set([...rows, ...named.reactions]).size <= MOST_ONE_BY_ONE;
    if (!isListed || !isFew) await this.#needs.list();
    else await this.#fetch(rows, named);
    // After leaving and coming back, messages are missing that no replay contains.
    for (const [id, at] of joined) {
      if (at !== null && this.#joinedAt(id) !== at) store.becomeStaleIn(id);
    }
    await this.#needs.open();
  }

  async #fetch(rows, { ownMarks, reactions }) {
    const previews = reactions.filter((id) => id !== this.#store.openId && this.#store.conversation(id));
    const { fetch, preview } = this.#needs;
    await Promise.all([...rows.map(fetch), ...previews.map(preview)]);
    // Where the unread ones begin is another place now.
    for (const id of ownMarks) {
      const found = this.#store.conversation(id);
      if (found) this.#store.setUnread(id, found.unreadCount);
    }
  }

  #joinedAt(conversationId) {
    const { userId } = this.#store;
    const participants = this.#store.conversation(conversationId)?.participants ?? [];
    const own = participants.find((participant) => participant.userId === userId);
    return own?.joinedAt ?? null;
  }
}
