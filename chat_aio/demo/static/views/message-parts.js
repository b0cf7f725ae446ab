/** What a message has beside its body: where it comes from, what it answers, what others did. */

import { element, setAttribute, setText } from "../../../browser/dom.js";
import { icon } from "../icons.js";
import { agoOf, momentOf } from "../times.js";

/** Above the body: that it was forwarded, or belongs to a thread. */
export class Origin {
  #people;
  #words = element("span");
  #link;
  node = element("p", { class: "origin", hidden: true });

  constructor(people, openThread) {
    this.#people = people;
    this.#link = element("button", { type: "button", class: "link", onclick: () => openThread() });
    this.node.append(this.#words, this.#link);
  }

  show({ forwardedFrom, threadRootMessageId, isInThread, alsoSendToMain, isDeleted }) {
    const isElsewhere = Boolean(threadRootMessageId) && Boolean(alsoSendToMain);
    const words = [];
    if (forwardedFrom) words.push(`Forwarded from ${this.#people.nameOf(forwardedFrom.senderId)}`);
    if (isElsewhere && isInThread) words.push("Also in the conversation");
    setText(this.#words, words.join(" · "));
    setText(this.#link, isElsewhere && !isInThread ? "From a thread" : "");
    this.#words.hidden = words.length === 0;
    this.#link.hidden = this.#link.textContent === "";
    this.node.hidden = isDeleted || (this.#words.hidden && this.#link.hidden);
  }
}

/** What a message answers; it leads there. */
export class Quote {
  #people;
  #author = element("span", { class: "quote-author" });
  #text = element("span", { class: "quote-text", dir: "auto" });
  node;

  constructor(people, jump) {
    this.#people = people;
    const label = "Go to the message that this answers";
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
    setText(this.#author, senderId ? this.#people.nameOf(senderId) : "");
    setText(this.#text, deleted ? "Deleted message" : excerpt.replace(/\s+/gu, " "));
    setAttribute(this.node, "data-deleted", deleted);
    this.node.style.setProperty("--hue", this.#people.hueOf(senderId));
  }
}

/** All reactions with one emoji; a click adds or takes back one's own. */
export class ReactionChip {
  #people;
  #emoji = element("span", { class: "emoji", "aria-hidden": "true" });
  #count = element("span", { class: "count", "aria-hidden": "true" });
  #text = null;
  node;

  constructor({ people, toggle }) {
    this.#people = people;
    const onclick = () => toggle(this.#text);
    this.node = element("button", { type: "button", class: "chip", onclick });
    this.node.append(this.#emoji, this.#count);
  }

  show({ emoji, userIds }) {
    this.#text = emoji;
    const isMine = userIds.includes(this.#people.userId);
    const nameOf = (id) => (id === this.#people.userId ? "You" : this.#people.nameOf(id));
    setText(this.#emoji, emoji);
    setText(this.#count, String(userIds.length));
    setAttribute(this.node, "aria-pressed", String(isMine));
    setAttribute(this.node, "aria-label", `${emoji} ${userIds.length}`);
    setAttribute(this.node, "title", `${userIds.map(nameOf).join(", ")} reacted with ${emoji}`);
  }
}

/** Below the root of a thread. */
export class ThreadLink {
  #count = element("strong");
  #last = element("span");
  node;

  constructor(openThread) {
    const onclick = () => openThread();
    this.node = element("button", { type: "button", class: "thread-link", onclick });
    this.node.append(this.#count, this.#last);
  }

  show(summary) {
    this.node.hidden = !summary;
    if (!summary) return;
    const { replyCount, lastReplyAt } = summary;
    setText(this.#count, replyCount === 1 ? "1 reply" : `${replyCount} replies`);
    setText(this.#last, ` · last ${agoOf(lastReplyAt)}`);
    setAttribute(this.node, "title", `Last reply ${momentOf(lastReplyAt)}`);
  }
}

/** Beside the time of one's own: delivered, read. In a log whatever comes is read out; not this. */
export class Ticks {
  node = element("span", { class: "ticks", role: "img", "aria-live": "off", hidden: true });

  show({ mark, words, isDeleted }) {
    this.node.hidden = mark === null || isDeleted;
    if (this.node.hidden) return;
    if (mark !== this.node.dataset.mark) this.node.replaceChildren(icon(mark));
    this.node.dataset.mark = mark;
    setAttribute(this.node, "aria-label", words);
    setAttribute(this.node, "title", words);
  }
}
