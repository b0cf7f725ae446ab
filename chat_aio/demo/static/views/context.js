/** A message for moderators: what was written around it, what it was before, and removing it. */

import { element, Rows, setAttribute, setText } from "../../../browser/dom.js";
import { momentOf, shortMomentOf } from "../times.js";
import { say } from "../words.js";
import { Dialog, field } from "./dialog.js";
import { Section, smallButton } from "./section.js";

const MOST_REASON = 1_000;
const HOW = {
  edited: (values) => say("context.edited", values),
  deleted: (values) => say("context.deleted", values),
  removed: (values) => say("context.removed", values),
};

export class ContextDialog {
  #lines = element("ol", { class: "context" });
  #versions = element("ol", { class: "context" });
  #none = element("p", { class: "hint", role: "status" }, say("context.noneOlder"));
  #reason = element("textarea", { rows: 1, maxlength: MOST_REASON });
  #reasonField = field(say("case.reason"), this.#reason, { isOptional: true });
  #remove = smallButton(
    say("context.remove"),
    () => this.#change(this.#desk.removeMessage, this.#given()),
    { class: "primary danger small" },
  );
  #restore = smallButton(say("context.restore"), () => this.#change(this.#desk.restoreMessage));
  #look = smallButton(say("context.before"), () => this.#lookBack());
  #standing;
  #section;
  #earlier;
  #dialog;
  #rows;
  #versionRows;
  #desk;
  #people;
  #messageId = null;
  #message = null;

  /** `standing(userId)` shows what is known of somebody. */
  constructor(desk, people, standing) {
    this.#desk = desk;
    this.#people = people;
    this.#rows = new Rows(this.#lines, null);
    this.#versionRows = new Rows(this.#versions, null);
    this.#standing = smallButton("", () => standing(this.#message.senderId));
    const acts = [this.#look, this.#standing, this.#restore, this.#remove];
    const ending = element("div", { class: "ending" }, ...acts);
    this.#section = new Section(say("context.around"), [], this.#lines, this.#reasonField, ending);
    this.#earlier = new Section(say("context.before"), [], this.#versions, this.#none);
    const given = { heading: say("context.title"), cancel: say("common.close") };
    this.#dialog = new Dialog(given, this.#section.node, this.#earlier.node);
  }

  async open(messageId) {
    this.#messageId = messageId;
    this.#show(null, []);
    this.#earlier.node.hidden = true;
    this.#dialog.open();
    await this.#section.explain(() => this.#load());
  }

  #given() {
    const reason = this.#reason.value.trim();
    return reason ? { reason } : {};
  }

  async #change(act, ...given) {
    await this.#section.attempt(async () => {
      await act(this.#messageId, ...given);
      this.#reason.value = "";
      await this.#load();
      // The button that was pressed is hidden now.
      (this.#restore.hidden ? this.#remove : this.#restore).focus();
      if (!this.#earlier.node.hidden) await this.#loadVersions();
    });
  }

  async #lookBack() {
    await this.#section.explain(() => this.#loadVersions());
    this.#earlier.node.scrollIntoView({ block: "nearest" });
  }

  /** Another message may have been opened meanwhile. */
  async #load() {
    const asked = this.#messageId;
    const { message, messages } = await this.#desk.lookAtMessage(asked);
    if (asked === this.#messageId) this.#show(message, messages);
  }

  async #loadVersions() {
    const asked = this.#messageId;
    const versions = await this.#desk.listVersions(asked);
    if (asked !== this.#messageId) return;
    this.#versionRows.show(versions.map((each) => this.#versionOf(each)));
    this.#none.hidden = versions.length > 0;
    this.#earlier.node.hidden = false;
  }

  #show(message, messages) {
    this.#message = message;
    this.#rows.show(messages.map((each) => this.#lineOf(each)));
    for (const each of [this.#reasonField, this.#remove]) each.hidden = message?.deletedAt !== null;
    this.#restore.hidden = !message?.deletedAt;
    this.#standing.hidden = message === null;
    if (!message) return;
    const name = this.#people.nameOf(message.senderId);
    setText(this.#standing, say("standing.titleOf", { name }));
  }

  #lineOf({ id, senderId, createdAt, body, deletedAt, threadRootMessageId }) {
    const inThread = threadRootMessageId ? ` · ${say("context.inThread")}` : "";
    const state = {
      author: this.#people.nameOf(senderId),
      about: `${shortMomentOf(createdAt)}${inThread}`,
      moment: momentOf(createdAt),
      body: deletedAt ? say("message.deleted") : body,
      isDeleted: Boolean(deletedAt),
      isMeant: id === this.#messageId,
    };
    return { key: id, Row: Line, state };
  }

  #versionOf({ id, senderId, body, how, replacedAt, replacedByUserId }) {
    const by = this.#people.nameOf(replacedByUserId);
    const about = HOW[how]({ name: by, when: shortMomentOf(replacedAt) });
    const author = this.#people.nameOf(senderId);
    const state = { author, about, moment: momentOf(replacedAt), body };
    return { key: id, Row: Line, state: { ...state, isDeleted: false, isMeant: false } };
  }
}

/** What somebody wrote. */
class Line {
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
