// @ts-check
/**
 * A chat as an element of a page, in two lines (docs/guides/pages.md):
 *
 *   <script type="module" src="/chat-aio/element.js"></script>
 *   <chat-aio base="/api/chat" user="ann"></chat-aio>
 */

import { Chat } from "./chat.js";
import { ChatStore } from "./chat-store.js";
import { FileSources } from "./file-sources.js";
import { eachDay } from "./tasks.js";
import { Frame } from "./element/frame.js";
import { makeSheet } from "./element/style.js";
import { languageAt } from "./element/words.js";
import { Uploads } from "./uploads.js";

/** @typedef {string | null | (() => string | null | Promise<string | null>)} Token */
/** @typedef {{[name: string]: string | {[form: string]: string}}} Words */

const SHEET = makeSheet();
const GIVEN = ["chat", "token", "words"];

/**
 * Attributes: `user` (the logged-in user; nothing is shown without), `base`, `token`, `lang`,
 * `inbox` and `files`, if the service has the option and the plugin Attachments, and
 * `conversation`, whose id is the only one that is shown.
 * Events, which bubble:
 * `chat-aio:unread` ({total}), `chat-aio:open` ({conversationId}), `chat-aio:status` ({status}),
 * `chat-aio:unauthorised` ({}) when the user is not logged in (any longer),
 * and `chat-aio:message` ({message}) for a new message that is not being read.
 */
export class ChatAio extends HTMLElement {
  static observedAttributes = ["base", "user", "conversation", "lang", "inbox", "files"];

  #root = this.attachShadow({ mode: "open" });
  /** @type {ChatStore | null} */
  #store = null;
  /** @type {Frame | null} */
  #frame = null;
  /** @type {any} */
  #sources = null;
  /** @type {any} */
  #uploads = null;
  /** @type {string | null} */
  #openId = null;
  /** @type {Chat | null} */
  #chat = null;
  /** @type {Token} */
  #token = null;
  /** @type {Words} */
  #words = {};
  /** @type {{[name: string]: any}} */
  #dispatched = {};
  #isOutdated = false;
  #show = () => this.#showAll();
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

  /** Texts in place of the default ones, by their names in element/words-en.js; texts with a number
   * may have forms, as Intl.PluralRules names them.
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
    this.#root.adoptedStyleSheets = [SHEET];
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
    if (isElsewhere && this.#store) this.#store.open(after);
    else this.#beginAnew();
  }

  /** Show a conversation; null: none.
   * @param {string | null} conversationId
   * @returns {Promise<void>} */
  async open(conversationId) {
    await this.store?.open(conversationId);
  }

  /** Show the direct conversation with someone.
   * @param {string} otherUserId
   * @returns {Promise<void>} */
  async openDirect(otherUserId) {
    await this.store?.openDirect(otherUserId);
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
    const chat = this.#chat ?? new Chat(base, { token: () => tokenOf(this.token) });
    const onMessage = (/** @type {any} */ message) => this.#dispatch("message", { message });
    const hasInbox = this.hasAttribute("inbox");
    const store = new ChatStore(chat, { userId, onMessage, hasInbox });
    const conversationId = this.getAttribute("conversation");
    const lang = languageAt(this);
    this.#store = store;
    this.#sources = new FileSources(chat);
    const hasFiles = this.hasAttribute("files");
    this.#uploads = hasFiles ? new Uploads(chat, this.#show, { hasPreviews: false }) : null;
    this.#frame = new Frame(store, {
      ...{ lang, words: this.#words, isSingle: conversationId !== null },
      ...{ sources: this.#sources, uploads: this.#uploads },
      choose: (/** @type {string | null} */ id) => this.#choose(id),
    });
    this.#root.replaceChildren(this.#frame.node);
    store.subscribe(this.#show);
    document.addEventListener("visibilitychange", this.#show);
    this.#endDays = eachDay(this.#show);
    store.start();
    if (conversationId) store.open(conversationId);
    this.#show();
  }

  #end() {
    document.removeEventListener("visibilitychange", this.#show);
    this.#endDays();
    const uploads = this.#uploads;
    this.#store?.close();
    this.#sources?.clear();
    this.#store = this.#frame = this.#uploads = null;
    uploads?.close();
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

  /** @param {string | null} conversationId */
  async #choose(conversationId) {
    const store = this.#store;
    const wasOpen = store?.state().openId;
    store?.open(conversationId);
    // The opened part is shown in the next turn.
    await Promise.resolve();
    this.#showAll();
    this.#frame?.focus({ wasOpen });
  }

  #showAll() {
    if (!this.#store) return;
    this.#letGo();
    this.#frame?.show();
    const { unread, openId, status, problemCode } = this.#store.state();
    if (status === "live" && this.#dispatched.status !== "live") this.#sources.tryAgain();
    this.#dispatchChanged("unread", unread, { total: unread });
    this.#dispatchChanged("open", openId, { conversationId: openId });
    this.#dispatchChanged("status", status, { status });
    this.#dispatchSignedOut(problemCode === "UNAUTHENTICATED");
  }

  /** The browser need not keep the images of another conversation. */
  #letGo() {
    const openId = this.#store?.state().openId ?? null;
    if (openId !== this.#openId) this.#sources.clear();
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

/** @param {Token} token */
function tokenOf(token) {
  return token instanceof Function ? token() : token;
}

if (!customElements.get("chat-aio")) customElements.define("chat-aio", ChatAio);
