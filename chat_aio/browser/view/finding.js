/** What leads to messages anywhere: the search, and Ctrl+K. */

import { Finder, isIn } from "../finder.js";
import { Search } from "../search.js";
import { Palette } from "./palette.js";
import { Part } from "./part.js";
import { SearchView } from "./search.js";

export class FindingViews extends Part {
  search;
  screens = {};
  palette;

  /**
   * `needs.box` is the box above the list, `needs.unlisted` has the conversations that are not in
   * it. `needs.goToPerson(userId)` opens the direct conversation, `needs.searching` is called when
   * results are shown.
   */
  constructor(shell, chat, { box, unlisted, goToPerson, searching }) {
    super(shell);
    const { store, people } = this;
    const { places } = shell;
    const goTo = ({ kind, person, conversation, message }) => {
      if (kind === "message") places.goToMessage(message);
      else if (kind === "conversation") places.go(conversation.id);
      else goToPerson(person.id);
    };
    const known = { store, people, elsewhere: unlisted, changed: () => store.changed() };
    const filter = new Finder(chat, { ...known, hasMessages: false });
    const search = new Search(chat, store, unlisted, filterable(shell));
    this.search = new SearchView(shell, search, { box, filter, goTo, shown: searching });
    const titleIn = (id) => unlisted.titleOf(id, people);
    this.palette = new Palette(shell, new Finder(chat, known), { titleIn, goTo });
  }

  show() {
    this.search.show();
    this.palette.show();
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
