/** The screens of threads and of mentions: what concerns one in all conversations. */

import { briefOf } from "../brief.js";
import { Inbox } from "../inbox.js";
import { avatar, element, Rows, setAttribute, setAvatar, setText } from "../dom.js";
import { Part } from "./part.js";
import { Screen } from "./screen.js";
import { ListFoot, smallButton } from "./section.js";

const MOST_SHOWN = 99;

const wordsIn = (texts) => ({
  mentions: { failed: texts.say("mentions.failed"), empty: texts.say("mentions.empty") },
  threads: { failed: texts.say("threads.failed"), empty: texts.say("threads.empty") },
});

export class InboxViews extends Part {
  #inbox;
  #badge;
  /** The screens, by name: `open()`, `focus()` and `show()`. */
  screens;

  /**
   * `unlisted` has the conversations that are not in the list, `badge(name, words)` is shown where
   * one goes to threads and mentions.
   */
  constructor(shell, chat, { unlisted, badge }) {
    super(shell);
    const { places } = shell;
    const inbox = new Inbox(chat, this.store, unlisted);
    this.#inbox = inbox;
    this.#badge = badge;
    const threadState = ({ root, lastReadSeq, unreadReplyCount }) => ({
      ...{ message: root, unread: unreadReplyCount, lastReadSeq },
      at: root.threadSummary?.lastReplyAt ?? root.createdAt,
      count: root.threadSummary?.replyCount ?? 0,
    });
    const mentionState = ({ message, unread }) => ({
      ...{ message, unread: unread ? 1 : 0, at: message.createdAt, count: null },
    });
    const titleIn = (id) => unlisted.titleOf(id, this.people);
    this.screens = {
      threads: new InboxScreen(this.shell, "threads", inbox.threads, threadState, {
        go: ({ id, conversationId }) => places.go(conversationId, id),
        ...{ titleIn, drop: (item) => inbox.unfollow(item) },
      }),
      mentions: new InboxScreen(this.shell, "mentions", inbox.mentions, mentionState, {
        ...{ titleIn, go: (message) => places.goToMessage(message) },
      }),
    };
    if (this.store.status === "live") this.outdated();
  }

  outdated() {
    this.#inbox.outdated();
  }

  /** A message has come, or was changed. */
  receive(message) {
    this.#inbox.receive(message);
  }

  /** The reader has seen a reply. */
  saw(timeline, messageId) {
    this.#inbox.saw(timeline, messageId);
  }

  show() {
    const counts = { threads: this.#inbox.unreadThreads, mentions: this.#inbox.unreadMentions };
    for (const [name, count] of Object.entries(counts)) {
      const shown = count > MOST_SHOWN ? `${this.texts.numberOf(MOST_SHOWN)}+` : this.texts.numberOf(count);
      this.#badge(name, count === 0 ? "" : shown);
    }
  }
}

class InboxScreen extends Part {
  #screen;
  node;
  #rows;
  #foot;
  #name;
  #paged;
  #stateOf;
  #needs;

  /** `stateOf(item)` is what its row shows; `needs.drop(item)`, where there is one, takes it away. */
  constructor(shell, name, paged, stateOf, needs) {
    super(shell);
    this.#name = name;
    this.#paged = paged;
    this.#stateOf = stateOf;
    this.#needs = needs;
    const title = name === "threads" ? this.say("threads.title") : this.say("mentions.title");
    this.#screen = new Screen(shell, name, { title, refresh: () => this.open() });
    this.node = this.#screen.node;
    const list = element("ul", { role: "list" });
    const drop = needs.drop && ((item) => this.#drop(item));
    this.#rows = new Rows(list, { shell: this.shell, go: needs.go, drop });
    this.#foot = new ListFoot(this.shell, () => paged.more());
    this.#screen.append(list, this.#foot.node);
  }

  open() {
    this.#screen.complain("");
    this.#paged.reload();
  }

  focus() {
    this.#screen.focus();
  }

  show() {
    if (this.store.elsewhere !== this.#name) return;
    this.#rows.show(this.#paged.items.map((item) => this.#rowOf(item)));
    this.#foot.show(this.#paged, wordsIn(this.texts)[this.#name]);
  }

  #rowOf(item) {
    const { people } = this;
    const { titleIn } = this.#needs;
    const state = { ...this.#stateOf(item), item };
    const { message } = state;
    const picture = people.pictureOfPerson(message.senderId);
    const title = titleIn(message.conversationId);
    const sender = people.nameOf(message.senderId);
    Object.assign(state, { ...picture, title, sender, ago: this.texts.agoOf(state.at) });
    return { key: message.id, Row: InboxRow, state };
  }

  async #drop(item) {
    this.#screen.complain("");
    try {
      await this.#needs.drop(item);
      this.focus();
    } catch (error) {
      this.#screen.complain(this.texts.problemOf(error));
    }
  }
}

class InboxRow extends Part {
  #avatar = avatar();
  #title = element("span", { class: "row-title", dir: "auto" });
  #time = element("time", { class: "row-time" });
  #body = element("span", { class: "found-body", dir: "auto" });
  #sender = element("strong");
  #count = element("span", { class: "replies" });
  #badge = element("span", { class: "badge" });
  #drop = null;
  #state = null;

  constructor({ shell, go, drop }) {
    super(shell);
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
    this.#drop = smallButton(this.say("threads.unfollow"), () => drop(this.#state.item));
    this.node.append(this.#drop);
  }

  show(state) {
    this.#state = state;
    const { message, title, sender, at, ago, unread, count } = state;
    setAvatar(this.#avatar, state);
    setText(this.#title, title);
    setText(this.#sender, `${sender}:`);
    setText(this.#body, message.deletedAt ? this.say("message.deleted") : briefOf(this.texts, message));
    setText(this.#time, ago);
    setAttribute(this.#time, "datetime", at);
    setAttribute(this.#time, "title", this.texts.momentOf(at));
    setText(this.#count, count === null ? "" : this.say("thread.replies", { count }));
    setText(this.#badge, unread > 0 ? this.say("inbox.new", { count: unread }) : "");
    this.#badge.hidden = unread === 0;
    if (this.#drop) setAttribute(this.#drop, "aria-label", this.say("threads.unfollowOf", { title }));
  }
}
