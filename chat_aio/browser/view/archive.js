/** The screen of archived conversations. */

import { rowTextOf } from "../brief.js";
import { avatar, element, Rows, setAttribute, setAvatar, setText } from "../dom.js";
import { Part } from "./part.js";
import { Screen } from "./screen.js";
import { labelOf, ListFoot, smallButton } from "./section.js";

export class ArchiveScreen extends Part {
  #screen = new Screen(this.shell, "archived", {
    ...{ title: this.say("archive.title"), refresh: () => this.open() },
  });
  node = this.#screen.node;
  #archive;
  #rows;
  #foot;

  constructor(shell, archive) {
    super(shell);
    this.#archive = archive;
    const list = element("ul", { role: "list" });
    this.#rows = new Rows(list, { shell, restore: (item) => this.#restore(item) });
    this.#foot = new ListFoot(shell, () => archive.conversations.more());
    this.#screen.append(list, this.#foot.node);
  }

  open() {
    this.#screen.complain("");
    this.#archive.conversations.reload();
  }

  focus() {
    this.#screen.focus();
  }

  show() {
    if (this.store.elsewhere !== "archived") return;
    const { conversations } = this.#archive;
    this.#rows.show(conversations.items.map((item) => this.#rowOf(item)));
    const words = { failed: this.say("list.failed"), empty: this.say("archive.empty") };
    this.#foot.show(conversations, words);
  }

  #rowOf(item) {
    const { conversation, message } = item;
    const { id, unreadCount, createdAt } = conversation;
    const at = message?.createdAt ?? createdAt;
    const none = this.say("list.nothingSaid");
    const state = {
      ...{ item, at, unread: unreadCount, href: this.shell.places.hrefOf(id) },
      ...this.people.pictureOf(conversation),
      ago: this.texts.agoOf(at),
      title: this.people.titleOf(conversation),
      preview: message ? rowTextOf(this.texts, this.people, conversation, message) : none,
    };
    return { key: id, Row: ArchivedRow, state };
  }

  async #restore(item) {
    this.#screen.complain("");
    try {
      await this.#archive.restore(item);
      this.focus();
    } catch (error) {
      this.#screen.complain(this.texts.problemOf(error));
    }
  }
}

class ArchivedRow extends Part {
  #avatar = avatar();
  #title = element("span", { class: "row-title", dir: "auto" });
  #time = element("time", { class: "row-time" });
  #preview = element("span", { class: "row-preview", dir: "auto" });
  #badge = element("span", { class: "badge" });
  #link = element("a", { class: "row" });
  #button;
  #item = null;

  constructor({ shell, restore }) {
    super(shell);
    this.#button = smallButton(this.say("archive.end"), () => restore(this.#item));
    const lines = element(
      "span",
      {},
      element("span", { class: "row-line" }, this.#title, " ", this.#time),
      element("span", { class: "row-line" }, this.#preview, " ", this.#badge),
    );
    this.#link.append(this.#avatar, " ", lines);
    this.node = element("li", { class: "inbox-item" }, this.#link, this.#button);
  }

  show({ item, href, title, preview, at, ago, unread, ...picture }) {
    this.#item = item;
    setAvatar(this.#avatar, picture);
    setAttribute(this.#link, "href", href);
    setText(this.#title, title);
    setText(this.#preview, preview);
    setText(this.#time, ago);
    setAttribute(this.#time, "datetime", at);
    setAttribute(this.#time, "title", this.texts.momentOf(at));
    setText(this.#badge, unread > 0 ? this.say("inbox.new", { count: unread }) : "");
    this.#badge.hidden = unread === 0;
    setAttribute(this.#button, "aria-label", labelOf(this.texts, this.#button, title));
  }
}
