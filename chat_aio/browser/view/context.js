/** A message for moderators: its context, its versions, and its removal. */

import { element, Rows, setText } from "../dom.js";
import { Dialog, field } from "./dialog.js";
import { Part } from "./part.js";
import { Section, smallButton } from "./section.js";
import { Line, Versions } from "./versions.js";

const MOST_REASON = 1_000;

export class ContextDialog extends Part {
  #lines = element("ol", { class: "context" });
  #versions;
  #reason = element("textarea", { rows: 1, maxlength: MOST_REASON });
  #reasonField = field(this.say("case.reason"), this.#reason, { optional: this.say("common.optional") });
  #remove = smallButton(
    this.say("context.remove"),
    () => this.#change(this.#desk.removeMessage, this.#given()),
    { class: "primary danger small" },
  );
  #restore = smallButton(this.say("context.restore"), () => this.#change(this.#desk.restoreMessage));
  #look = smallButton(this.say("context.before"), () => this.#lookBack());
  #standing;
  #section;
  #earlier;
  #dialog;
  #rows;
  #desk;
  #messageId = null;
  #message = null;

  /** `standing(userId)` shows the record of a user. */
  constructor(shell, desk, standing) {
    super(shell);
    this.#desk = desk;
    this.#rows = new Rows(this.#lines, { shell: this.shell });
    this.#versions = new Versions(this.shell, desk);
    this.#standing = smallButton("", () => standing(this.#message.senderId));
    const acts = [this.#look, this.#standing, this.#restore, this.#remove];
    const ending = element("div", { class: "ending" }, ...acts);
    this.#section = new Section(this.shell, this.say("context.around"), [], this.#lines, this.#reasonField, ending);
    this.#earlier = new Section(this.shell, this.say("context.before"), [], this.#versions.node);
    const given = { heading: this.say("context.title"), cancel: this.say("common.close") };
    this.#dialog = new Dialog(this.shell, given, this.#section.node, this.#earlier.node);
  }

  async open(messageId) {
    this.#messageId = messageId;
    this.#show(null, []);
    this.#versions.clear();
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

  /** Another message may have been opened in the meantime. */
  async #load() {
    const asked = this.#messageId;
    const { message, messages } = await this.#desk.lookAtMessage(asked);
    if (asked === this.#messageId) this.#show(message, messages);
  }

  async #loadVersions() {
    if (await this.#versions.load(this.#messageId)) this.#earlier.node.hidden = false;
  }

  #show(message, messages) {
    this.#message = message;
    this.#rows.show(messages.map((entry) => this.#lineOf(entry)));
    for (const node of [this.#reasonField, this.#remove]) node.hidden = message?.deletedAt !== null;
    this.#restore.hidden = !message?.deletedAt;
    this.#standing.hidden = message === null;
    if (!message) return;
    const name = this.people.nameOf(message.senderId);
    setText(this.#standing, this.say("standing.titleOf", { name }));
  }

  #lineOf({ id, senderId, createdAt, body, deletedAt, threadRootMessageId }) {
    const inThread = threadRootMessageId ? ` · ${this.say("context.inThread")}` : "";
    const state = {
      author: this.people.nameOf(senderId),
      about: `${this.texts.shortMomentOf(createdAt)}${inThread}`,
      moment: this.texts.momentOf(createdAt),
      body: deletedAt ? this.say("message.deleted") : body,
      isDeleted: Boolean(deletedAt),
      isMeant: id === this.#messageId,
    };
    return { key: id, Row: Line, state };
  }
}
