/** What assistants are writing just now, and stopping them. No DOM. */

const GONE_AFTER_MS = 90_000;

export class LiveDrafts {
  #chat;
  #store;
  /** What ends a draft of which nothing more is heard, by its id. */
  #timers = new Map();
  /** The conversations whose drafts are being asked for. */
  #asking = new Set();

  constructor(chat, store) {
    this.#chat = chat;
    this.#store = store;
  }

  /** Those who come later get the text so far. */
  async load(conversationId) {
    if (this.#asking.has(conversationId)) return;
    this.#asking.add(conversationId);
    try {
      for (const { id, ...draft } of await this.#chat.drafts.list(conversationId)) {
        this.#put({ ...draft, draftId: id });
      }
    } catch {
      // They are seen as messages when they are done.
    } finally {
      this.#asking.delete(conversationId);
    }
  }

  tell({ type, conversationId, senderId, payload }) {
    if (type === "draft.ended") this.#remove(payload.draftId);
    else if (type === "message.draft") this.#add(conversationId, senderId, payload);
  }

  /** What an assistant was writing is there. */
  arrived({ conversationId, senderId, clientMessageId }) {
    const isIt = (each) =>
      each.conversationId === conversationId &&
      each.senderId === senderId &&
      each.clientMessageId === clientMessageId;
    const found = this.#store.writings.find(isIt);
    if (found) this.#remove(found.draftId);
  }

  /** Parts may have been missed. */
  becomeStale() {
    const { openId, writings } = this.#store;
    for (const { draftId } of writings) this.#remove(draftId);
    if (openId) this.load(openId);
  }

  stop({ conversationId, draftId }) {
    this.#put({ ...this.#get(draftId), isStopped: true });
    return this.#chat.drafts.stop(conversationId, draftId).catch(() => this.load(conversationId));
  }

  #add(conversationId, senderId, { first, last, text, ...about }) {
    const known = this.#get(about.draftId) ?? { text: "", parts: 0 };
    if (known.parts > last) return;
    if (known.parts !== first) {
      this.load(conversationId);
      return;
    }
    const written = { parts: last + 1, text: known.text + text };
    this.#put({ ...known, ...about, conversationId, senderId, ...written });
  }

  #get(draftId) {
    return this.#store.writings.find((each) => each.draftId === draftId);
  }

  #put(draft) {
    const { draftId } = draft;
    clearTimeout(this.#timers.get(draftId));
    this.#timers.set(draftId, setTimeout(() => this.#remove(draftId), GONE_AFTER_MS));
    const { writings } = this.#store;
    const index = writings.findIndex((each) => each.draftId === draftId);
    const next = index < 0 ? [...writings, draft] : writings.with(index, draft);
    this.#store.set({ writings: next });
  }

  #remove(draftId) {
    clearTimeout(this.#timers.get(draftId));
    this.#timers.delete(draftId);
    this.#store.set({ writings: this.#store.writings.filter((each) => each.draftId !== draftId) });
  }
}
