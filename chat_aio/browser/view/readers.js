/** The readers of an own message in a group, and the members with and without a delivery. */

import { avatar, element, Rows, setAvatar, setText } from "../dom.js";
import { Dialog } from "./dialog.js";
import { Part } from "./part.js";
import { Section } from "./section.js";

export class ReadersDialog extends Part {
  #sum = element("p", { class: "terms", role: "status" });
  #parts = {
    read: new Readers(this.shell, this.say("readers.read")),
    reached: new Readers(this.shell, this.say("readers.reached")),
    left: new Readers(this.shell, this.say("readers.left")),
  };
  #dialog;
  #receipts;
  #message = null;

  constructor(shell, receipts) {
    super(shell);
    this.#receipts = receipts;
    const nodes = Object.values(this.#parts).map((part) => part.node);
    const given = { heading: this.say("readers.title"), cancel: this.say("common.close") };
    this.#dialog = new Dialog(this.shell, given, this.#sum, ...nodes);
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
    const conversation = this.store.conversation(conversationId);
    const message = this.store.message(conversationId, id);
    if (!conversation || message?.deletedAt) {
      this.#dialog.close();
      return;
    }
    const who = this.#receipts.whoHas(conversation, this.#message);
    const all = who.read.length + who.reached.length + who.left.length;
    setText(this.#sum, this.say("receipts.readBy", { count: who.read.length, all }));
    for (const [name, part] of Object.entries(this.#parts)) part.show(who[name], this.people);
  }
}

class Readers extends Part {
  #list = element("ul", { class: "persons" });
  #rows = new Rows(this.#list, { shell: this.shell });
  node;

  constructor(shell, title) {
    super(shell);
    this.node = new Section(this.shell, title, [], this.#list).node;
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
