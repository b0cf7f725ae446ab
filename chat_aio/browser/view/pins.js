/** The pinned messages of a conversation: each is a link to its place. */

import { briefOf } from "../brief.js";
import { element, Rows, setText } from "../dom.js";
import { Part } from "./part.js";
import { Section, smallButton } from "./section.js";

export class PinsSection extends Part {
  #list = element("ul", { class: "requests" });
  #hint = element("p", { class: "hint", role: "status" });
  #rows = new Rows(this.#list, { shell: this.shell, go: (message) => this.shell.places.goToMessage(message),
    unpin: (message) => this.#unpin(message),
  });
  #section = new Section(this.shell, this.say("pins.title"), [], this.#list, this.#hint);
  #needs;
  #conversation = null;
  #shown = null;
  #messages = [];
  node = this.#section.node;

  /** `needs.groups` lists and unpins. */
  constructor(shell, needs) {
    super(shell);
    this.#needs = needs;
  }

  show(conversation) {
    if (conversation.id !== this.#conversation?.id) {
      this.#section.complain("");
      this.#messages = [];
    }
    this.#conversation = conversation;
    this.node.hidden = !conversation.pinnedMessageIds;
    if (this.node.hidden) return;
    const pinned = [conversation.id, ...conversation.pinnedMessageIds].join(" ");
    if (pinned !== this.#shown) this.#load(pinned);
    this.#draw();
  }

  #draw() {
    const { id, pinnedMessageIds } = this.#conversation;
    const mayPin = mayPinIn(this.#conversation, this.people);
    const shown = this.#messages.filter((message) => message.conversationId === id);
    this.#rows.show(shown.map((message) => this.#rowOf(message, mayPin)));
    setText(this.#hint, pinnedMessageIds.length === 0 ? this.say("pins.empty") : "");
    this.#hint.hidden = pinnedMessageIds.length > 0;
  }

  /** As it is now, where it is among the messages that are loaded. */
  #rowOf(listed, mayPin) {
    const message = this.store.message(listed.conversationId, listed.id) ?? listed;
    const name = this.people.nameOf(message.senderId);
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

class PinRow extends Part {
  #name = element("span", { class: "person-name", dir: "auto" });
  #time = element("time", { class: "row-time" });
  #body = element("p", { class: "request-note pinned", dir: "auto" });
  #go;
  #unpin;
  #message = null;

  constructor({ shell, go, unpin }) {
    super(shell);
    this.#go = smallButton(this.say("pins.show"), () => go(this.#message));
    this.#unpin = smallButton(this.say("message.unpin"), () => unpin(this.#message));
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
    setText(this.#time, this.texts.momentOf(message.createdAt));
    this.#time.setAttribute("datetime", message.createdAt);
    setText(this.#body, message.deletedAt ? this.say("pins.deleted") : briefOf(this.texts, message));
    this.#unpin.hidden = !mayPin;
    this.#go.setAttribute("aria-label", this.say("pins.showOf", { name }));
    this.#unpin.setAttribute("aria-label", this.say("pins.unpinOf", { name }));
  }
}
