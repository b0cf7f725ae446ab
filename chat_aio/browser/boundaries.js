/** The user's blocks and mutes. No DOM. */

import { inTurn } from "./tasks.js";

const ITEMS_PER_PAGE = 200;

export class Boundaries {
  #moderation;
  #store;
  #changes = 0;

  constructor(chat, store) {
    this.#moderation = chat.moderation;
    this.#store = store;
    this.load = inTurn(() => this.#load());
  }

  block(userId) {
    return this.#put("blockedIds", userId, () => this.#moderation.blockUser(userId));
  }

  unblock(userId) {
    return this.#drop("blockedIds", userId, () => this.#moderation.unblockUser(userId));
  }

  mute(conversationId) {
    const mute = () => this.#moderation.muteConversation(conversationId);
    return this.#put("mutedIds", conversationId, mute);
  }

  unmute(conversationId) {
    const unmute = () => this.#moderation.unmuteConversation(conversationId);
    return this.#drop("mutedIds", conversationId, unmute);
  }

  /** An answer requested before a change may not contain it: then fetch again. */
  async #load() {
    const changes = this.#changes;
    try {
      const [blocks, mutes] = await Promise.all([
        everyOf("blocks", (page) => this.#moderation.listBlockedUsers(page)),
        everyOf("mutes", (page) => this.#moderation.listMutedConversations(page)),
      ]);
      if (changes !== this.#changes) {
        this.load();
        return;
      }
      this.#store.set({
        blockedIds: new Set(blocks.map((block) => block.blockedUserId)),
        mutedIds: new Set(mutes.map((mute) => mute.conversationId)),
      });
    } catch {
      // Known data stays; the next opening of the stream fetches again.
    }
  }

  async #put(name, id, ask) {
    await ask();
    this.#changes += 1;
    this.#store.set({ [name]: new Set([...this.#store[name], id]) });
  }

  async #drop(name, id, ask) {
    await ask();
    this.#changes += 1;
    this.#store.set({ [name]: new Set([...this.#store[name]].filter((kept) => kept !== id)) });
  }
}

async function everyOf(name, list) {
  const found = [];
  let cursor = null;
  do {
    const page = await list({ limit: ITEMS_PER_PAGE, cursor });
    found.push(...page[name]);
    cursor = page.nextCursor;
  } while (cursor);
  return found;
}
