/** A thread next to the conversation, or over it: its root, its replies, and a composer. */

import { element, isComposing, setText } from "../dom.js";
import { Composer } from "./composer.js";
import { Log } from "./log.js";
import { threadRows } from "./rows.js";

export class ThreadPane {
  #tools;
  #log;
  #composer;
  #hint = element("p", { class: "hint", hidden: true });
  #ending;
  node;

  /** `toolsFor(composer)` are those of its messages and of where one writes; `close()` ends it. */
  constructor(toolsFor, close) {
    this.#tools = toolsFor(() => this.#composer);
    const { say } = this.#tools;
    this.#log = new Log(this.#tools, say("threadMessages"));
    this.#composer = new Composer(this.#tools, say("threadMessage"));
    const button = { type: "button", class: "close", "aria-label": say("closeThread") };
    const title = element("h2", {}, say("thread"));
    this.#ending = element("button", { ...button, onclick: close }, "✕");
    const header = element("header", { part: "header" }, title, this.#ending);
    const fields = { class: "thread", part: "thread", "aria-label": say("thread"), hidden: true };
    const parts = [header, this.#hint, this.#log.node, this.#composer.node];
    this.node = element("section", fields, ...parts);
    this.#composer.takeFilesFrom(this.node);
    this.node.addEventListener("keydown", (event) => {
      const isMeant = event.key === "Escape" && !isComposing(event) && !event.defaultPrevented;
      if (isMeant) close();
    });
  }

  /** Whether its newest reply is before the reader's eyes. */
  get isRead() {
    return !this.node.hidden && this.#log.isRead;
  }

  get isAtEnd() {
    return this.#log.isAtEnd;
  }

  /** `writing` is as for the composer of the conversation; null: there is no thread to show. */
  show(store, writing) {
    const thread = store.thread();
    const isShown = thread !== null && writing !== null;
    this.node.hidden = !isShown;
    if (!isShown) return this.#log.show(null);
    const { rootId, isGone, root, messages } = thread;
    const { say } = this.#tools;
    const wasFocused = this.#isWritingFocused;
    const rows = threadRows(store, thread, this.#tools);
    setText(this.#hint, isGone ? say("noThread") : "");
    this.#hint.hidden = !isGone;
    for (const node of [this.#log.node, this.#composer.node]) node.hidden = isGone;
    this.#log.show({ id: rootId, list: thread, rows, unread: 0 });
    const isClosed = writing.isClosed || isGone;
    const placeholder = writing.isClosed ? writing.placeholder : say("threadMessage");
    const entries = root ? [root, ...messages] : messages;
    this.#composer.show(rootId, { ...writing, isClosed, placeholder, entries });
    if (wasFocused && !this.#composer.isOpen) this.focus();
  }

  /** By the keyboard it is closed in any case. */
  focus() {
    if (this.#composer.isOpen) this.#composer.focus();
    else this.#ending.focus();
  }

  get #isWritingFocused() {
    return this.#composer.node.contains(this.node.getRootNode().activeElement);
  }
}
