/** The list of conversations. */

import { element, Rows, setAttribute, setHidden, setText } from "../dom.js";
import { titleOf } from "./titles.js";
import { today } from "./words.js";

const MOST_SHOWN = 99;

export class ConversationList {
  #list = element("ul", { role: "list" });
  #hint = element("p", { class: "hint" });
  #more;
  #isAsking = false;
  #tools;
  #rows;
  node;

  /** `tools` are {store, say, moments, choose(id), more()}, which resolves when they are there. */
  constructor(tools) {
    this.#tools = tools;
    const { say } = tools;
    const onclick = () => this.#askForMore();
    this.#more = element("button", { type: "button", class: "link", onclick });
    setText(this.#more, say("more"));
    this.#rows = new Rows(this.#list, tools);
    const parts = { class: "list", part: "list", "aria-label": say("conversations"), tabindex: -1 };
    this.node = element("nav", parts, this.#list, this.#hint, this.#more);
  }

  show(store, { say, problemOf }) {
    const { openId, isListed, problem: message, problemCode: code } = store.state();
    const problem = message && problemOf({ code, message });
    const conversations = store.conversations();
    const shared = { own: store.userId, day: today() };
    this.#rows.show(
      conversations.map((conversation) => ({
        ...{ key: conversation.id, Row: ConversationRow },
        state: { conversation, isOpen: conversation.id === openId, ...shared },
      })),
    );
    const isEmpty = conversations.length === 0;
    const words = problem ?? (isListed ? say("none") : say("loading"));
    // Once is enough.
    const isElsewhere = code === "UNAUTHENTICATED" && openId !== null;
    setText(this.#hint, isEmpty && !isElsewhere ? words : "");
    this.#hint.hidden = !isEmpty || isElsewhere;
    this.#showMore();
  }

  async #askForMore() {
    if (this.#isAsking) return;
    this.#isAsking = true;
    this.#showMore();
    await this.#tools.more();
    this.#isAsking = false;
    this.#showMore();
  }

  /** While more are on their way it is not known whether the list goes on: the button stays. */
  #showMore() {
    setAttribute(this.#more, "aria-disabled", this.#isAsking && "true");
    if (this.#isAsking) return;
    const { store } = this.#tools;
    const focus = () => this.focus(store.conversations().at(-1)?.id);
    setHidden(this.#more, !store.state().hasMore, { focus });
  }

  focus(conversationId) {
    const row = this.#rows.nodeOf(conversationId) ?? this.#list.firstElementChild;
    row?.querySelector("button").focus();
  }
}

class ConversationRow {
  #tools;
  #id = null;
  #title = element("span", { class: "title", dir: "auto" });
  #time = element("time");
  #preview = element("span", { class: "preview", dir: "auto" });
  #badge = element("span", { class: "badge", part: "badge", "aria-hidden": "true" });
  #count = element("span", { class: "unseen" });
  #button;

  constructor(tools) {
    this.#tools = tools;
    const onclick = () => tools.choose(this.#id);
    const parts = [this.#title, this.#time, this.#preview, this.#badge, this.#count];
    const fields = { type: "button", part: "conversation", onclick };
    this.#button = element("button", fields, ...parts);
    this.node = element("li", {}, this.#button);
  }

  show({ conversation, isOpen, own }) {
    const { say, moments } = this.#tools;
    const { id, lastMessage, unread, at } = conversation;
    this.#id = id;
    setAttribute(this.#button, "aria-current", isOpen && "true");
    setText(this.#title, titleOf(conversation, say));
    setText(this.#time, moments.short(at));
    setText(this.#preview, previewOf(conversation, lastMessage, { own, say }));
    setText(this.#badge, unread > MOST_SHOWN ? `${MOST_SHOWN}+` : String(unread));
    setText(this.#count, unread > 0 ? say("unread", { count: unread }) : "");
    this.#badge.hidden = unread === 0;
  }
}

function previewOf({ type, others }, message, { own, say }) {
  if (!message) return "";
  const { senderId } = message;
  const body = message.deletedAt ? say("deleted") : message.body;
  if (senderId === own) return `${say("you")}: ${body}`;
  const name = others.find((other) => other.id === senderId)?.name ?? senderId;
  return type === "direct" ? body : `${name}: ${body}`;
}
