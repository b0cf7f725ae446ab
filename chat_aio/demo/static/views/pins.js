/** The pinned messages of a conversation: each is a link to its place. */

import { briefOf } from "../brief.js";
import { element, Rows, setText } from "../../../browser/dom.js";
import { momentOf } from "../times.js";
import { say } from "../words.js";
import { Section, smallButton } from "./section.js";

export class PinsSection {
  #list = element("ul", { class: "requests" });
  #hint = element("p", { class: "hint", role: "status" });
  #rows = new Rows(this.#list, {
    go: (message) => this.#needs.goToMessage(message),
    unpin: (message) => this.#unpin(message),
  });
  #section = new Section(say("pins.title"), [], this.#list, this.#hint);
  #store;
  #people;
  #needs;
  #conversation = null;
  #shown = null;
  #messages = [];
  node = this.#section.node;

  /** `needs.groups` lists and unpins, `needs.goToMessage(message)` shows one. */
  constructor(store, people, needs) {
    this.#store = store;
    this.#people = people;
    this.#needs = needs;
  }

  show(conversation) {
    if (conversation.id !== this.#conversation?.id) {
      this.#section.complain("");
      this.#messages = [];
    }
    this.#conversation = conversation;
    const pinned = [conversation.id, ...conversation.pinnedMessageIds].join(" ");
    if (pinned !== this.#shown) this.#load(pinned);
    this.#draw();
  }

  #draw() {
    const { id, pinnedMessageIds } = this.#conversation;
    const mayPin = mayPinIn(this.#conversation, this.#people);
    const shown = this.#messages.filter((message) => message.conversationId === id);
    this.#rows.show(shown.map((message) => this.#rowOf(message, mayPin)));
    setText(this.#hint, pinnedMessageIds.length === 0 ? say("pins.empty") : "");
    this.#hint.hidden = pinnedMessageIds.length > 0;
  }

  /** As it is now, where it is among the messages that are loaded. */
  #rowOf(listed, mayPin) {
    const message = this.#store.message(listed.conversationId, listed.id) ?? listed;
    const name = this.#people.nameOf(message.senderId);
    return { key: message.id, Row: PinRow, state: { message, name, mayPin } };
  }

  async #load(pinned) {
    this.#shown = pinned;
    const conversation = this.#conversation;
    const isDone = await this.#section.explain(async () => {
      const found = await this.#needs.groups.listPins(conversation);
      if (this.#shown === pinned) this.#messages = found;
    });
    if (!isDone && this.#shown === pinned) this.#shown = null;
    if (this.#conversation.id === conversation.id) this.#draw();
  }

  async #unpin(message) {
    const conversation = this.#conversation;
    await this.#section.attempt(() => this.#needs.groups.unpin(conversation, message.id));
    this.#section.keepFocus();
  }
}

/** Admins pin in a group, both in a direct conversation. */
export function mayPinIn(conversation, people) {
  return conversation.type === "direct" || people.isAdminOf(conversation);
}

class PinRow {
  #name = element("span", { class: "person-name", dir: "auto" });
  #time = element("time", { class: "row-time" });
  #body = element("p", { class: "request-note pinned", dir: "auto" });
  #go;
  #unpin;
  #message = null;

  constructor({ go, unpin }) {
    this.#go = smallButton(say("pins.show"), () => go(this.#message));
    this.#unpin = smallButton(say("message.unpin"), () => unpin(this.#message));
    this.node = element(
      "li",
      {},
      element("div", { class: "person" }, this.#name, this.#time),
      this.#body,
      element("div", { class: "ending" }, this.#go, this.#unpin),
    );
  }

  show({ message, name, mayPin }) {
    this.#message = message;
    setText(this.#name, name);
    setText(this.#time, momentOf(message.createdAt));
    this.#time.setAttribute("datetime", message.createdAt);
    setText(this.#body, message.deletedAt ? say("pins.deleted") : briefOf(message));
    this.#unpin.hidden = !mayPin;
    this.#go.setAttribute("aria-label", say("pins.showOf", { name }));
    this.#unpin.setAttribute("aria-label", say("pins.unpinOf", { name }));
  }
}
