/** One message in the log. */

import { element, Rows, setAttribute, setText } from "../dom.js";
import { Attachments } from "./attachments.js";
import { bodyOf } from "./body.js";

const OFFERED = ["👍", "❤️", "😂", "🎉"];

export class MessageRow {
  #tools;
  #entry = null;
  #shownBody = null;
  #author = element("span", { class: "author", dir: "auto" });
  #quote = element("blockquote", { class: "quote", dir: "auto" });
  #body = element("div", { class: "body", part: "body", dir: "auto" });
  #edited = element("span", { class: "edited" });
  #time = element("time");
  #note = element("span", { class: "note" });
  #chips = element("div", { class: "chips" });
  #unsent;
  #choices;
  #actions;
  #reactions;
  #thread;
  #attachments;

  /** `tools` are {store, say, moments, problemOf, isInThread}, and the actions on an entry:
   * react(entry, emoji), reply, edit, remove, openThread, retry(key), and discard(key). */
  constructor(tools) {
    this.#tools = tools;
    const { say } = tools;
    const toggle = (emoji) => tools.react(this.#entry, emoji);
    this.#reactions = new Rows(this.#chips, { ...tools, toggle });
    this.#unsent = element(
      "span",
      {},
      this.#button(say("retry"), () => tools.retry(this.#entry.clientMessageId)),
      this.#button(say("discard"), () => tools.discard(this.#entry.clientMessageId)),
    );
    const fields = { type: "button", class: "link thread-link", part: "replies" };
    const onclick = () => tools.openThread(this.#entry);
    this.#attachments = new Attachments(tools);
    this.#thread = element("button", { ...fields, "aria-live": "off", hidden: true, onclick });
    this.#choices = this.#makeChoices(toggle);
    const all = Object.values(this.#choices).flat();
    this.#actions = element("div", { class: "actions", part: "actions" }, ...all);
    setText(this.#edited, say("edited"));
    this.node = this.#made();
  }

  show({ entry, isNamed, author, mentioned }) {
    this.#entry = entry;
    const { say } = this.#tools;
    const isDeleted = Boolean(entry.deletedAt);
    const { dataset } = this.node;
    dataset.from = entry.isOwn ? "me" : "other";
    dataset.state = isDeleted ? "deleted" : entry.state;
    setAttribute(this.node, "part", `message ${entry.isOwn ? "own" : "other"}`);
    setText(this.#author, entry.isOwn ? say("you") : author);
    setAttribute(this.#author, "class", isNamed && !entry.isOwn ? "author" : "unseen");
    this.#showBody(isDeleted ? say("deleted") : entry.body, isDeleted ? [] : mentioned);
    this.#showQuote(isDeleted ? null : entry.replyTo);
    this.#showReactions(isDeleted ? [] : (entry.reactions ?? []));
    // The files of a pending message cannot be read yet.
    const isThere = !isDeleted && entry.state === "sent";
    this.#attachments.show((isThere && entry.attachments) || []);
    this.#showThread(entry);
    this.#showMeta(entry, isDeleted);
  }

  #made() {
    const bubble = element("div", { class: "bubble", part: "bubble" });
    bubble.append(this.#author, this.#quote, this.#body, this.#attachments.node, this.#edited);
    const meta = element("div", { class: "meta" }, this.#time, this.#note, this.#unsent);
    return element(
      "div",
      { class: "message", tabindex: "-1" },
      ...[bubble, this.#actions, this.#chips, this.#thread, meta],
    );
  }

  #makeChoices(toggle) {
    const { say, reply, openThread, edit, remove } = this.#tools;
    const act = (what) => () => what(this.#entry);
    const react = OFFERED.map((emoji) =>
      this.#button(emoji, () => toggle(emoji), { "aria-label": say("react", { emoji }) }),
    );
    return {
      react,
      reply: this.#button(say("reply"), act(reply)),
      answer: this.#button(say("thread"), act(openThread), { "aria-label": say("answer") }),
      edit: this.#button(say("edit"), act(edit)),
      remove: this.#button(say("delete"), act(remove)),
    };
  }

  #button(words, onclick, more = {}) {
    return element("button", { type: "button", class: "small", onclick, ...more }, words);
  }

  /** Below a root, and below a reply that was also sent to the conversation. */
  #showThread({ threadSummary: summary = null, threadRootMessageId: rootId }) {
    const { say, moments, isInThread } = this.#tools;
    this.#thread.hidden = isInThread || (!summary && !rootId);
    if (this.#thread.hidden) return;
    const { replyCount: count, lastReplyAt } = summary ?? {};
    const last = summary && `${say("replies", { count })} · ${moments.short(lastReplyAt)}`;
    setText(this.#thread, last ?? say("fromThread"));
    setAttribute(this.#thread, "title", summary && moments.whole(lastReplyAt));
  }

  /** The selection in a text is kept when reactions change. */
  #showBody(text, mentioned) {
    const shown = JSON.stringify([text, mentioned]);
    if (shown === this.#shownBody) return;
    this.#shownBody = shown;
    this.#body.replaceChildren(...bodyOf(text, mentioned, this.#tools.store.userId));
  }

  #showQuote(replyTo) {
    const { say, store } = this.#tools;
    this.#quote.hidden = !replyTo;
    if (!replyTo) return;
    const { senderId, deleted, deletedAt, excerpt = replyTo.body } = replyTo;
    const name = senderId === store.userId ? say("you") : store.user(senderId).name;
    setText(this.#quote, `${name}: ${deleted || deletedAt ? say("deleted") : excerpt}`);
  }

  #showReactions(reactions) {
    this.#reactions.show(
      reactions.map(({ emoji, userIds }) => ({
        ...{ key: emoji, Row: ReactionChip },
        state: { emoji, userIds },
      })),
    );
    this.#chips.hidden = reactions.length === 0;
  }

  #showMeta({ createdAt, editedAt, isOwn, state, ...failed }, isDeleted) {
    const { say, moments, problemOf, isInThread } = this.#tools;
    const { problem: message, problemCode: code, retryAfter } = failed;
    const problem = message && problemOf({ code, message, retryAfter });
    const notes = { pending: say("pending"), failed: say("unsent", { problem }) };
    Object.assign(notes, { held: say("held"), waiting: say("waiting") });
    setText(this.#time, moments.time(createdAt));
    setAttribute(this.#time, "datetime", createdAt);
    setAttribute(this.#time, "title", moments.whole(createdAt));
    setText(this.#note, notes[state] ?? "");
    this.#edited.hidden = !editedAt || isDeleted;
    this.#unsent.hidden = ["sent", "pending"].includes(state);
    this.#unsent.firstElementChild.hidden = state !== "failed";
    this.#actions.hidden = state !== "sent" || isDeleted;
    const { answer, edit, remove } = this.#choices;
    answer.hidden = isInThread;
    edit.hidden = remove.hidden = !isOwn;
  }
}

class ReactionChip {
  #tools;
  #emoji = null;

  constructor(tools) {
    this.#tools = tools;
    const onclick = () => tools.toggle(this.#emoji);
    this.node = element("button", { type: "button", class: "chip", part: "reaction", onclick });
  }

  show({ emoji, userIds }) {
    const { say, store } = this.#tools;
    this.#emoji = emoji;
    const nameOf = (id) => (id === store.userId ? say("you") : store.user(id).name);
    const count = userIds.length;
    setText(this.node, `${emoji} ${count}`);
    setAttribute(this.node, "aria-pressed", String(userIds.includes(store.userId)));
    const words = say("reacted", { emoji, count, names: userIds.map(nameOf).join(", ") });
    setAttribute(this.node, "aria-label", words);
    setAttribute(this.node, "title", words);
  }
}
