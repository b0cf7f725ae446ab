/** The parts of the element, and their content. */

import { element, setAttribute, setHidden, setText } from "../dom.js";
import { threadIdOf } from "../messages.js";
import { Acts } from "./acts.js";
import { DeleteDialog } from "./asking.js";
import { Composer } from "./composer.js";
import { ConversationList } from "./list.js";
import { Log } from "./log.js";
import { mainRows } from "./rows.js";
import { ThreadPane } from "./thread.js";
import { titleOf } from "./titles.js";

export class Frame {
  #store;
  #acts;
  #say;
  #tools;
  #list;
  #log;
  #composer;
  #thread;
  #deleting;
  #panes;
  #title = element("h2", { part: "title", dir: "auto" });
  #banner;
  #problem = element("span");
  #typing = element("div", { class: "typing", role: "status" });
  #empty = element("p", { class: "hint" });
  #header;
  #talk;
  #isSingle;
  /** What had the focus when the thread was opened. */
  #from = null;
  node;

  /**
   * `choose(id)` opens a conversation, null for none; `isSingle`: only ever one is shown.
   * `sources` are of files, `uploads` null where none can be sent.
   */
  constructor(store, { words, lang, choose, isSingle, sources, uploads }) {
    this.#store = store;
    this.#isSingle = isSingle;
    this.#acts = new Acts(store, { words, lang }, {
      openThread: (entry) => this.#openThread(entry),
      remove: (entry) => this.#deleting.open(entry),
      moved: () => this.show(),
      ...{ sources, uploads },
    });
    this.#say = this.#acts.say;
    this.#tools = this.#acts.forMain(() => this.#composer);
    this.#deleting = new DeleteDialog(this.#tools);
    this.#list = new ConversationList({ ...this.#tools, choose, more: () => store.loadMore() });
    this.#log = new Log(this.#tools, this.#say("messages"));
    this.#composer = new Composer(this.#tools, this.#say("message"));
    this.#thread = new ThreadPane(
      (composer) => this.#acts.forThread(composer),
      () => this.#closeThread(),
    );
    this.#talk = this.#makeTalk(choose);
    this.#composer.takeFilesFrom(this.#talk);
    this.#panes = element("div", { class: "panes", "data-single": isSingle });
    this.#panes.append(this.#list.node, this.#talk, this.#thread.node);
    const fields = { class: "root", part: "root", lang: lang || false };
    this.node = element("div", fields, this.#panes, this.#deleting.node);
    // Where it is narrow, a thread covers the conversation.
    new ResizeObserver(() => this.show()).observe(this.node);
  }

  show() {
    const store = this.#store;
    const { openId, openThreadId, status, isBanned } = store.state();
    const isLost = status === "reconnecting" && !this.#isSignedOut;
    const open = openId === null ? null : store.conversation(openId);
    const writing = open === null || isBanned ? null : this.#writingIn(open);
    this.#panes.dataset.view = openId === null ? "list" : "talk";
    const isThread = writing !== null && openThreadId !== null;
    setAttribute(this.#panes, "data-thread", isThread);
    this.#list.show(store, this.#acts);
    this.#showLog(openId);
    this.#showTalk(open, writing, isBanned);
    this.#thread.show(store, writing);
    setText(this.#problem, isLost ? this.#say("offline") : "");
    setHidden(this.#banner, !isLost || isBanned, this.#composer);
    const isSeen = document.visibilityState === "visible";
    const { isRead, isAtEnd } = this.#log;
    store.setViewing(isSeen && isRead, { isAtEnd });
    store.setThreadReading(isSeen && this.#thread.isRead, { isAtEnd: this.#thread.isAtEnd });
  }

  focus({ wasOpen }) {
    if (this.#store.state().openId === null) this.#list.focus(wasOpen);
    // On a touch screen the keyboard would cover what one came to read.
    else if (matchMedia("(hover: none)").matches) this.#log.focus();
    else this.#composer.focus();
  }

  async #openThread(entry) {
    this.#from = this.node.getRootNode().activeElement;
    this.#store.openThread(threadIdOf(entry));
    // The opened part is shown in the next turn.
    await Promise.resolve();
    this.show();
    this.#thread.focus();
  }

  /** The focus goes back to where it came from, as far as that is still there. */
  async #closeThread() {
    const from = this.#from;
    this.#store.closeThread();
    await Promise.resolve();
    this.show();
    const row = from?.closest(".message");
    // What one can do with a message is hidden until that has the focus.
    for (const node of [from, row, from]) node?.focus();
    if (this.node.getRootNode().activeElement === null) this.#composer.focus();
  }

  #makeTalk(choose) {
    const back = element("button", { type: "button", class: "back", onclick: () => choose(null) });
    setAttribute(back, "aria-label", this.#say("back"));
    setText(back, "←");
    const again = () => this.#store.reconnect();
    const button = element("button", { type: "button", class: "link", onclick: again });
    setText(button, this.#say("again"));
    this.#banner = element("div", { class: "banner", part: "banner", role: "status" });
    this.#banner.append(this.#problem, button);
    this.#header = element("header", { part: "header" }, back, this.#title);
    const parts = [this.#header, this.#banner, this.#empty, this.#log.node, this.#typing];
    return element("section", { class: "talk", part: "talk" }, ...parts, this.#composer.node);
  }

  #showLog(openId) {
    if (openId === null) return this.#log.show(null);
    const list = this.#store.timeline(openId);
    const unread = this.#store.conversation(openId)?.unread ?? 0;
    const rows = mainRows(this.#store, list, this.#tools);
    this.#log.show({ id: openId, list, rows, unread });
  }

  #showTalk(open, writing, isBanned) {
    const title = open ? titleOf(open, this.#say) : "";
    setText(this.#title, title);
    setAttribute(this.#talk, "aria-label", title || this.#say("messages"));
    const words = this.#wordsInstead(open, isBanned);
    setText(this.#empty, words);
    this.#empty.hidden = words === "";
    this.#header.hidden = open === null;
    const isShown = writing !== null;
    for (const node of [this.#log.node, this.#typing, this.#composer.node]) node.hidden = !isShown;
    if (!isShown) return this.#composer.leave();
    const { messages, typing } = this.#store.timeline(open.id);
    this.#composer.show(open.id, { ...writing, entries: messages });
    const names = typing.map((user) => user.name).join(", ");
    setText(this.#typing, names && this.#say("typing", { names }));
  }

  get #isSignedOut() {
    return this.#store.state().problemCode === "UNAUTHENTICATED";
  }

  /** The placeholder of the composer, and whether it is closed. */
  #writingIn({ id: conversationId, participants, isFrozen }) {
    const own = participants.find((participant) => participant.userId === this.#store.userId);
    const isClosed = isFrozen && own?.role !== "admin";
    const placeholder = isClosed ? this.#say("frozen") : this.#say("message");
    return { placeholder, isClosed, conversationId };
  }

  #wordsInstead(open, isBanned) {
    if (isBanned) return this.#say("banned");
    if (open) return "";
    const { openId, isListed } = this.#store.state();
    // Without an open conversation the list shows why.
    if (this.#isSignedOut) return openId === null ? "" : this.#say("problem.UNAUTHENTICATED");
    if (openId !== null || !isListed) return this.#say("loading");
    return this.#say(this.#isSingle ? "closed" : "choose");
  }
}
