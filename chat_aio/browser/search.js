/** A search over messages: the query and the results so far. No DOM. */

import { filtersIn } from "./search-filters.js";

const RESULTS_PER_PAGE = 20;

export class Search {
  query = "";
  /** Its words, without the filters. */
  words = "";
  /** The conversation it is limited to, null for all. */
  conversationId = null;
  results = [];
  nextCursor = null;
  isLoading = false;
  problem = null;

  #chat;
  #store;
  #elsewhere;
  #asked = 0;
  #known;
  #filters = {};

  /** `elsewhere` knows the conversations of results that are not in the list, `known` what filters
   * can name (search-filters.js). */
  constructor(chat, store, elsewhere, known) {
    this.#known = known;
    this.#chat = chat;
    this.#store = store;
    this.#elsewhere = elsewhere;
  }

  get isActive() {
    return this.query !== "";
  }

  conversation(id) {
    return this.#elsewhere.conversation(id);
  }

  /** Start a search; a blank query ends it. A space behind the last word marks it as complete. */
  async start(query, conversationId) {
    const wanted = query.trim() && query.trimStart().replace(/\s+$/u, " ");
    if (wanted === this.query && conversationId === this.conversationId && !this.problem) return;
    Object.assign(this, { query: wanted, conversationId, nextCursor: null, problem: null });
    const { words, filters } = filtersIn(wanted, this.#known);
    this.words = words.trim() && words.trimStart();
    this.#filters = filters;
    this.#asked += 1;
    this.isLoading = false;
    if (this.isActive) await this.#load([], null);
    else this.results = [];
    this.#store.changed();
  }

  async more() {
    if (this.nextCursor && !this.isLoading) await this.#load(this.results, this.nextCursor);
  }

  /** Answers may arrive out of order: only the one to the last request counts. */
  async #load(before, cursor) {
    this.#asked += 1;
    const asked = this.#asked;
    const { words, conversationId } = this;
    const slice = { conversationId, ...this.#filters, cursor, limit: RESULTS_PER_PAGE };
    if (words) slice.prefix = true;
    this.#show({ isLoading: true, problem: null });
    try {
      const page = await this.#chat.searchMessages(words || null, slice);
      if (asked !== this.#asked) return;
      for (const message of page.messages) this.#elsewhere.know(message.conversationId);
      const results = [...before, ...page.messages];
      this.#show({ results, nextCursor: page.nextCursor, isLoading: false });
    } catch (error) {
      if (asked !== this.#asked) return;
      this.#show({ results: before, isLoading: false, problem: error });
    }
  }

  #show(fields) {
    Object.assign(this, fields);
    this.#store.changed();
  }
}
