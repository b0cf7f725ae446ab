/** The screens of threads and of mentions: what concerns one in all conversations. */

import { briefOf } from "../brief.js";
import { avatar, element, Rows, setAttribute, setAvatar, setText } from "../../../browser/dom.js";
import { problemOf } from "../problems.js";
import { agoOf, momentOf } from "../times.js";
import { numberOf, say } from "../words.js";
import { ListFoot, smallButton } from "./section.js";

const MOST_SHOWN = 99;

const WORDS = {
  mentions: { failed: say("mentions.failed"), empty: say("mentions.empty") },
  threads: { failed: say("threads.failed"), empty: say("threads.empty") },
};

export class InboxViews {
  #inbox;
  #badges;
  /** The screens, by name: `open()`, `focus()` and `show()`. */
  screens;

  /**
   * `needs.goToMessage(message)` shows one, `needs.goToThread(root)` its thread;
   * `needs.titleIn(conversationId)` names one.
   */
  constructor(inbox, store, people, needs) {
    this.#inbox = inbox;
    this.#badges = {
      threads: document.querySelector("#unread-threads"),
      mentions: document.querySelector("#unread-mentions"),
    };
    const threadState = ({ root, lastReadSeq, unreadReplyCount }) => ({
      ...{ message: root, unread: unreadReplyCount, lastReadSeq },
      at: root.threadSummary?.lastReplyAt ?? root.createdAt,
      count: root.threadSummary?.replyCount ?? 0,
    });
    const mentionState = ({ message, unread }) => ({
      ...{ message, unread: unread ? 1 : 0, at: message.createdAt, count: null },
    });
    const shared = { store, people, titleIn: needs.titleIn };
    this.screens = {
      threads: new InboxScreen("threads", inbox.threads, threadState, {
        ...{ ...shared, go: needs.goToThread },
        drop: (item) => inbox.unfollow(item),
      }),
      mentions: new InboxScreen("mentions", inbox.mentions, mentionState, {
        ...{ ...shared, go: needs.goToMessage },
      }),
    };
  }

  show() {
    const counts = { threads: this.#inbox.unreadThreads, mentions: this.#inbox.unreadMentions };
    for (const [name, count] of Object.entries(counts)) {
      const shown = count > MOST_SHOWN ? `${numberOf(MOST_SHOWN)}+` : numberOf(count);
      setText(this.#badges[name].firstElementChild, shown);
      this.#badges[name].hidden = count === 0;
    }
  }
}

class InboxScreen {
  #screen;
  #problem;
  #rows;
  #foot;
  #name;
  #paged;
  #stateOf;
  #needs;

  /** `stateOf(item)` is what its row shows; `needs.drop(item)`, where there is one, takes it away. */
  constructor(name, paged, stateOf, needs) {
    this.#name = name;
    this.#paged = paged;
    this.#stateOf = stateOf;
    this.#needs = needs;
    this.#screen = document.querySelector(`#${name}`);
    this.#problem = this.#screen.querySelector(".problem");
    const drop = needs.drop && ((item) => this.#drop(item));
    this.#rows = new Rows(this.#screen.querySelector("ul"), { go: needs.go, drop });
    this.#foot = new ListFoot(() => paged.more());
    this.#screen.querySelector(".screen-body").append(this.#foot.node);
    this.#screen.querySelector(".refresh").addEventListener("click", () => this.open());
  }

  open() {
    setText(this.#problem, "");
    this.#paged.reload();
  }

  focus() {
    this.#screen.querySelector("h1").focus();
  }

  show() {
    const { store } = this.#needs;
    if (store.elsewhere !== this.#name) return;
    this.#rows.show(this.#paged.items.map((item) => this.#rowOf(item)));
    this.#foot.show(this.#paged, WORDS[this.#name]);
  }

  #rowOf(item) {
    const { people, titleIn } = this.#needs;
    const state = { ...this.#stateOf(item), item };
    const { message } = state;
    const picture = people.pictureOfPerson(message.senderId);
    const title = titleIn(message.conversationId);
    const sender = people.nameOf(message.senderId);
    Object.assign(state, { ...picture, title, sender, ago: agoOf(state.at) });
    return { key: message.id, Row: InboxRow, state };
  }

  async #drop(item) {
    setText(this.#problem, "");
    try {
      await this.#needs.drop(item);
      this.focus();
    } catch (error) {
      setText(this.#problem, problemOf(error));
    }
  }
}

class InboxRow {
  #avatar = avatar();
  #title = element("span", { class: "row-title", dir: "auto" });
  #time = element("time", { class: "row-time" });
  #body = element("span", { class: "found-body", dir: "auto" });
  #sender = element("strong");
  #count = element("span", { class: "replies" });
  #badge = element("span", { class: "badge" });
  #drop = null;
  #state = null;

  constructor({ go, drop }) {
    const lines = element(
      "span",
      {},
      element("span", { class: "row-line" }, this.#title, " ", this.#time),
      element("span", { class: "found" }, this.#sender, " ", this.#body),
      element("span", { class: "row-line" }, this.#count, " ", this.#badge),
    );
    const onclick = () => go(this.#state.message);
    const button = element("button", { type: "button", class: "row", onclick });
    button.append(this.#avatar, " ", lines);
    this.node = element("li", { class: "inbox-item" }, button);
    if (!drop) return;
    this.#drop = smallButton(say("threads.unfollow"), () => drop(this.#state.item));
    this.node.append(this.#drop);
  }

  show(state) {
    this.#state = state;
    const { message, title, sender, at, ago, unread, count } = state;
    setAvatar(this.#avatar, state);
    setText(this.#title, title);
    setText(this.#sender, `${sender}:`);
    setText(this.#body, message.deletedAt ? say("message.deleted") : briefOf(message));
    setText(this.#time, ago);
    setAttribute(this.#time, "datetime", at);
    setAttribute(this.#time, "title", momentOf(at));
    setText(this.#count, count === null ? "" : say("thread.replies", { count }));
    setText(this.#badge, unread > 0 ? say("inbox.new", { count: unread }) : "");
    this.#badge.hidden = unread === 0;
    if (this.#drop) setAttribute(this.#drop, "aria-label", say("threads.unfollowOf", { title }));
  }
}
