/** The search box above the list, and its results in place of the list. */

import { avatar, element, Rows, setAttribute, setAvatar, setText } from "../../../browser/dom.js";
import { excerpted, highlighted } from "../terms.js";
import { agoOf, momentOf } from "../times.js";
import { later } from "../../../browser/tasks.js";
import { plainOf } from "../../../browser/plain.js";
import { say } from "../words.js";
import { FoundPlaceRow, shownOf } from "./found.js";
import { showMore } from "./section.js";

const PAUSE_MS = 250;

export class SearchView {
  #app = document.querySelector("#app");
  #form = document.querySelector("#search");
  #input = document.querySelector("#query");
  #scope = document.querySelector("#scope");
  #panel = document.querySelector("#results");
  #hint = document.querySelector("#results-hint");
  #more = document.querySelector("#results-more");
  #rows;
  #places;
  #filter;
  #search;
  #store;
  #people;
  /** Begun from a conversation: on a phone it comes before that. */
  #isOpened = false;
  #pause = later(PAUSE_MS);

  /**
   * `filter` finds people and conversations by their names. `goTo(found)`
   * goes to one of those, `goToMessage(message)` to a message that was found.
   */
  constructor(search, store, people, { filter, goTo, goToMessage }) {
    this.#search = search;
    this.#store = store;
    this.#people = people;
    this.#filter = filter;
    const [places, messages] = this.#panel.querySelectorAll("ul");
    this.#places = new Rows(places, { go: (found) => this.#leave(() => goTo(found)) });
    this.#rows = new Rows(messages, { go: (found) => this.#leave(() => goToMessage(found)) });
    this.#input.addEventListener("input", () => this.#pause(() => this.#start()));
    this.#scope.addEventListener("change", () => this.#start());
    this.#more.addEventListener("click", () => search.more());
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#start();
    });
    this.#form.addEventListener("keydown", (event) => this.#pressed(event));
    document.querySelector("#search-close").addEventListener("click", () => this.close());
    document.querySelector("#search-here").addEventListener("click", () => this.#open());
  }

  close() {
    this.#isOpened = false;
    this.#input.value = "";
    this.#scope.checked = false;
    this.#start();
  }

  show() {
    const { isActive, results, nextCursor, isLoading, words: query } = this.#search;
    const { open } = this.#store;
    setAttribute(this.#app, "data-searching", isActive || this.#isOpened);
    this.#panel.hidden = !isActive;
    document.querySelector("#list").hidden = isActive;
    document.querySelector("#search-close").hidden = !isActive && !this.#isOpened;
    this.#showScope(open);
    this.#rows.show(results.map((result) => this.#rowOf(result, query)));
    const isEverywhere = isActive && this.#search.conversationId === null;
    const places = isEverywhere ? this.#filter.found : [];
    this.#showPlaces(places);
    setText(this.#hint, hintOf(this.#search, places));
    this.#hint.hidden = this.#hint.textContent === "";
    showMore(this.#more, this.#panel, { nextCursor, isLoading });
  }

  #showScope(open) {
    const label = document.querySelector("#scope-label");
    label.hidden = !open || (!this.#search.isActive && !this.#isOpened);
    if (!open) return;
    const title = this.#people.titleOf(open);
    setText(label.querySelector("span"), say("search.onlyIn", { title }));
  }

  /** The rows of the list whose names match. */
  #showPlaces(found) {
    const stateOf = (place) => {
      const { picture, ...words } = shownOf(place, this.#people, () => "");
      return { found: place, ...words, ...picture };
    };
    this.#panel.querySelector("ul").hidden = found.length === 0;
    this.#places.show(
      found.map((place) => ({ key: place.key, Row: FoundPlaceRow, state: stateOf(place) })),
    );
  }

  #rowOf(message, query) {
    const conversation = this.#search.conversation(message.conversationId);
    const people = this.#people;
    const state = {
      ...people.pictureOfPerson(message.senderId),
      ...{ message, query, ago: agoOf(message.createdAt) },
      title: conversation ? people.titleOf(conversation) : "",
      isOwn: message.senderId === people.userId,
      sender: people.nameOf(message.senderId),
    };
    return { key: message.id, Row: FoundRow, state };
  }

  #start() {
    this.#search.start(this.#input.value, this.#scope.checked ? this.#store.openId : null);
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
    if (matchMedia("(max-width: 44rem)").matches) this.close();
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

class FoundRow {
  #avatar = avatar();
  #title = element("span", { class: "row-title", dir: "auto" });
  #time = element("time", { class: "row-time" });
  #sender = element("strong");
  #body = element("span", { class: "found-body", dir: "auto" });
  #message = null;
  node;

  constructor({ go }) {
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
    setText(this.#sender, say("search.sender", { isOwn, name: sender }));
    setText(this.#time, ago);
    setAttribute(this.#time, "datetime", message.createdAt);
    setAttribute(this.#time, "title", momentOf(message.createdAt));
    const pieces = excerpted(highlighted(plainOf(message.body, { isWhole: true }), query));
    this.#body.replaceChildren(
      ...pieces.map(({ text, isFound }) => (isFound ? element("mark", {}, text) : text)),
    );
  }
}

function hintOf({ isLoading, problem, results, isActive }, places) {
  if (problem) return `${say("search.failed")} ${problem}`;
  if (isLoading) return say("search.running");
  const isNothing = isActive && results.length === 0 && places.length === 0;
  return isNothing ? say("search.nothing") : "";
}
