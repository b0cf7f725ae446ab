/** The frame around list and log, and the title of the open conversation. */

import { element, setAttribute, setAvatar, setText } from "../dom.js";
import { Part } from "./part.js";
import { presenceWords } from "./presence-mark.js";
import { backLink } from "./screen.js";

export class Frame extends Part {
  #title;
  #subtitle = element("p", { id: "subtitle" });
  #avatar = element("span", { id: "conversation-avatar", class: "avatar", "aria-hidden": "true" });
  #dot = element("span", { id: "conversation-dot", class: "dot", hidden: true });
  #sidebar;
  #conversation;
  /** In place of the messages and the composer, until these are loaded. */
  #unloaded = [
    element("div", { class: "stage to-come", "aria-hidden": "true" }),
    element("div", { class: "composer", "aria-hidden": "true" }),
  ];
  #nothing;
  #panels = [];
  #screens = {};
  #presence;
  #hint = element("p", { class: "hint" });
  #isListed;
  node;

  /**
   * `sidebar` is null where no list is shown; `tools` are the buttons of the open conversation.
   */
  constructor(shell, { sidebar, tools, presence }) {
    super(shell);
    this.#sidebar = sidebar;
    this.#presence = presence;
    this.#isListed = sidebar !== null;
    const { main, title } = shell.landmarks;
    this.#title = element(title, { id: "title", part: "title", dir: "auto" });
    const header = element("header", { class: "bar", part: "header" }, ...this.#header(tools));
    const about = { class: "conversation", part: "talk", "aria-labelledby": "title" };
    const slot = element("slot", { name: "header" }, header);
    this.#conversation = element(main, about, slot, ...this.#unloaded);
    this.#nothing = this.#makeNothing(main);
    const fields = { id: "app", class: "app", "data-status": "connecting", "data-screen": "list" };
    this.node = element("div", { ...fields, "data-single": !this.#isListed });
    if (shell.isPage) this.node.append(pageTitle(this.say("page.title")));
    if (sidebar) this.node.append(sidebar);
    this.node.append(this.#conversation, this.#nothing);
    new ResizeObserver(() => this.store.changed()).observe(this.node);
  }

  /** The open conversation: `nodes` from the log to the composer, and a `panel`. */
  addTalk({ nodes, panel }) {
    for (const node of this.#unloaded) node.remove();
    this.#conversation.append(...nodes);
    this.addPanel(panel);
  }

  /** Next to the conversation. */
  addPanel(panel) {
    this.#panels.push(panel);
    this.#nothing.before(panel);
  }

  /** In place of the conversation. */
  addScreen(name, node) {
    this.#screens[name] = node;
    this.#nothing.before(node);
  }

  show() {
    const { open, openId, elsewhere, status } = this.store;
    const { dataset } = this.node;
    const isShown = openId !== null && (open !== null || !this.#isSignedOut);
    dataset.screen = isShown ? "conversation" : (elsewhere ?? "list");
    setAttribute(this.node, "data-beside", this.#beside());
    dataset.status = status;
    for (const [name, node] of Object.entries(this.#screens)) node.hidden = name !== elsewhere;
    this.#showRoles();
    this.#showEmpty();
    setText(this.#title, open ? this.people.titleOf(open) : "");
    if (open) setAvatar(this.#avatar, this.people.pictureOf(open));
    this.#showAbout(open);
  }

  /** Where there is little room, the results of a search come before the conversation. */
  showSearching(isSearching) {
    setAttribute(this.node, "data-searching", isSearching);
    this.#showRoles();
  }

  #header(tools) {
    const { texts } = this;
    setAttribute(this.#dot, "title", texts.say("presence.online"));
    const pictured = element("span", { class: "pictured" }, this.#avatar, this.#dot);
    const headings = element("div", { class: "headings" }, this.#title, this.#subtitle);
    const back = this.#isListed ? [backLink(this.shell)] : [];
    return [...back, pictured, headings, ...tools.filter(Boolean)];
  }

  /** Where no conversation is open. */
  #makeNothing(main) {
    const words = element("slot", { name: "empty" }, this.#hint);
    const fields = { class: "nothing", "aria-label": this.say("nothing.label") };
    return element(main, fields, words);
  }

  #showEmpty() {
    const { isListed, listProblem } = this.store;
    // Where there is a list, that shows why.
    if (this.#isListed) return setText(this.#hint, isListed ? this.say("nothing.title") : "");
    const waiting = listProblem ? this.texts.problemOf(listProblem) : this.say("common.loading");
    setText(this.#hint, isListed ? this.say("gone.notOpen") : waiting);
  }

  get #isSignedOut() {
    return this.store.listProblem?.code === "UNAUTHENTICATED";
  }

  /** Below the title: whether the other user is online, or the members of a group. */
  #showAbout(open) {
    const otherId = open && this.people.otherIn(open);
    this.#presence.watch("head", otherId ? [otherId] : []);
    const presence = otherId ? this.#presence.of(otherId) : null;
    this.#dot.hidden = !presence?.online;
    const words = presence ? presenceWords(this.texts, presence) : "";
    setText(this.#subtitle, words || (open ? aboutOf(open, this.people) : ""));
  }

  /** The panel next to the conversation, or in front of it where there is no room for both. */
  #beside() {
    if (this.store.openThread) return "thread";
    return this.store.openDetails ? "details" : null;
  }

  /** What covers all else is the main part of the page, though it is not where there is room. */
  #showRoles() {
    if (!this.shell.isPage) return;
    const { layout } = this.shell;
    const { screen } = this.node.dataset;
    const isAlone = screen === "list" || "searching" in this.node.dataset;
    this.#sidebar.role = layout === "phone" && isAlone ? "main" : "complementary";
    const role = layout === "wide" ? "complementary" : "main";
    for (const panel of this.#panels) panel.role = role;
  }
}

function pageTitle(words) {
  return element("header", { class: "unseen" }, element("h1", {}, words));
}

/** A group's topic, in one line, before its members. */
function aboutOf(group, people) {
  const topic = group.topic?.replace(/\s+/gu, " ");
  return [topic, people.subtitleOf(group)].filter(Boolean).join(" · ");
}
