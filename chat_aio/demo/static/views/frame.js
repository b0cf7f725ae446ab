/** The frame around list and log: the user, the connection, the title of the open conversation. */

import { addressOf } from "../address.js";
import { setAttribute, setAvatar, setText } from "../../../browser/dom.js";
import { numberOf, say } from "../words.js";
import { presenceWords } from "./presence-mark.js";

const STATUS = {
  connecting: say("connection.connecting"),
  live: say("connection.live"),
  reconnecting: say("connection.reconnecting"),
  closed: say("connection.closed"),
};

export class Frame {
  #app = document.querySelector("#app");
  #status = document.querySelector("#status");
  #title = document.querySelector("#title");
  #subtitle = document.querySelector("#subtitle");
  #avatar = document.querySelector("#conversation-avatar");
  #dot = document.querySelector("#conversation-dot");
  #shortcuts = document.querySelectorAll(".shortcut");
  #notice = document.querySelector("#notice");
  #sidebar = document.querySelector("#sidebar");
  #panels = document.querySelectorAll(".beside");
  #isPhone = matchMedia("(max-width: 44rem)");
  #isNarrow = matchMedia("(max-width: 64rem)");
  #store;
  #people;
  #presence;

  constructor(store, people, presence) {
    this.#store = store;
    this.#people = people;
    this.#presence = presence;
    this.#app.hidden = false;
    const { userId } = store;
    for (const link of document.querySelectorAll(".back")) link.href = addressOf(userId);
    for (const shortcut of this.#shortcuts) shortcut.href = addressOf(userId, shortcut.dataset.to);
    document.querySelector("#to-moderation").hidden = !people.isModerator;
    setText(document.querySelector("#my-name"), people.nameOf(userId));
    setAvatar(document.querySelector("#my-avatar"), people.pictureOfPerson(userId));
    this.#invite();
    for (const query of [this.#isPhone, this.#isNarrow]) {
      query.addEventListener("change", () => store.changed());
    }
  }

  show() {
    const { open, openId, elsewhere, status, totalUnread } = this.#store;
    this.#app.dataset.screen = openId === null ? (elsewhere ?? "list") : "conversation";
    setAttribute(this.#app, "data-beside", this.#beside());
    for (const shortcut of this.#shortcuts) {
      setAttribute(shortcut, "aria-current", elsewhere === shortcut.dataset.to && "page");
    }
    this.#app.dataset.status = status;
    this.#showMain();
    setText(this.#status, STATUS[status]);
    const name = this.#people.nameOf(this.#store.userId);
    const title = open ? this.#people.titleOf(open) : "";
    const words = [...(title ? [title] : []), name].join(" · ");
    document.title = totalUnread > 0 ? `(${numberOf(totalUnread)}) ${words}` : words;
    setText(this.#title, title);
    if (open) setAvatar(this.#avatar, this.#people.pictureOf(open));
    this.#showAbout(open);
  }

  /** Say something that is not about one place; an empty text takes it away. What the reader has
   * done themselves `isDone`, and no problem. */
  notify(words, { isDone = false } = {}) {
    setText(this.#notice, words);
    setAttribute(this.#notice, "data-done", isDone);
  }

  /** Below the title: whether the other user is online, or the members of a group. */
  #showAbout(open) {
    const otherId = open && this.#people.otherIn(open);
    this.#presence.watch("head", otherId ? [otherId] : []);
    const presence = otherId ? this.#presence.of(otherId) : null;
    this.#dot.hidden = !presence?.online;
    const words = presence ? presenceWords(presence) : "";
    setText(this.#subtitle, words || (open ? aboutOf(open, this.#people) : ""));
  }

  /** The panel next to the conversation, or in front of it where there is no room for both. */
  #beside() {
    if (this.#store.openThread) return "thread";
    return this.#store.openDetails ? "details" : null;
  }

  /** What covers all else is the main part of the page, though it is not where there is room. */
  #showMain() {
    const { screen } = this.#app.dataset;
    const isAlone = screen === "list" || "searching" in this.#app.dataset;
    this.#sidebar.role = this.#isPhone.matches && isAlone ? "main" : "complementary";
    const role = this.#isNarrow.matches ? "main" : "complementary";
    for (const panel of this.#panels) panel.role = role;
  }

  #invite() {
    const other = this.#people.others.find((person) => !person.bot);
    const link = document.querySelector("#invitation");
    link.hidden = !other;
    link.href = `#${other?.id}`;
    if (other) setText(link, say("nothing.invitation", { name: other.name }));
  }
}

/** A group's topic, in one line, before its members. */
function aboutOf(group, people) {
  const topic = group.topic?.replace(/\s+/gu, " ");
  return [topic, people.subtitleOf(group)].filter(Boolean).join(" · ");
}
