/** The parts of a message besides its body: its source, the quoted message, reactions. */

import { element, setAttribute, setText } from "../dom.js";
import { plainOf } from "../plain.js";
import { icon } from "./icons.js";
import { Part } from "./part.js";

/** Above the body: that it was forwarded, or belongs to a thread. */
export class Origin extends Part {
  #words = element("span");
  #link;
  node = element("p", { class: "origin", hidden: true });

  constructor(shell, openThread) {
    super(shell);
    this.#link = element("button", { type: "button", class: "link", onclick: () => openThread() });
    this.node.append(this.#words, this.#link);
  }

  show({ forwardedFrom, threadRootMessageId, isInThread, alsoSendToMain, isDeleted }) {
    const isElsewhere = Boolean(threadRootMessageId) && Boolean(alsoSendToMain);
    const words = [];
    if (forwardedFrom) words.push(this.#forwarded(forwardedFrom));
    if (isElsewhere && isInThread) words.push(this.say("message.alsoSendToMain"));
    setText(this.#words, words.join(" · "));
    setText(this.#link, isElsewhere && !isInThread ? this.say("message.fromThread") : "");
    this.#words.hidden = words.length === 0;
    this.#link.hidden = this.#link.textContent === "";
    this.node.hidden = isDeleted || (this.#words.hidden && this.#link.hidden);
  }

  #forwarded({ senderId }) {
    return this.say("message.forwarded", { name: this.people.nameOf(senderId) });
  }
}

/** What a message answers; it leads there. */
export class Quote extends Part {
  #author = element("span", { class: "quote-author", dir: "auto" });
  #text = element("span", { class: "quote-text", dir: "auto" });
  node;

  constructor(shell, jump) {
    super(shell);
    const label = this.say("message.goToAnswered");
    this.node = element(
      "button",
      { type: "button", class: "quote", title: label, onclick: () => jump() },
      ...[this.#author, " ", this.#text],
    );
  }

  show(preview) {
    this.node.hidden = !preview;
    if (!preview) return;
    const { senderId, excerpt, deleted } = preview;
    setText(this.#author, senderId ? this.people.nameOf(senderId) : "");
    setText(this.#text, deleted ? this.say("message.deletedQuote") : plainOf(excerpt));
    setAttribute(this.node, "data-deleted", deleted);
    this.node.style.setProperty("--hue", this.people.hueOf(senderId));
  }
}

/** All reactions with one emoji; a click adds or takes back one's own. */
export class ReactionChip extends Part {
  #emoji = element("span", { class: "emoji", "aria-hidden": "true" });
  #count = element("span", { class: "count", "aria-hidden": "true" });
  #text = null;
  node;

  constructor({ shell, toggle }) {
    super(shell);
    const onclick = () => toggle(this.#text);
    this.node = element("button", { type: "button", class: "chip", part: "reaction", onclick });
    this.node.append(this.#emoji, this.#count);
  }

  show({ emoji, userIds }) {
    this.#text = emoji;
    const isMine = userIds.includes(this.people.userId);
    setText(this.#emoji, emoji);
    setText(this.#count, this.texts.numberOf(userIds.length));
    setAttribute(this.node, "aria-pressed", String(isMine));
    setAttribute(this.node, "aria-label", `${emoji} ${this.texts.numberOf(userIds.length)}`);
    const names = this.#namesOf(userIds);
    setAttribute(this.node, "title", this.say("message.reacted", { names, emoji }));
  }

  /** The reader comes first. */
  #namesOf(userIds) {
    const people = this.people;
    const others = userIds.filter((id) => id !== people.userId);
    const own = others.length < userIds.length ? [this.say("message.reactedYou")] : [];
    return this.texts.listOf([...own, ...others.map((other) => people.nameOf(other))]);
  }
}

/** Below the root of a thread. */
export class ThreadLink extends Part {
  #count = element("strong");
  #last = element("span");
  node;

  constructor(shell, openThread) {
    super(shell);
    const onclick = () => openThread();
    this.node = element("button", { type: "button", class: "thread-link", part: "replies", onclick });
    this.node.append(this.#count, this.#last);
  }

  show(summary) {
    this.node.hidden = !summary;
    if (!summary) return;
    const { replyCount, lastReplyAt } = summary;
    setText(this.#count, this.say("thread.replies", { count: replyCount }));
    setText(this.#last, ` · ${this.say("thread.last", { when: this.texts.agoOf(lastReplyAt) })}`);
    setAttribute(this.node, "title", this.say("thread.lastAt", { when: this.texts.momentOf(lastReplyAt) }));
  }
}

/** Next to the time of an own message: delivered, read. Screen readers do not announce changes. */
export class Ticks extends Part {
  node = element("span", { class: "ticks", role: "img", "aria-live": "off", hidden: true });

  show({ isDeleted, ...standing }) {
    const { mark } = standing;
    this.node.hidden = mark === null || isDeleted;
    if (this.node.hidden) return;
    if (mark !== this.node.dataset.mark) this.node.replaceChildren(icon(mark));
    this.node.dataset.mark = mark;
    const words = standingIn(this.texts, standing);
    setAttribute(this.node, "aria-label", words);
    setAttribute(this.node, "title", words);
  }
}

function standingIn(texts, { mark, count, all, isDirect }) {
  if (mark === "read") return isDirect ? texts.say("receipts.read") : texts.say("receipts.readBy", { count, all });
  return isDirect ? texts.say("receipts.delivered") : texts.say("receipts.deliveredTo", { count });
}
