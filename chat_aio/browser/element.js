// @ts-check
/**
 * A chat as an element of a page, in two lines (docs/guides/pages.md):
 *
 *   <script type="module" src="/chat-aio/element.js"></script>
 *   <chat-aio base="/api/chat" user="ann"></chat-aio>
 */

import { Chat } from "./chat.js";
import { ChatStore } from "./chat-store.js";
import { element } from "./dom.js";
import { AddressPlaces, InnerPlaces } from "./places.js";
import { partsOf } from "./store-parts.js";
import { sheets } from "./style/sheet.js";
import "./style/frame.js";
import { eachDay, gathered } from "./tasks.js";
import { directionOf, textsIn } from "./texts.js";
import { UnsentTexts } from "./unsent.js";
import { UserStorage } from "./user-storage.js";
import { languageAt } from "./view/language-at.js";
import { Loading } from "./view/loading.js";

/** @typedef {string | null | (() => string | null | Promise<string | null>)} Token */
/** @typedef {{[name: string]: string | {[form: string]: string}}} Words */
/** @typedef {{id: string, name: string, avatarUrl?: string | null, isBot?: boolean,
 *   isModerator?: boolean}} Person */

const HIDDEN_MS = 250;
const GIVEN = ["chat", "people", "token", "words"];
const LISTENERS = [
  ...["onGone", "onJoinRequest", "onOpened", "onEvent", "onBan", "onReports", "onRefused"],
];
/** What `view="full"` has unless `features` says something else. */
const FEATURES = [
  ...["channels", "details", "drafts", "emoji", "files", "inbox", "moderation"],
  ...["notifications", "presence", "previews", "reports", "search"],
];

/**
 * Attributes: `user` (the logged-in user; nothing is shown without), `base`, `token`, `lang`,
 * `conversation`, whose id is the only one that is shown, `view` ("conversation", "list" or
 * "full"), `features` (names of further parts) and `address` (places are in
 * the page's address, behind this name).
 * Events, which bubble:
 * `chat-aio:unread` ({total}), `chat-aio:open` ({conversationId}), `chat-aio:title` ({title}),
 * `chat-aio:status` ({status}), `chat-aio:banned`, `chat-aio:unauthorised` when the user is not logged
 * in (any longer), and `chat-aio:message` ({message}) for a new
 * message that is not being read.
 */
export class ChatAio extends HTMLElement {
  static observedAttributes = [
    ...["base", "user", "conversation", "lang", "view", "features", "address"],
  ];

  #root = this.attachShadow({ mode: "open" });
  /** @type {ChatStore | null} */
  #store = null;
  /** @type {any} */
  #view = null;
  /** @type {Loading | null} */
  #loading = null;
  /** Resolves when there is a view, or will be none.
   * @type {Promise<unknown>} */
  #ready = Promise.resolve();
  #ending = new AbortController();
  /** @type {string | null} */
  #openId = null;
  /** @type {Chat | null} */
  #chat = null;
  /** @type {Token} */
  #token = null;
  /** @type {Words} */
  #words = {};
  /** @type {Person[]} */
  #people = [];
  /** @type {{[name: string]: any}} */
  #dispatched = {};
  #isOutdated = false;
  #show = () => this.#showAll();
  /** After a change. What nobody sees is not drawn for each event. */
  #showLater = gathered(HIDDEN_MS, this.#show);
  #changed = () => (document.visibilityState === "hidden" ? this.#showLater() : this.#showAll());
  #endDays = () => {};

  /** The visible parts, while the element is in a page.
   * @returns {ChatStore | null} */
  get store() {
    this.#catchUp();
    return this.#store;
  }

  /** A client made by the page, in place of `base` and `token`.
   * @returns {Chat | null} */
  get chat() {
    return this.#chat;
  }

  /** @param {Chat | null} chat */
  set chat(chat) {
    this.#chat = chat;
    this.#beginAnew();
  }

  /** Sent as `Authorization: Bearer`, or a function that is called for it each time.
   * @returns {Token} */
  get token() {
    return this.#token ?? this.getAttribute("token");
  }

  /** @param {Token} token */
  set token(token) {
    this.#token = token;
  }

  /** The people that one can write to; without, they are those of the conversations so far.
   * @returns {Person[]} */
  get people() {
    return this.#people;
  }

  /** @param {Person[]} people */
  set people(people) {
    this.#people = people;
    this.#beginAnew();
  }

  /** Texts in place of the default ones, by their names in texts/en; texts with a number may have
   * forms, as Intl.PluralRules names them.
   * @returns {Words} */
  get words() {
    return this.#words;
  }

  /** @param {Words} words */
  set words(words) {
    this.#words = words;
    this.#beginAnew();
  }

  connectedCallback() {
    this.#takeWhatWasGiven();
    this.#root.adoptedStyleSheets = Object.values(sheets);
    // Its attributes were set before, if it was in the page already.
    this.#beginAnew();
  }

  disconnectedCallback() {
    this.#isOutdated = false;
    this.#end();
  }

  /** @param {string} name @param {string | null} before @param {string | null} after */
  attributeChangedCallback(name, before, after) {
    const isElsewhere = name === "conversation" && before !== null && after !== null;
    if (before === after) return;
    if (isElsewhere && this.#store && !this.#isOutdated) this.open(after);
    else this.#beginAnew();
  }

  /** Show a conversation; null: none.
   * @param {string | null} conversationId
   * @returns {Promise<void>} */
  async open(conversationId) {
    const { store } = this;
    const place = conversationId === null ? [] : [conversationId];
    if (this.hasAttribute("address")) {
      await this.#ready;
      if (store === this.#store) this.#view?.shell.places.go(...place);
    } else await store?.open(conversationId);
  }

  /** Show the direct conversation with someone.
   * @param {string} otherUserId
   * @returns {Promise<void>} */
  async openDirect(otherUserId) {
    const { store } = this;
    if (this.hasAttribute("address")) {
      await this.#ready;
      if (store === this.#store) await this.#view?.openDirect(otherUserId);
    } else await store?.openDirect(otherUserId);
  }

  /** For `onError` of a client of your own: a banned user sees that at once. USER_BANNED of a
   * release may be the sender's ban.
   * @param {{code: string}} error */
  refused(error) {
    if (this.#store && error.code === "USER_BANNED" && !this.#view?.isReleasing) {
      partsOf(this.#store).session.endAsBanned();
    }
  }

  /** Fields that the page has set before this class was defined. */
  #takeWhatWasGiven() {
    for (const name of GIVEN.filter((key) => Object.hasOwn(this, key))) {
      const given = /** @type {any} */ (this)[name];
      delete (/** @type {any} */ (this)[name]);
      /** @type {any} */ (this)[name] = given;
    }
  }

  #begin() {
    const userId = this.getAttribute("user");
    if (!this.isConnected || !userId) return;
    const base = this.getAttribute("base") ?? "/api/chat";
    const onError = (/** @type {any} */ error) => this.refused(error);
    const chat = this.#chat ?? new Chat(base, { token: () => tokenOf(this.token), onError });
    const conversationId = this.getAttribute("conversation");
    const view = this.getAttribute("view") ?? (conversationId === null ? "list" : "conversation");
    const features = this.#featuresOf(view);
    this.#ending = new AbortController();
    const kept = new UserStorage(userId);
    const unsent = new UnsentTexts(kept, this.#ending);
    const store = new ChatStore(chat, {
      userId,
      hasDrafts: features.includes("drafts"),
      onMessage: (message) => this.#received(message),
      .../** @type {any} */ ({
        keepsNewest: false,
        isListShown: features.includes("list"),
        hasViews: features.includes("inbox"),
        isListedEmpty: (/** @type {string} */ id) => unsent.textIn(id) !== "",
        listeners: this.#listeners,
      }),
    });
    const root = this.#makeRoot(languageAt(this), view);
    this.#store = store;
    this.#root.replaceChildren(root);
    store.subscribe(this.#changed);
    document.addEventListener("visibilitychange", this.#show);
    this.#endDays = eachDay(this.#show);
    store.start();
    const address = this.getAttribute("address");
    const places = address === null ? new InnerPlaces() : new AddressPlaces(address);
    const openId = conversationId || places.present?.conversationId;
    const opened = openId ? store.open(openId) : null;
    const made = this.#makeView(root, chat, { view, features, places, kept, unsent, opened });
    this.#ready = Promise.race([made, endOf(this.#ending.signal)]);
    this.#show();
  }

  /** The data are requested at the same time.
   * @param {HTMLElement} root @param {Chat} chat
   * @param {any} given */
  async #makeView(root, chat, given) {
    const ending = this.#ending;
    const loading = (this.#loading = new Loading(ending.signal));
    root.prepend(loading.node);
    const hasList = given.features.includes("list");
    const load = () =>
      Promise.all([
        textsIn(languageAt(this), this.#words),
        import("./view/chat-view.js"),
        hasList ? import("./view/sidebar.js") : { Sidebar: null },
      ]);
    // It is needed next: it need not wait for the list.
    if (given.opened) import("./view/talk.js").catch(() => {});
    const [texts, { ChatView }, { Sidebar }] = await loading.part(load);
    loading.texts = texts;
    root.replaceChildren(loading.node);
    this.#view = ChatView.of(partsOf(/** @type {ChatStore} */ (this.#store)), chat, {
      ...{ ...given, root, texts, loading, ending, Sidebar, listed: this.#people },
      again: () => this.#beginAnew(),
      isNamed: this.hasAttribute("features"),
    });
    given.places.start((/** @type {any} */ place) => this.#view?.goTo(place));
    this.#show();
  }

  /** @param {string} view @returns {string[]} */
  #featuresOf(view) {
    const usual = view === "full" ? FEATURES : ["emoji"];
    const wanted = this.getAttribute("features")?.split(/\s+/u) ?? usual;
    return view === "conversation" ? wanted : [...wanted, "list"];
  }

  /** Callbacks of the session, which is made before the views. */
  get #listeners() {
    const listen = (/** @type {string} */ name) => (/** @type {any[]} */ ...given) =>
      this.#view?.listeners[name](...given);
    return Object.fromEntries(LISTENERS.map((name) => [name, listen(name)]));
  }

  /** The frame, with nothing in it yet.
   * @param {string} lang @param {string} view */
  #makeRoot(lang, view) {
    const dir = lang ? directionOf(lang) : false;
    const isSingle = view === "conversation";
    const side = element("div", { class: "sidebar to-come" });
    const fields = { class: "app", "data-screen": "list", "data-single": isSingle, "aria-hidden": "true" };
    const frame = element("div", fields, ...(isSingle ? [] : [side]), element("div", { class: "nothing" }));
    return element("div", { class: "root", part: "root", lang: lang || false, dir }, frame);
  }

  /** @param {any} message */
  #received(message) {
    this.#view?.listeners.onMessage(message);
    this.#dispatch("message", { message });
  }

  #end() {
    document.removeEventListener("visibilitychange", this.#show);
    this.#endDays();
    const view = this.#view;
    this.#store?.close();
    this.#ending.abort();
    this.#store = this.#view = this.#loading = null;
    view?.close();
    this.#dispatched = {};
    this.#root.replaceChildren();
  }

  /** Once for all consecutive changes of a page. */
  #beginAnew() {
    if (!this.isConnected || this.#isOutdated) return;
    this.#isOutdated = true;
    queueMicrotask(() => this.#catchUp());
  }

  #catchUp() {
    if (!this.#isOutdated) return;
    this.#isOutdated = false;
    this.#end();
    this.#begin();
  }

  #showAll() {
    if (!this.#store) return;
    const { unread, openId, status, problemCode } = this.#store.state();
    const hasOpened = status === "live" && this.#dispatched.status !== "live";
    if (hasOpened) this.#loading?.tryAgain();
    if (this.#view) {
      this.#letGo();
      this.#view.show();
      const { people, sources, store } = this.#view.shell;
      const title = store.open ? people.titleOf(store.open) : "";
      if (hasOpened) sources.tryAgain();
      this.#dispatchChanged("title", title, { title });
    }
    this.#dispatchChanged("unread", unread, { total: unread });
    this.#dispatchChanged("open", openId, { conversationId: openId });
    this.#dispatchChanged("status", status, { status });
    const { store } = partsOf(this.#store);
    if (store.isBanned) this.#dispatchChanged("banned", true, {});
    this.#dispatchSignedOut(problemCode === "UNAUTHENTICATED");
  }

  /** The browser need not keep the images of another conversation. */
  #letGo() {
    const openId = this.#store?.state().openId ?? null;
    if (openId !== this.#openId) this.#view.shell.sources.clear();
    this.#openId = openId;
  }

  /** @param {boolean} isSignedOut */
  #dispatchSignedOut(isSignedOut) {
    if (isSignedOut && !this.#dispatched.unauthorised) this.#dispatch("unauthorised", {});
    this.#dispatched.unauthorised = isSignedOut;
  }

  /** @param {string} name @param {any} value @param {object} detail */
  #dispatchChanged(name, value, detail) {
    if (this.#dispatched[name] === value) return;
    this.#dispatched[name] = value;
    this.#dispatch(name, detail);
  }

  /** @param {string} name @param {object} detail */
  #dispatch(name, detail) {
    const options = { bubbles: true, composed: true, detail };
    this.dispatchEvent(new CustomEvent(`chat-aio:${name}`, options));
  }
}

/** @param {AbortSignal} signal */
function endOf(signal) {
  return new Promise((resolve) => signal.addEventListener("abort", resolve));
}

/** @param {Token} token */
function tokenOf(token) {
  return token instanceof Function ? token() : token;
}

if (!customElements.get("chat-aio")) customElements.define("chat-aio", ChatAio);
