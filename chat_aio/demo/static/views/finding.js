/** What leads to messages anywhere: the search, threads and mentions, and Ctrl+K. */

import { UnlistedConversations } from "../unlisted-conversations.js";
import { Finder, isIn } from "../finder.js";
import { Inbox } from "../inbox.js";
import { Search } from "../search.js";
import { InboxViews } from "./inbox.js";
import { say } from "../words.js";
import { Palette } from "./palette.js";
import { SearchView } from "./search.js";

export class FindingViews {
  #search;
  #views;
  #palette;
  /** Knows which threads have something new, and what of them is read. */
  inbox;

  /**
   * `needs.go(conversationId, rootId?)` opens a conversation, or a thread of it,
   * `needs.goToMessage(message)` a message, `needs.goToPerson(userId)` the direct conversation.
   */
  constructor(chat, store, people, needs) {
    const { go, goToMessage, goToPerson } = needs;
    const elsewhere = new UnlistedConversations(chat, store);
    const titleIn = (id) => {
      const conversation = elsewhere.conversation(id);
      return conversation ? people.titleOf(conversation) : "";
    };
    this.inbox = new Inbox(chat, store, elsewhere);
    const goToThread = ({ id, conversationId }) => go(conversationId, id);
    this.#views = new InboxViews(this.inbox, store, people, { goToMessage, goToThread, titleIn });
    const changed = () => store.changed();
    const known = { store, people, elsewhere, changed };
    const goTo = ({ kind, person, conversation, message }) => {
      if (kind === "message") goToMessage(message);
      else if (kind === "conversation") go(conversation.id);
      else goToPerson(person.id);
    };
    this.#palette = new Palette(new Finder(chat, known), people, { titleIn, goTo });
    const filter = new Finder(chat, { ...known, hasMessages: false });
    const search = new Search(chat, store, elsewhere, filterable(store, people));
    this.#search = new SearchView(search, store, people, { filter, goTo, goToMessage });
  }

  /** Threads and mentions, by name: `open()`, `focus()` and `show()`. */
  get screens() {
    return this.#views.screens;
  }

  show() {
    for (const view of [this.#search, this.#views, this.#palette]) view.show();
  }
}

/** What the filters of a search can name: in English and in the reader's language. */
function filterable(store, people) {
  const kinds = ["from", "in", "before", "since", "has"];
  const names = kinds.map((kind) => [kind, [kind, say(`search.${kind}`)]]);
  const isMe = (name) => ["me", say("people.you")].includes(name.toLowerCase());
  const personOf = (name) =>
    people.all.find(({ id, name: whole }) => id === name || isIn(whole, name))?.id ?? null;
  const placeOf = (name) =>
    store.conversations.find((conversation) => isIn(people.titleOf(conversation), name))?.id ?? null;
  return {
    names: Object.fromEntries(names),
    personOf: (name) => (isMe(name) ? people.userId : personOf(name)),
    placeOf,
  };
}
