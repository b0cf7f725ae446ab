/** What a message was before it was edited or deleted, for moderators. */

import { element, Rows, setAttribute, setText } from "../dom.js";
import { Dialog } from "./dialog.js";
import { Part } from "./part.js";
import { Section } from "./section.js";

const howIn = (texts) => ({
  edited: (values) => texts.say("context.edited", values),
  deleted: (values) => texts.say("context.deleted", values),
  removed: (values) => texts.say("context.removed", values),
});

export class VersionsDialog extends Part {
  #versions;
  #section;
  #dialog;

  constructor(shell, desk) {
    super(shell);
    this.#versions = new Versions(this.shell, desk);
    this.#section = new Section(this.shell, this.say("context.before"), [], this.#versions.node);
    const given = { heading: this.say("versions.title"), cancel: this.say("common.close") };
    this.#dialog = new Dialog(this.shell, given, this.#section.node);
  }

  async open({ id }) {
    this.#versions.clear(this.say("common.loading"));
    this.#dialog.open();
    const isDone = await this.#section.explain(() => this.#versions.load(id));
    if (!isDone) this.#versions.clear();
  }
}

/** The latest first. */
export class Versions extends Part {
  #list = element("ol", { class: "context" });
  #hint = element("p", { class: "hint", role: "status" });
  #rows = new Rows(this.#list, { shell: this.shell });
  #desk;
  #askedId = null;
  node = element("div", {}, this.#list, this.#hint);

  constructor(shell, desk) {
    super(shell);
    this.#desk = desk;
  }

  clear(words = "") {
    this.#askedId = null;
    this.#rows.show([]);
    setText(this.#hint, words);
  }

  /** Resolves to whether they are shown: another message may be wanted by then. */
  async load(messageId) {
    this.#askedId = messageId;
    const versions = await this.#desk.listVersions(messageId);
    if (messageId !== this.#askedId) return false;
    this.#rows.show(versions.map((version) => this.#rowOf(version)));
    setText(this.#hint, versions.length > 0 ? "" : this.say("context.noneOlder"));
    return true;
  }

  #rowOf({ id, senderId, body, how, replacedAt, replacedByUserId }) {
    const by = this.people.nameOf(replacedByUserId);
    const about = howIn(this.texts)[how]({ name: by, when: this.texts.shortMomentOf(replacedAt) });
    const author = this.people.nameOf(senderId);
    const state = { author, about, moment: this.texts.momentOf(replacedAt), body };
    return { key: id, Row: Line, state: { ...state, isDeleted: false, isMeant: false } };
  }
}

/** What somebody wrote. */
export class Line {
  #author = element("strong", { dir: "auto" });
  #about = element("span", { class: "terms" });
  #body = element("p", { class: "case-reason", dir: "auto" });
  node = element("li", {}, this.#author, " ", this.#about, this.#body);

  show({ author, about, moment, body, isDeleted, isMeant }) {
    setText(this.#author, author);
    setText(this.#about, about);
    setAttribute(this.#about, "title", moment);
    setText(this.#body, body);
    setAttribute(this.#body, "data-deleted", isDeleted);
    setAttribute(this.node, "aria-current", isMeant && "true");
  }
}
