/** The search box above the list, and its results in place of the list. */

import { avatar, element, Rows, setAttribute, setAvatar, setText } from "../dom.js";
import { excerpted, highlighted } from "../terms.js";
import { plainOf } from "../plain.js";
import { later } from "../tasks.js";
import { icon, iconButton } from "./icons.js";
import { FoundPlaceRow, shownOf } from "./found.js";
import { Part } from "./part.js";
import { showMore } from "./section.js";

const PAUSE_MS = 250;

export class SearchView extends Part {
  #input = element("input", {
    ...{ id: "query", type: "search", dir: "auto", maxlength: 2048, autocomplete: "off" },
    ...{ "aria-label": this.say("search.label"), placeholder: this.say("search.label") },
    ...{ enterkeyhint: "search", title: this.say("search.filters") },
  });
  #close = iconButton("cross", this.say("search.close"), {
    ...{ id: "search-close", hidden: true, onclick: () => this.close() },
  });
  #scope = element("input", { id: "scope", type: "checkbox" });
  #scopeWords = element("span");
  #label = element(
    "label",
    { id: "scope-label", class: "check", hidden: true },
    ...[this.#scope, " ", this.#scopeWords],
  );
  #hint = element("p", { id: "results-hint", class: "hint", role: "status" });
  #more = element("button", {
    ...{ id: "results-more", class: "quiet more", type: "button", hidden: true },
  });
  #form = this.#made();
  #panel = element("section", {
    ...{ id: "results", class: "list", "aria-label": this.say("search.results"), hidden: true },
  });
  /** What one types, and the results in place of the list. */
  nodes = [this.#form, this.#panel];
  /** It begins a search in the open conversation. */
  opener = iconButton("search", this.say("search.here"), {
    ...{ id: "search-here", onclick: () => this.#open() },
  });
  #placesList = element("ul", { id: "results-places" });
  #rows;
  #places;
  #onShown;
  #filter;
  #search;
  /** Begun from a conversation: on a phone it comes before that. */
  #isOpened = false;
  #pause = later(PAUSE_MS);

  /**
   * `filter` finds people and conversations by their names. `goTo(found)` goes to one of those, or
   * to a message. `shown(isSearching)` is called when the results take the place of the list.
   */
  constructor(shell, search, { filter, goTo, shown }) {
    super(shell);
    this.#search = search;
    this.#filter = filter;
    this.#onShown = shown;
    const messages = element("ul");
    setText(this.#more, this.say("common.loadMore"));
    this.#panel.append(this.#placesList, this.#hint, messages, this.#more);
    const go = (found) => this.#leave(() => goTo(found));
    this.#places = new Rows(this.#placesList, { shell, go });
    const goToMessage = (message) => go({ kind: "message", message });
    this.#rows = new Rows(messages, { shell, go: goToMessage });
    this.#input.addEventListener("input", () => this.#pause(() => this.#start()));
    this.#scope.addEventListener("change", () => this.#start());
    this.#more.addEventListener("click", () => search.more());
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#start();
    });
    this.#form.addEventListener("keydown", (event) => this.#pressed(event));
  }

  #made() {
    const box = element("div", { class: "search-box" }, icon("search"), this.#input, this.#close);
    const fields = { id: "search", class: "search", role: "search" };
    return element("form", fields, box, this.#label);
  }

  close() {
    this.#isOpened = false;
    this.#input.value = "";
    this.#scope.checked = false;
    this.#start();
  }

  show() {
    const { isActive, results, nextCursor, isLoading, words: query } = this.#search;
    const { open } = this.store;
    this.#onShown({ isActive, isSearching: isActive || this.#isOpened });
    this.#panel.hidden = !isActive;
    this.#close.hidden = !isActive && !this.#isOpened;
    this.#showScope(open);
    this.#rows.show(results.map((result) => this.#rowOf(result, query)));
    const isEverywhere = isActive && this.#search.conversationId === null;
    const places = isEverywhere ? this.#filter.found : [];
    this.#showPlaces(places);
    setText(this.#hint, hintOf(this.texts, this.#search, places));
    this.#hint.hidden = this.#hint.textContent === "";
    showMore(this.#more, this.#panel, { nextCursor, isLoading });
  }

  #showScope(open) {
    this.#label.hidden = !open || (!this.#search.isActive && !this.#isOpened);
    if (!open) return;
    const title = this.people.titleOf(open);
    setText(this.#scopeWords, this.say("search.onlyIn", { title }));
  }

  /** The rows of the list whose names match. */
  #showPlaces(found) {
    const stateOf = (place) => {
      const { picture, ...words } = shownOf(this.texts, place, this.people, () => "");
      return { found: place, ...words, ...picture };
    };
    this.#placesList.hidden = found.length === 0;
    this.#places.show(
      found.map((place) => ({ key: place.key, Row: FoundPlaceRow, state: stateOf(place) })),
    );
  }

  #rowOf(message, query) {
    const conversation = this.#search.conversation(message.conversationId);
    const people = this.people;
    const state = {
      ...people.pictureOfPerson(message.senderId),
      ...{ message, query, ago: this.texts.agoOf(message.createdAt) },
      title: conversation ? people.titleOf(conversation) : "",
      isOwn: message.senderId === people.userId,
      sender: people.nameOf(message.senderId),
    };
    return { key: message.id, Row: FoundRow, state };
  }

  #start() {
    this.#search.start(this.#input.value, this.#scope.checked ? this.store.openId : null);
    if (this.#input.value.trim()) this.#filter.find(this.#input.value);
    this.show();
  }

  #open() {
    this.#isOpened = true;
    this.#scope.checked = true;
    this.#start();
    this.#input.focus();
  }

  /** On a phone the results make room; next to a conversation they stay. */
  #leave(go) {
    this.#isOpened = false;
    if (this.shell.layout === "phone") this.close();
    go();
  }

  #pressed(event) {
    if (event.key === "Escape") {
      event.preventDefault();
      this.close();
    } else if (event.key === "ArrowDown") {
      event.preventDefault();
      this.#panel.querySelector("button")?.focus();
    }
  }
}

class FoundRow extends Part {
  #avatar = avatar();
  #title = element("span", { class: "row-title", dir: "auto" });
  #time = element("time", { class: "row-time" });
  #sender = element("strong");
  #body = element("span", { class: "found-body", dir: "auto" });
  #message = null;
  node;

  constructor({ shell, go }) {
    super(shell);
    const lines = element(
      "span",
      {},
      element("span", { class: "row-line" }, this.#title, " ", this.#time),
      element("span", { class: "found" }, this.#sender, " ", this.#body),
    );
    const onclick = () => go(this.#message);
    const button = element("button", { type: "button", class: "row", onclick });
    button.append(this.#avatar, " ", lines);
    this.node = element("li", {}, button);
  }

  show({ message, query, title, isOwn, sender, ago, ...picture }) {
    this.#message = message;
    setAvatar(this.#avatar, picture);
    setText(this.#title, title);
    setText(this.#sender, this.say("search.sender", { isOwn, name: sender }));
    setText(this.#time, ago);
    setAttribute(this.#time, "datetime", message.createdAt);
    setAttribute(this.#time, "title", this.texts.momentOf(message.createdAt));
    const pieces = excerpted(highlighted(plainOf(message.body, { isWhole: true }), query));
    this.#body.replaceChildren(
      ...pieces.map(({ text, isFound }) => (isFound ? element("mark", {}, text) : text)),
    );
  }
}

function hintOf(texts, { isLoading, problem, results, isActive }, places) {
  if (problem) return `${texts.say("search.failed")} ${texts.problemOf(problem)}`;
  if (isLoading) return texts.say("search.running");
  const isNothing = isActive && results.length === 0 && places.length === 0;
  return isNothing ? texts.say("search.nothing") : "";
}
