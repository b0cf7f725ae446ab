/** The presence of visible users. No DOM. */

import { gathered, inTurn } from "./tasks.js";

/** After a restart of a server many users come online at once. */
const GATHER_MS = 50;
const MOST_ASKED = 50;
const UNKNOWN = { online: false, lastSeenAt: null };
const HERE = { online: true, lastSeenAt: null };

export class Presence {
  #chat;
  #store;
  /** {online, lastSeenAt, toldAt} by user. */
  #known = new Map();
  #watched = new Map();
  #asked = new Set();
  #ask = inTurn(() => this.#askAll());
  #changed;

  constructor(chat, store) {
    this.#chat = chat;
    this.#store = store;
    this.#changed = gathered(GATHER_MS, () => store.changed());
  }

  /** {online, lastSeenAt}; nobody is shown as online while presence is unknown. */
  of(userId) {
    if (this.#store.status !== "live") return UNKNOWN;
    if (userId === this.#store.userId) return HERE;
    return this.#known.get(userId) ?? UNKNOWN;
  }

  /** The people shown in a `place`: the presence of new ones is fetched. */
  watch(place, userIds) {
    this.#watched.set(place, userIds);
    const shown = this.#shown;
    for (const userId of this.#asked) if (!shown.has(userId)) this.#asked.delete(userId);
    if (this.#missing.length > 0) this.#ask();
  }

  /** Call this when the stream has opened (again): states may have changed. */
  becomeStale() {
    this.#known.clear();
    this.#asked.clear();
    this.#ask();
  }

  receive({ type, senderId, payload }) {
    if (type === "presence.online" || type === "presence.offline") this.#put(senderId, payload);
  }

  get #shown() {
    return new Set([...this.#watched.values()].flat());
  }

  get #missing() {
    if (this.#store.status !== "live") return [];
    const isMissing = (userId) => userId !== this.#store.userId && !this.#asked.has(userId);
    return [...this.#shown].filter(isMissing);
  }

  async #askAll() {
    const ids = this.#missing;
    for (const userId of ids) this.#asked.add(userId);
    for (let from = 0; from < ids.length; from += MOST_ASKED) {
      await this.#askFor(ids.slice(from, from + MOST_ASKED));
    }
  }

  /** An answer is older than an event that arrived since. */
  async #askFor(userIds) {
    const asOf = this.#store.now();
    try {
      const found = await this.#chat.getPresence(userIds);
      const isOlder = (userId) => asOf > (this.#known.get(userId)?.toldAt ?? 0);
      for (const userId of userIds.filter(isOlder)) this.#put(userId, found[userId] ?? UNKNOWN);
    } catch {
      // They are shown without presence; the next opening of the stream fetches again.
    }
  }

  #put(userId, { online, lastSeenAt }) {
    this.#known.set(userId, { online, lastSeenAt, toldAt: this.#store.now() });
    this.#changed();
  }
}

/** Where the service has no presence. */
export const NO_PRESENCE = { of: () => UNKNOWN, watch() {} };
