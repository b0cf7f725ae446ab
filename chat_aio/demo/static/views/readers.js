/** The readers of an own message in a group, and the members with and without a delivery. */

import { avatar, element, Rows, setAvatar, setText } from "../../../browser/dom.js";
import { say } from "../words.js";
import { Dialog } from "./dialog.js";
import { Section } from "./section.js";

export class ReadersDialog {
  #sum = element("p", { class: "terms", role: "status" });
  #parts = {
    read: new Part(say("readers.read")),
    reached: new Part(say("readers.reached")),
    left: new Part(say("readers.left")),
  };
  #dialog;
  #store;
  #people;
  #receipts;
  #message = null;

  constructor(store, people, receipts) {
    this.#store = store;
    this.#people = people;
    this.#receipts = receipts;
    const nodes = Object.values(this.#parts).map((part) => part.node);
    const given = { heading: say("readers.title"), cancel: say("common.close") };
    this.#dialog = new Dialog(given, this.#sum, ...nodes);
  }

  open(message) {
    this.#message = message;
    this.#dialog.open();
    this.show();
  }

  /** They read on while it is open. */
  show() {
    if (!this.#dialog.isOpen) return;
    const { conversationId, id } = this.#message;
    const conversation = this.#store.conversation(conversationId);
    const message = this.#store.message(conversationId, id);
    if (!conversation || message?.deletedAt) {
      this.#dialog.close();
      return;
    }
    const who = this.#receipts.whoHas(conversation, this.#message);
    const all = who.read.length + who.reached.length + who.left.length;
    setText(this.#sum, say("receipts.readBy", { count: who.read.length, all }));
    for (const [name, part] of Object.entries(this.#parts)) part.show(who[name], this.#people);
  }
}

class Part {
  #list = element("ul", { class: "persons" });
  #rows = new Rows(this.#list, null);
  node;

  constructor(title) {
    this.node = new Section(title, [], this.#list).node;
  }

  show(userIds, people) {
    this.node.hidden = userIds.length === 0;
    this.#rows.show(
      userIds.map((id) => {
        const state = { name: people.nameOf(id), ...people.pictureOfPerson(id) };
        return { key: id, Row: PersonRow, state };
      }),
    );
  }
}

class PersonRow {
  #avatar = avatar();
  #name = element("span", { class: "person-name", dir: "auto" });
  node = element("li", {}, this.#avatar, this.#name);

  show({ name, ...picture }) {
    setAvatar(this.#avatar, picture);
    setText(this.#name, name);
  }
}
