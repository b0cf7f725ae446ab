/** The search that is typed above the list, and its results in place of the list. */

import { avatar, element, Rows, setAttribute, setAvatar, setText } from "../dom.js";
import { excerpted, highlighted } from "../terms.js";
import { plainOf } from "../plain.js";
import { later } from "../tasks.js";
import { FoundPlaceRow, shownOf } from "./found.js";
import { Part } from "./part.js";
import { showMore } from "./section.js";

const PAUSE_MS = 250;

export class SearchView extends Part {
  #box;
  #hint = element("p", { id: "results-hint", class: "hint", role: "status" });
  #more = element("button", {
    ...{ id: "results-more", class: "quiet more", type: "button", hidden: true },
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
   * `box` is where one types; `filter` finds people and conversations by their names. `goTo(found)`
   * goes to one of those, or to a message. `shown(isSearching)` is called when the results take the
   * place of the list.
   */
  constructor(shell, search, { box, filter, goTo, shown }) {
    super(shell);
    this.#box = box;
    this.#search = search;
    this.#filter = filter;
    this.#onShown = shown;
    const messages = element("ul");
    setText(this.#more, this.say("common.loadMore"));
    box.panel.append(this.#placesList, this.#hint, messages, this.#more);
    const go = (found) => this.#leave(() => goTo(found));
    this.#places = new Rows(this.#placesList, { shell, go });
    const goToMessage = (message) => go({ kind: "message", message });
    this.#rows = new Rows(messages, { shell, go: goToMessage });
    box.input.addEventListener("input", () => this.#pause(() => this.#start()));
    box.scope.addEventListener("change", () => this.#start());
    box.close.addEventListener("click", () => this.close());
    this.#more.addEventListener("click", () => search.more());
    box.form.addEventListener("submit", () => this.#start());
    box.form.addEventListener("keydown", (event) => this.#pressed(event));
    // It may have been typed before this was loaded.
    if (box.input.value) this.#start();
  }

  close() {
    this.#isOpened = false;
    this.#box.input.value = "";
    this.#box.scope.checked = false;
    this.#start();
  }

  show() {
    const { isActive, results, nextCursor, isLoading, words: query } = this.#search;
    this.#onShown({ isActive, isSearching: isActive || this.#isOpened });
    const box = this.#box;
    box.panel.hidden = !isActive;
    box.close.hidden = !isActive && !this.#isOpened;
    box.showScope(isActive || this.#isOpened);
    this.#rows.show(results.map((result) => this.#rowOf(result, query)));
    const isEverywhere = isActive && this.#search.conversationId === null;
    const places = isEverywhere ? this.#filter.found : [];
    this.#showPlaces(places);
    setText(this.#hint, hintOf(this.texts, this.#search, places));
    this.#hint.hidden = this.#hint.textContent === "";
    showMore(this.#more, box.panel, { nextCursor, isLoading });
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
    this.#search.start(this.#box.input.value, this.#box.scope.checked ? this.store.openId : null);
    if (this.#box.input.value.trim()) this.#filter.find(this.#box.input.value);
    this.show();
  }

  /** Search in the open conversation. */
  open() {
    this.#isOpened = true;
    this.#box.scope.checked = true;
    this.#start();
    this.#box.input.focus();
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
      this.#box.panel.querySelector("button")?.focus();
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
