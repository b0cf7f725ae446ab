/** What the element consists of, and what is shown in it. */

import { element, setAttribute, setText } from "../dom.js";
import { Composer } from "./composer.js";
import { ConversationList } from "./list.js";
import { Log } from "./log.js";
import { titleOf } from "./titles.js";
import { momentsIn, sayingIn } from "./words.js";

export class Frame {
  #store;
  #say;
  #list;
  #log;
  #composer;
  #panes;
  #title = element("h2", { part: "title", dir: "auto" });
  #banner;
  #problem = element("span");
  #typing = element("div", { class: "typing", role: "status" });
  #empty = element("p", { class: "hint" });
  #header;
  #talk;
  #isSingle;
  node;

  /** `choose(id)` is told what is to be open, null for none; `isSingle`: only ever one is shown. */
  constructor(store, { words, lang, choose, isSingle }) {
    this.#store = store;
    this.#say = sayingIn(words);
    this.#isSingle = isSingle;
    const tools = this.#tools(lang, choose);
    this.#list = new ConversationList(tools);
    this.#log = new Log(tools);
    this.#composer = new Composer(tools);
    const again = () => store.reconnect();
    const button = element("button", { type: "button", class: "link", onclick: again });
    setText(button, this.#say("again"));
    this.#banner = element("div", { class: "banner", part: "banner", role: "status" });
    this.#banner.append(this.#problem, button);
    this.#talk = this.#makeTalk(choose);
    this.#panes = element("div", { class: "panes", "data-single": isSingle });
    this.#panes.append(this.#list.node, this.#talk);
    this.node = element("div", { class: "root", part: "root", lang: lang || false }, this.#panes);
  }

  show() {
    const store = this.#store;
    const { openId, status, isBanned } = store.state();
    const open = openId === null ? null : store.conversation(openId);
    this.#panes.dataset.view = openId === null ? "list" : "talk";
    this.#list.show(store, { say: this.#say });
    this.#log.show(store);
    this.#showTalk(open, isBanned);
    setText(this.#problem, status === "reconnecting" ? this.#say("offline") : "");
    this.#banner.hidden = status !== "reconnecting" || isBanned;
    const isSeen = document.visibilityState === "visible" && this.#log.isAtEnd;
    store.setReading(isSeen);
  }

  focus({ wasOpen }) {
    if (this.#store.state().openId === null) this.#list.focus(wasOpen);
    else this.#composer.focus();
  }

  #tools(lang, choose) {
    const store = this.#store;
    // Its reason is shown nowhere: what could not be done is as it was, to be done again.
    const quietly = (done) => done.catch(() => {});
    return {
      ...{ store, choose, say: this.#say, moments: momentsIn(lang) },
      nameOf: (id) => (id === store.userId ? this.#say("you") : store.user(id).name),
      more: () => store.loadMore(),
      older: (id) => store.loadOlder(id),
      moved: () => this.show(),
      react: (entry, emoji) => quietly(store.react(entry, emoji)),
      reply: (entry) => this.#composer.reply(entry),
      retry: (key) => store.retry(key),
      discard: (key) => store.discard(key),
      send: (id, written) => store.send(id, written),
      typed: (id, text) => store.typed(id, text),
    };
  }

  #makeTalk(choose) {
    const back = element("button", { type: "button", class: "back", onclick: () => choose(null) });
    setAttribute(back, "aria-label", this.#say("back"));
    setText(back, "←");
    this.#header = element("header", { part: "header" }, back, this.#title);
    const parts = [this.#header, this.#banner, this.#empty, this.#log.node, this.#typing];
    return element("section", { class: "talk", part: "talk" }, ...parts, this.#composer.node);
  }

  #showTalk(open, isBanned) {
    const title = open ? titleOf(open, this.#say) : "";
    setText(this.#title, title);
    setAttribute(this.#talk, "aria-label", title || this.#say("messages"));
    const words = this.#wordsInstead(open, isBanned);
    setText(this.#empty, words);
    this.#empty.hidden = words === "";
    const isShown = open !== null && !isBanned;
    this.#header.hidden = open === null;
    for (const each of [this.#log.node, this.#typing, this.#composer.node]) each.hidden = !isShown;
    if (!isShown) return;
    const own = open.participants.find((each) => each.userId === this.#store.userId);
    const isClosed = open.isFrozen && own?.role !== "admin";
    const placeholder = isClosed ? this.#say("frozen") : this.#say("message");
    this.#composer.show(open.id, { placeholder, isClosed });
    const names = this.#store.timeline(open.id).typing.map((each) => each.name).join(", ");
    setText(this.#typing, names && this.#say("typing", { names }));
  }

  #wordsInstead(open, isBanned) {
    if (isBanned) return this.#say("banned");
    if (open) return "";
    const { openId, isListed } = this.#store.state();
    if (openId !== null || !isListed) return this.#say("loading");
    return this.#say(this.#isSingle ? "closed" : "choose");
  }
}
