/** The drafts that assistants are writing, and stopping them. No DOM. */

const GONE_AFTER_MS = 90_000;
const MOST_ENDED = 500;

function keyOf({ conversationId, senderId, clientMessageId }) {
  return JSON.stringify([conversationId, senderId, clientMessageId]);
}

export class LiveDrafts {
  #chat;
  #store;
  /** The timers that end drafts without further events, by id. */
  #timers = new Map();
  /** Drafts that have ended: ids, and the keys of sent ones. */
  #ended = new Set();
  /** The conversations whose drafts are being fetched. */
  #asking = new Set();
  #areOffered;

  /** `areOffered`: whether the service is known to have drafts; their events show it as well. */
  constructor(chat, store, areOffered = true) {
    this.#chat = chat;
    this.#store = store;
    this.#areOffered = areOffered;
  }

  /** Fetch the text so far, for readers who came later. */
  async load(conversationId) {
    if (!this.#areOffered || this.#asking.has(conversationId)) return;
    this.#asking.add(conversationId);
    try {
      for (const { id, ...draft } of await this.#chat.drafts.list(conversationId)) {
        this.#put({ ...draft, draftId: id });
      }
    } catch {
      // Finished drafts are visible as messages.
    } finally {
      this.#asking.delete(conversationId);
    }
  }

  receive({ type, conversationId, senderId, payload }) {
    this.#areOffered ||= type === "draft.updated";
    if (type === "draft.ended") this.#end(payload.draftId);
    else if (type === "draft.updated") this.#add(conversationId, senderId, payload);
  }

  /** The message of a draft has arrived. */
  arrived({ conversationId, senderId, clientMessageId }) {
    if (clientMessageId === null) return;
    const key = keyOf({ conversationId, senderId, clientMessageId });
    this.#note(key);
    for (const writing of this.#store.writings) {
      if (keyOf(writing) === key) this.#remove(writing.draftId);
    }
  }

  /** Fetch drafts again, since parts may have been missed. */
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
    return this.#store.writings.find((writing) => writing.draftId === draftId);
  }

  #put(draft) {
    const { draftId } = draft;
    // A fetched draft, or an event of another process, may be older than its end.
    if (this.#ended.has(draftId) || this.#ended.has(keyOf(draft))) return;
    clearTimeout(this.#timers.get(draftId));
    this.#timers.set(draftId, setTimeout(() => this.#remove(draftId), GONE_AFTER_MS));
    const { writings } = this.#store;
    const index = writings.findIndex((writing) => writing.draftId === draftId);
    const next = writings.map((writing, place) => (place === index ? draft : writing));
    this.#store.set({ writings: index < 0 ? [...writings, draft] : next });
  }

  #end(draftId) {
    this.#note(draftId);
    this.#remove(draftId);
  }

  #note(ended) {
    this.#ended.add(ended);
    if (this.#ended.size > MOST_ENDED) this.#ended.delete(this.#ended.values().next().value);
  }

  #remove(draftId) {
    clearTimeout(this.#timers.get(draftId));
    this.#timers.delete(draftId);
    const writings = this.#store.writings.filter((writing) => writing.draftId !== draftId);
    this.#store.set({ writings });
  }
}
