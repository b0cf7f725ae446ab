/** The messages that a filter holds, for moderators: each is sent or removed for good. */

import { element, Rows, setAttribute, setText } from "../dom.js";
import { releaseProblemOf } from "../problems.js";
import { Part } from "./part.js";
import { labelOf, ListFoot, Section, smallButton } from "./section.js";

const wordsIn = (texts) => ({ failed: texts.say("held.failed"), empty: texts.say("held.empty") });

export class HeldSection extends Part {
  #list = element("ul", { class: "cases" });
  #foot;
  #rows;
  #section;
  #casework;

  /** `standing(userId)` shows the record of a user. */
  constructor(shell, casework, standing) {
    super(shell);
    this.#casework = casework;
    this.#foot = new ListFoot(this.shell, () => casework.held.more());
    const release = (held) => this.#act(() => this.#release(held));
    const discard = (held) => this.#act(() => casework.discard(held));
    this.#rows = new Rows(this.#list, { shell: this.shell, release, discard, standing });
    this.#section = new Section(this.shell, this.say("held.title"), [], this.#list, this.#foot.node);
    this.node = this.#section.node;
  }

  complain(words) {
    this.#section.complain(words);
  }

  show() {
    const { held } = this.#casework;
    this.#rows.show(held.items.map((message) => this.#rowOf(message)));
    this.#foot.show(held, wordsIn(this.texts));
  }

  #rowOf(held) {
    const { senderId, conversationId, releasedBy } = held;
    const conversation = this.store.conversation(conversationId);
    const place = conversation ? this.people.titleOf(conversation) : conversationId;
    const by = releasedBy && this.people.nameOf(releasedBy);
    const state = { held, sender: this.people.nameOf(senderId), place, by };
    return { key: held.id, Row: HeldRow, state };
  }

  async #release(held) {
    try {
      await this.#casework.release(held);
    } catch (error) {
      throw new Error(releaseProblemOf(this.texts, error));
    }
  }

  async #act(work) {
    await this.#section.attempt(work);
    this.#section.keepFocus();
  }
}

class HeldRow extends Part {
  #title = element("span", { class: "person-name" });
  #ago = element("time", { class: "row-time" });
  #about = element("p", { class: "terms" });
  #rule = element("p", { class: "case-reason", dir: "auto" });
  #body = element("p", { class: "excerpt", dir: "auto" });
  #standing;
  #discard;
  #release;
  #held = null;

  constructor({ shell, release, discard, standing }) {
    super(shell);
    this.#standing = smallButton(this.say("standing.title"), () => standing(this.#held.senderId));
    this.#discard = smallButton(this.say("held.discard"), () => discard(this.#held));
    const fields = { class: "primary small" };
    this.#release = smallButton(this.say("held.release"), () => release(this.#held), fields);
    const buttons = [this.#standing, this.#discard, this.#release];
    this.node = element(
      "li",
      {},
      element("div", { class: "person" }, this.#title, this.#ago),
      ...[this.#about, this.#rule, this.#body],
      element("div", { class: "ending" }, ...buttons),
    );
  }

  show({ held, sender, place, by }) {
    this.#held = held;
    const title = this.say("case.message", { name: sender });
    setText(this.#title, title);
    setText(this.#ago, this.texts.agoOf(held.createdAt));
    setAttribute(this.#ago, "datetime", held.createdAt);
    setAttribute(this.#ago, "title", this.texts.momentOf(held.createdAt));
    setText(this.#about, aboutOf(this.texts, held, place, by));
    setText(this.#rule, held.reason);
    setText(this.#body, held.body);
    // Its release has begun, and may not be complete: it cannot be discarded.
    this.#discard.hidden = by !== null;
    setAttribute(this.#standing, "aria-label", labelOf(this.texts, this.#standing, sender));
    for (const button of [this.#discard, this.#release]) {
      setAttribute(button, "aria-label", labelOf(this.texts, button, title));
    }
  }
}

function aboutOf(texts, { expiresAt }, place, by) {
  const until = expiresAt ? [texts.say("held.keptUntil", { when: texts.shortMomentOf(expiresAt) })] : [];
  const begun = by ? [texts.say("held.begunBy", { name: by })] : [];
  return [texts.say("held.in", { title: place }), ...until, ...begun].join(" · ");
}
