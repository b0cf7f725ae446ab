/** People, conversations and messages by what one types, as one goes there by keyboard. No DOM. */

const MOST_OF_A_KIND = 5;
const FEWEST_LETTERS = 2;

export class Finder {
  /** The results: {kind, key}, and by its kind {person}, {conversation} or {message}. */
  found = [];
  query = "";
  isLoading = false;

  #chat;
  #store;
  #people;
  #elsewhere;
  #asked = 0;
  #changed;
  #hasMessages;

  /**
   * `elsewhere` brings conversations that are not in the list; `changed()` is called with news.
   * Without `hasMessages` only people and conversations are found.
   */
  constructor(chat, { store, people, elsewhere, changed, hasMessages = true }) {
    this.#hasMessages = hasMessages;
    this.#chat = chat;
    this.#store = store;
    this.#people = people;
    this.#elsewhere = elsewhere;
    this.#changed = changed;
  }

  /** Known results are shown at once, the rest is fetched. An empty text finds recent ones. */
  async find(text) {
    this.query = text.trim();
    this.#asked += 1;
    const asked = this.#asked;
    const known = [...this.#conversationsIn(this.#store.conversations), ...this.#persons()];
    this.#show(known, this.query.length >= FEWEST_LETTERS);
    if (!this.isLoading) return;
    const { query } = this;
    const [conversations, messages] = await Promise.all([
      this.#ask(() => this.#chat.listConversations({ q: query, limit: MOST_OF_A_KIND })),
      this.#hasMessages ? this.#ask(() => this.#searched(query)) : null,
    ]);
    // Answers may arrive out of order: only the one to the current text counts.
    if (asked !== this.#asked) return;
    this.#people.learn(conversations?.users);
    const more = (conversations?.conversations ?? []).map(asConversation);
    this.#show(unique([...known, ...more, ...this.#asMessages(messages)]), false);
  }

  #searched(query) {
    return this.#chat.searchMessages(query, { prefix: true, limit: MOST_OF_A_KIND });
  }

  #conversationsIn(conversations) {
    const isMeant = (conversation) => isIn(this.#people.titleOf(conversation), this.query);
    return conversations.filter(isMeant).slice(0, MOST_OF_A_KIND).map(asConversation);
  }

  /** Those with whom there is no conversation yet, as far as that is known. */
  #persons() {
    if (this.query === "") return [];
    const known = new Set(
      this.#store.conversations.map((conversation) => this.#people.otherIn(conversation)),
    );
    return this.#people.others
      .filter((other) => !known.has(other.id) && isIn(other.name, this.query))
      .slice(0, MOST_OF_A_KIND)
      .map((person) => ({ kind: "person", key: `person:${person.id}`, person }));
  }

  #asMessages(page) {
    const messages = page?.messages ?? [];
    for (const message of messages) this.#elsewhere.know(message.conversationId);
    return messages.map((message) => ({ kind: "message", key: `message:${message.id}`, message }));
  }

  /** If one kind fails, the others are shown. */
  async #ask(work) {
    try {
      return await work();
    } catch {
      return null;
    }
  }

  #show(found, isLoading) {
    Object.assign(this, { found, isLoading });
    this.#changed();
  }
}

function asConversation(conversation) {
  return { kind: "conversation", key: `conversation:${conversation.id}`, conversation };
}

function unique(found) {
  return [...new Map(found.map((place) => [place.key, place])).values()];
}

/** Whether a name has words that begin as the words that are typed. */
export function isIn(name, query) {
  const words = folded(name).split(/[\s,]+/u);
  return folded(query)
    .split(/\s+/u)
    .every((wanted) => words.some((word) => word.startsWith(wanted)));
}

function folded(text) {
  return text.normalize("NFKD").replace(/\p{Diacritic}/gu, "").toLowerCase();
}
