/** What a message was before it was edited or deleted, for moderators. */

import { element, Rows, setAttribute, setText } from "../../../browser/dom.js";
import { momentOf, shortMomentOf } from "../times.js";
import { say } from "../words.js";
import { Dialog } from "./dialog.js";
import { Section } from "./section.js";

const HOW = {
  edited: (values) => say("context.edited", values),
  deleted: (values) => say("context.deleted", values),
  removed: (values) => say("context.removed", values),
};

export class VersionsDialog {
  #versions;
  #section;
  #dialog;

  constructor(desk, people) {
    this.#versions = new Versions(desk, people);
    this.#section = new Section(say("context.before"), [], this.#versions.node);
    const given = { heading: say("versions.title"), cancel: say("common.close") };
    this.#dialog = new Dialog(given, this.#section.node);
  }

  async open({ id }) {
    this.#versions.clear(say("common.loading"));
    this.#dialog.open();
    const isDone = await this.#section.explain(() => this.#versions.load(id));
    if (!isDone) this.#versions.clear();
  }
}

/** The latest first. */
export class Versions {
  #list = element("ol", { class: "context" });
  #hint = element("p", { class: "hint", role: "status" });
  #rows = new Rows(this.#list, null);
  #desk;
  #people;
  #askedId = null;
  node = element("div", {}, this.#list, this.#hint);

  constructor(desk, people) {
    this.#desk = desk;
    this.#people = people;
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
    setText(this.#hint, versions.length > 0 ? "" : say("context.noneOlder"));
    return true;
  }

  #rowOf({ id, senderId, body, how, replacedAt, replacedByUserId }) {
    const by = this.#people.nameOf(replacedByUserId);
    const about = HOW[how]({ name: by, when: shortMomentOf(replacedAt) });
    const author = this.#people.nameOf(senderId);
    const state = { author, about, moment: momentOf(replacedAt), body };
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
