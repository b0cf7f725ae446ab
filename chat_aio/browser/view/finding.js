/** What leads to messages anywhere: the search, threads and mentions, and Ctrl+K. */

import { Finder, isIn } from "../finder.js";
import { Search } from "../search.js";
import { InboxViews } from "./inbox.js";
import { Palette } from "./palette.js";
import { Part } from "./part.js";
import { SearchView } from "./search.js";

export class FindingViews extends Part {
  /** The box and its results; null where nothing is searched. */
  search = null;
  /** Threads and mentions, by name: `open()`, `focus()` and `show()`. */
  screens = {};
  #views = [];

  /**
   * `inbox` has the threads and mentions, null where there are none; `elsewhere` the conversations
   * that are not in the list. `needs.goToPerson(userId)` opens the direct conversation,
   * `needs.badge(name, words)` is shown where one goes to a screen, `needs.searching` is called when
   * results are shown.
   */
  constructor(shell, chat, { inbox, elsewhere }, needs) {
    super(shell);
    const titleIn = (id) => {
      const conversation = elsewhere.conversation(id);
      return conversation ? this.people.titleOf(conversation) : "";
    };
    if (inbox) {
      const views = new InboxViews(shell, inbox, { titleIn, badge: needs.badge });
      this.screens = views.screens;
      this.#views.push(views);
    }
    if (shell.has("search") && shell.has("list")) this.#makeSearch(chat, { elsewhere, titleIn }, needs);
  }

  show() {
    for (const view of this.#views) view.show();
  }

  #makeSearch(chat, { elsewhere, titleIn }, { goToPerson, searching: shown }) {
    const { store, people, shell } = this;
    const { places } = shell;
    const goTo = ({ kind, person, conversation, message }) => {
      if (kind === "message") places.goToMessage(message);
      else if (kind === "conversation") places.go(conversation.id);
      else goToPerson(person.id);
    };
    const known = { store, people, elsewhere, changed: () => store.changed() };
    const filter = new Finder(chat, { ...known, hasMessages: false });
    const search = new Search(chat, store, elsewhere, filterable(shell));
    this.search = new SearchView(shell, search, { filter, goTo, shown });
    const palette = new Palette(shell, new Finder(chat, known), { titleIn, goTo });
    this.#views.push(this.search, palette);
  }
}

/** What the filters of a search can name: in English and in the reader's language. */
function filterable({ store, people, texts: { say } }) {
  const names = {
    from: ["from", say("search.from")],
    in: ["in", say("search.in")],
    before: ["before", say("search.before")],
    since: ["since", say("search.since")],
    has: ["has", say("search.has")],
  };
  const isMe = (name) => ["me", say("people.you")].includes(name.toLowerCase());
  const personOf = (name) =>
    people.all.find(({ id, name: whole }) => id === name || isIn(whole, name))?.id ?? null;
  const placeOf = (name) =>
    store.conversations.find((conversation) => isIn(people.titleOf(conversation), name))?.id ?? null;
  return {
    names,
    personOf: (name) => (isMe(name) ? people.userId : personOf(name)),
    placeOf,
  };
}
