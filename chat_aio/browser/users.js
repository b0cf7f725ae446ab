/** The users' profiles: from pages, otherwise they are fetched. No DOM. */

import { Retry } from "./retry.js";
import { gathered } from "./tasks.js";

const GATHER_MS = 20;
const MOST_ASKED = 100;
const NOT_OFFERED = 501;

export class Users {
  #chat;
  #onChange;
  #known = new Map();
  /** The unknown users, and those of them that must be fetched. */
  #unknown = new Map();
  #missing = new Set();
  #ask = gathered(GATHER_MS, () => this.#askAll());
  #again = new Retry(() => this.#askAll());
  #isClosed = false;
  #areOffered = true;

  /** `onChange()` is called when more users are known. */
  constructor(chat, onChange) {
    this.#chat = chat;
    this.#onChange = onChange;
  }

  start() {
    this.#isClosed = false;
    if (this.#missing.size > 0) this.#ask();
  }

  /** Stop fetching. */
  close() {
    this.#isClosed = true;
    this.#again.stop();
  }

  /** Remember the users of a page, by id. */
  learn(users = {}) {
    for (const user of Object.values(users)) {
      // Their profiles stay the same objects as long as they are equal.
      if (!isSame(user, this.#known.get(user.id))) this.#known.set(user.id, Object.freeze(user));
    }
    this.#onChange();
  }

  /** The known ones. */
  get all() {
    return [...this.#known.values()];
  }

  /** {id, name, avatarUrl, isBot}; the name of an unknown user is the id. */
  get(userId) {
    if (!this.#known.has(userId) && !this.#unknown.has(userId)) this.#miss(userId);
    return this.#known.get(userId) ?? this.#unknown.get(userId);
  }

  #miss(userId) {
    const shown = { id: userId, name: userId, avatarUrl: null, isBot: false };
    this.#unknown.set(userId, Object.freeze(shown));
    this.#missing.add(userId);
    this.#ask();
  }

  async #askAll() {
    if (this.#isClosed) return;
    const wanted = [...this.#missing].filter((id) => !this.#known.has(id));
    const ids = wanted.slice(0, MOST_ASKED);
    this.#missing = new Set(wanted.slice(MOST_ASKED));
    if (ids.length === 0 || !this.#areOffered) return;
    try {
      const found = await this.#chat.findUsers({ ids });
      this.learn(Object.fromEntries(found.map((user) => [user.id, user])));
      this.#again.succeeded();
    } catch (error) {
      // Without profiles of the host they are shown by their ids.
      this.#areOffered = error.status !== NOT_OFFERED;
      for (const id of ids) this.#missing.add(id);
      if (!this.#isClosed) this.#again.failed(error);
      return;
    }
    if (this.#missing.size > 0) this.#ask();
  }
}

function isSame(user, known) {
  return known !== undefined && Object.keys(user).every((name) => user[name] === known[name]);
}
