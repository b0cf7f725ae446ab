/** What all parts of one chat share. */

import { Late } from "../late.js";

export class Shell {
  #ending;
  #features;
  /** The parts that are loaded later. */
  #lates = [];
  /** The names of emoji. */
  emoji = this.late(
    async () => (await import("../emoji.js")).emojiIn(this.texts.language),
    (names) => names,
  );

  /**
   * `root` holds all nodes of the chat, `texts` its words; `places` lead from one part to another,
   * `sources` are those of files, `kept` is the storage of the browser, `unsent` has drafts,
   * `loading` loads parts. `ending` ends the chat.
   * `isPage`: the chat is the page, and not a part of somebody else's. `features` are names of
   * the wanted parts.
   */
  constructor({ isPage = false, features = [], ...shared }) {
    this.root = shared.root;
    this.store = shared.store;
    this.people = shared.people;
    this.texts = shared.texts;
    this.places = shared.places;
    this.sources = shared.sources;
    this.kept = shared.kept;
    this.unsent = shared.unsent;
    this.loading = shared.loading;
    this.#ending = shared.ending ?? new AbortController();
    this.isPage = isPage;
    this.#features = new Set(features);
  }

  has(feature) {
    return this.#features.has(feature);
  }

  /** Ends listeners outside of the chat's own nodes. */
  get signal() {
    return this.#ending.signal;
  }

  end() {
    this.#ending.abort();
  }

  /** A part that is loaded when it is needed. */
  late(load, make) {
    const late = new Late(this, load, make);
    this.#lates.push(late);
    return late;
  }

  /** Load the parts that are left, one after the other, so that they are there when they are
   * needed. Not where the user wants to save data. */
  async fetchRest() {
    if (navigator.connection?.saveData) return;
    for (const late of this.#lates) {
      await idle();
      if (this.signal.aborted || !(await late.fetch())) return;
    }
  }

  /** The focused node of the chat, or null. */
  get focused() {
    const { activeElement } = this.root.getRootNode();
    return this.root.contains(activeElement) ? activeElement : null;
  }

  /** Whether nothing has the focus, as when what had it is gone. */
  get isFocusLost() {
    const { activeElement } = document;
    const place = this.root.getRootNode();
    const isEmpty = activeElement === place.host && place.activeElement === null;
    return isEmpty || activeElement === null || activeElement === document.body;
  }

  /** Whether the focus is in the chat, or nowhere: it is not taken from the page around it. */
  get mayTakeFocus() {
    const { host } = this.root.getRootNode();
    return this.isFocusLost || Boolean(host?.contains(host.getRootNode().activeElement));
  }

  /** Whether lines begin on the right. */
  get isFromRight() {
    return getComputedStyle(this.root).direction === "rtl";
  }

  /** How much room there is, as the style sheet sees it: "wide", "narrow" or "phone". */
  get layout() {
    return getComputedStyle(this.root.querySelector(".app")).getPropertyValue("--layout").trim();
  }

  /** Whether there is a mouse: a keyboard on the screen would cover what one came to read. */
  get hasMouse() {
    return matchMedia("(hover: hover)").matches;
  }

  /** A part of the page, or, where that is somebody else's, of the chat. */
  get landmarks() {
    return this.isPage ? PAGE : EMBEDDED;
  }
}

/** Safari has no requestIdleCallback. */
const idle = () => new Promise((resolve) => (globalThis.requestIdleCallback ?? setTimeout)(resolve));
const PAGE = { main: "main", title: "h1", side: "complementary" };
const EMBEDDED = { main: "section", title: "h2", side: "region" };
