/** At the side: the user and the connection, the search, the list, and what leads elsewhere. */

import { element, setAttribute, setAvatar, setText } from "../dom.js";
import { ConversationList } from "./conversations.js";
import { icon, iconButton } from "./icons.js";
import { Part } from "./part.js";
import { SearchBox } from "./search-box.js";

/** They lead to the screens that there are. */
const shortcutsIn = ({ say }) => [
  { name: "threads", title: say("threads.title"), counted: say("list.unreadWord") },
  { name: "mentions", title: say("mentions.title"), counted: say("list.unreadWord") },
  { name: "archived", title: say("archive.title"), counted: "" },
  { name: "channels", title: say("channels.title"), counted: "" },
  { name: "moderation", title: say("moderation.title"), counted: say("moderation.waiting") },
];

export class Sidebar extends Part {
  #avatar = element("span", { id: "my-avatar", class: "avatar", "aria-hidden": "true" });
  #name = element("strong", { id: "my-name", dir: "auto" });
  #status = element("p", { id: "status", class: "status", role: "status" });
  #notice = element("p", { id: "notice", class: "notice", role: "alert" });
  #shortcuts = new Map();
  #list;
  /** The box of the search, or null. */
  search;
  node;

  /**
   * `screens` has the names of the screens, `finding` loads the search, if there is one, `tools` are
   * further buttons, `acts` {writeTo(), makeGroup()}, `rows` what the rows of the list need.
   */
  constructor(shell, { screens, finding, tools, acts, rows }) {
    super(shell);
    const label = shell.isPage && this.say("frame.overview");
    const above = shell.isPage ? [this.#bar(tools, acts)] : tools;
    const shown = { before: this.#shortcutsTo(screens), after: [element("slot", { name: "list-end" })] };
    this.#list = new ConversationList(shell, shown, rows);
    this.search = finding && new SearchBox(shell, finding);
    this.node = element(
      "div",
      { id: "sidebar", class: "sidebar", part: "sidebar", "aria-label": label },
      ...[...above, this.#notice, ...(this.search?.nodes ?? []), this.#list.node],
    );
  }

  show() {
    const { status, elsewhere, userId } = this.store;
    for (const [name, { link }] of this.#shortcuts) {
      setAttribute(link, "aria-current", elsewhere === name && "page");
    }
    setText(this.#status, STATUS[status](this.texts));
    setText(this.#name, this.people.nameOf(userId));
    setAvatar(this.#avatar, this.people.pictureOfPerson(userId));
    this.#list.show();
  }

  /** Focus the row of a conversation. */
  focus(conversationId) {
    this.#list.focus(conversationId);
  }

  /** The results of a search are shown in place of the list. */
  showList(isShown) {
    this.#list.node.hidden = !isShown;
  }

  /** Say something that is not about one place; an empty text takes it away. What the reader has
   * done themselves `isDone`, and no problem. */
  notify(words, { isDone = false } = {}) {
    setText(this.#notice, words);
    setAttribute(this.#notice, "data-done", isDone);
  }

  /** The number next to the link to a screen. */
  badge(name, words) {
    const { badge, count } = this.#shortcuts.get(name) ?? {};
    if (!badge) return;
    setText(count, words);
    badge.hidden = words === "";
  }

  /** The links to the screens, which lie above the list. */
  #shortcutsTo(screens) {
    const isMeant = ({ name }) =>
      screens.includes(name) && (name !== "moderation" || this.people.isModerator);
    const wanted = shortcutsIn(this.texts).filter(isMeant);
    for (const shortcut of wanted) this.#shortcuts.set(shortcut.name, this.#shortcut(shortcut));
    return [...this.#shortcuts.values()].map(({ link }) => link);
  }

  #bar(tools, acts) {
    const you = element("span", { class: "unseen" }, this.say("me.name"));
    const me = element("p", { class: "me" }, you, " ", this.#name, element("slot", { name: "me" }));
    const headings = element("div", { class: "headings" }, me, this.#status);
    const buttons = element(
      "span",
      { class: "tools" },
      ...tools,
      iconButton("edit", this.say("direct.new"), { id: "new-direct", onclick: acts.writeTo }),
      iconButton("join", this.say("group.new"), { id: "new-group", onclick: acts.makeGroup }),
    );
    return element("div", { class: "bar" }, this.#avatar, headings, buttons);
  }

  #shortcut({ name, title, counted }) {
    const count = element("span");
    const spoken = element("span", { class: "unseen" }, counted);
    const id = name === "moderation" ? "waiting" : `unread-${name}`;
    const badge = element("span", { id, class: "badge", hidden: true }, count, " ", spoken);
    const { places } = this.shell;
    const fields = { id: `to-${name}`, class: "shortcut", href: places.hrefOf(name) };
    const words = element("span", {}, title);
    return { link: element("a", fields, icon(name), " ", words, " ", badge), count, badge };
  }
}

const STATUS = {
  connecting: ({ say }) => say("connection.connecting"),
  live: ({ say }) => say("connection.live"),
  reconnecting: ({ say }) => say("connection.reconnecting"),
  closed: ({ say }) => say("connection.closed"),
};
