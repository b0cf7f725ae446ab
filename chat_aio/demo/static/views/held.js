/** The messages that a filter holds, for moderators: each is sent or removed for good. */

import { element, Rows, setAttribute, setText } from "../../../browser/dom.js";
import { releaseProblemOf } from "../problems.js";
import { agoOf, momentOf, shortMomentOf } from "../times.js";
import { say } from "../words.js";
import { labelOf, ListFoot, Section, smallButton } from "./section.js";

const WORDS = { failed: say("held.failed"), empty: say("held.empty") };

export class HeldSection {
  #list = element("ul", { class: "cases" });
  #foot;
  #rows;
  #section;
  #casework;
  #store;
  #people;

  /** `standing(userId)` shows the record of a user. */
  constructor(casework, store, people, standing) {
    this.#casework = casework;
    this.#store = store;
    this.#people = people;
    this.#foot = new ListFoot(() => casework.held.more());
    const release = (held) => this.#act(() => this.#release(held));
    const discard = (held) => this.#act(() => casework.discard(held));
    this.#rows = new Rows(this.#list, { release, discard, standing });
    this.#section = new Section(say("held.title"), [], this.#list, this.#foot.node);
    this.node = this.#section.node;
  }

  complain(words) {
    this.#section.complain(words);
  }

  show() {
    const { held } = this.#casework;
    this.#rows.show(held.items.map((message) => this.#rowOf(message)));
    this.#foot.show(held, WORDS);
  }

  #rowOf(held) {
    const { senderId, conversationId, releasedBy } = held;
    const conversation = this.#store.conversation(conversationId);
    const place = conversation ? this.#people.titleOf(conversation) : conversationId;
    const by = releasedBy && this.#people.nameOf(releasedBy);
    const state = { held, sender: this.#people.nameOf(senderId), place, by };
    return { key: held.id, Row: HeldRow, state };
  }

  async #release(held) {
    try {
      await this.#casework.release(held);
    } catch (error) {
      throw new Error(releaseProblemOf(error));
    }
  }

  async #act(work) {
    await this.#section.attempt(work);
    this.#section.keepFocus();
  }
}

class HeldRow {
  #title = element("span", { class: "person-name" });
  #ago = element("time", { class: "row-time" });
  #about = element("p", { class: "terms" });
  #rule = element("p", { class: "case-reason", dir: "auto" });
  #body = element("p", { class: "excerpt", dir: "auto" });
  #standing;
  #discard;
  #release;
  #held = null;

  constructor({ release, discard, standing }) {
    this.#standing = smallButton(say("standing.title"), () => standing(this.#held.senderId));
    this.#discard = smallButton(say("held.discard"), () => discard(this.#held));
    const fields = { class: "primary small" };
    this.#release = smallButton(say("held.release"), () => release(this.#held), fields);
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
    const title = say("case.message", { name: sender });
    setText(this.#title, title);
    setText(this.#ago, agoOf(held.createdAt));
    setAttribute(this.#ago, "datetime", held.createdAt);
    setAttribute(this.#ago, "title", momentOf(held.createdAt));
    setText(this.#about, aboutOf(held, place, by));
    setText(this.#rule, held.reason);
    setText(this.#body, held.body);
    // Its release has begun, and may not be complete: it cannot be discarded.
    this.#discard.hidden = by !== null;
    setAttribute(this.#standing, "aria-label", labelOf(this.#standing, sender));
    for (const button of [this.#discard, this.#release]) {
      setAttribute(button, "aria-label", labelOf(button, title));
    }
  }
}

function aboutOf({ expiresAt }, place, by) {
  const until = expiresAt ? [say("held.keptUntil", { when: shortMomentOf(expiresAt) })] : [];
  const begun = by ? [say("held.begunBy", { name: by })] : [];
  return [say("held.in", { title: place }), ...until, ...begun].join(" · ");
}
