/** The list of conversations. */

import { rowTextOf, typingWords } from "../brief.js";
import { element, Rows, setAttribute, setAvatar, setText } from "../dom.js";
import { plainOf } from "../plain.js";
import { icon } from "./icons.js";
import { ListWindow } from "./list-window.js";
import { Part } from "./part.js";
import { picturedWithDot } from "./presence-mark.js";

const MOST_SHOWN = 99;

export class ConversationList extends Part {
  #list = element("ul", { id: "conversations", role: "list" });
  #hint = element("p", { id: "conversations-hint", class: "hint" });
  #rows;
  #window;
  #needs;
  #visible = new Set();
  /** What scrolls. */
  node;

  /**
   * `before` and `after` are further nodes of the list. `needs.presence` has the online users.
   * `needs.preview(id)` and `needs.more()` are called for rows that come into view without their
   * last message, and at the end of the list. `needs.typing` has the typing users, `needs.unsent`
   * the drafts, and `needs.openMenu(conversation, link)` opens the menu of a row.
   */
  constructor(shell, { before, after }, needs) {
    super(shell);
    this.#needs = needs;
    const fields = { id: "list", class: "list", part: "list", "aria-label": this.say("list.label") };
    this.node = element("nav", fields, ...before, this.#list, this.#hint, ...after);
    const watcher = new IntersectionObserver((entries) => this.#seen(entries));
    this.#rows = new Rows(this.#list, { shell: this.shell, watcher });
    this.#list.addEventListener("contextmenu", (event) => this.#openMenu(event));
    this.#window = new ListWindow(this.#list, this.node, () => this.show());
  }

  show() {
    const { conversations, isListed, listProblem } = this.store;
    const count = conversations.length;
    const [from, to] = this.#window.show(count);
    const rows = conversations
      .slice(from, to)
      .map((conversation, index) => this.#rowOf(conversation, { place: from + index, count }));
    const apart = this.#focusedOutside(from, to);
    this.#rows.show(apart ? [...rows, apart] : rows);
    setText(this.#hint, hintOf(this.texts, { isListed, listProblem, isEmpty: conversations.length === 0 }));
    this.#hint.hidden = this.#hint.textContent === "";
    this.#askForMissing();
  }

  /** The focused row keeps the focus, even if it was moved or scrolled away. */
  #focusedOutside(from, to) {
    const { conversations } = this.store;
    const focused = this.shell.focused?.closest("#conversations li")?.dataset.id;
    const place = conversations.findIndex((conversation) => conversation.id === focused);
    if (place < 0 || (place >= from && place < to)) return null;
    const { length: count } = conversations;
    const { state, ...row } = this.#rowOf(conversations[place], { place, count });
    return { ...row, state: { ...state, topPx: this.#window.topOf(place) } };
  }

  focus(conversationId) {
    const place = this.store.conversations.findIndex(({ id }) => id === conversationId);
    if (place >= 0) this.#window.reveal(place);
    this.#rows.nodeOf(conversationId)?.querySelector("a").focus();
  }

  /** In place of the browser's menu. */
  #openMenu(event) {
    const link = event.target.closest("a.row");
    const conversation = this.store.conversation(link?.closest("li").dataset.id);
    if (!conversation) return;
    event.preventDefault();
    this.#needs.openMenu(conversation, link);
  }

  #rowOf(conversation, { place, count }) {
    const { id, lastMessage, createdAt } = conversation;
    const picture = this.people.pictureOf(conversation);
    const at = lastMessage?.createdAt ?? createdAt;
    const state = {
      ...{ id, ...picture, at, ago: this.texts.agoOf(at), href: this.shell.places.hrefOf(id), place, count },
      topPx: null,
      title: this.people.titleOf(conversation),
      ...this.#briefOf(conversation),
      unread: this.store.unreadOf(conversation),
      mentions: conversation.unreadMentions ?? 0,
      waiting: this.#needs.waiting?.countIn(id) ?? 0,
      isOnline: this.#isOnline(conversation),
      isMuted: this.store.mutedIds.has(id),
      isFavourite: this.store.hasViews && Boolean(conversation.view?.favourite),
      isOpen: id === this.store.openId,
    };
    return { key: id, Row: ConversationRow, state };
  }

  #isOnline(conversation) {
    const otherId = this.people.otherIn(conversation);
    return otherId !== null && this.#needs.presence.of(otherId).online;
  }

  /** {kind, preview}: the typing users, a draft of one that is not open, or the last message. */
  #briefOf(conversation) {
    const { id } = conversation;
    const typing = this.#needs.typing.idsIn(id).map((userId) => this.people.nameOf(userId));
    if (typing.length > 0) return { kind: "typing", preview: typingWords(this.texts, typing) };
    const text = id === this.store.openId ? "" : plainOf(this.#needs.unsent.textIn(id));
    if (text) return { kind: "draft", preview: this.say("list.draft", { text }) };
    return { kind: "message", preview: this.#previewOf(conversation) };
  }

  #previewOf(conversation) {
    const { lastMessage, hasPreview } = conversation;
    if (lastMessage) return rowTextOf(this.texts, this.people, conversation, lastMessage);
    return hasPreview ? this.say("list.nothingSaid") : "";
  }

  #seen(entries) {
    for (const { target, isIntersecting } of entries) {
      if (isIntersecting) this.#visible.add(target.dataset.id);
      else this.#visible.delete(target.dataset.id);
    }
    this.#askForMissing();
  }

  #askForMissing() {
    const { conversations } = this.store;
    const visible = conversations.filter(({ id }) => this.#visible.has(id));
    this.store.listedDownTo = conversations.indexOf(visible.at(-1)) + 1;
    // The list itself comes with them.
    const isComplete = this.store.isListed && !this.store.isListing;
    for (const { id, hasPreview } of visible) if (isComplete && !hasPreview) this.#needs.preview(id);
    const others = visible.map((conversation) => this.people.otherIn(conversation));
    this.#needs.presence.watch("list", others.filter(Boolean));
    const last = conversations.at(-1);
    if (last && this.#visible.has(last.id)) this.#needs.more();
  }
}

class ConversationRow extends Part {
  #pictured = picturedWithDot(this.say("presence.online"));
  #title = element("span", { class: "row-title", dir: "auto" });
  #time = element("time", { class: "row-time" });
  #preview = element("span", { class: "row-preview" });
  #badge = element("span", { class: "badge", part: "badge" });
  #mention = element("span", { class: "mention-mark", title: this.say("list.mentioned") });
  #favourite = this.#mark("favourite", this.say("list.favourite"));
  #muted = this.#mark("muted", this.say("list.muted"));
  #waiting = element(
    "span",
    { class: "waiting-mark", hidden: true },
    icon("join"),
    element("span", { class: "unseen" }),
  );
  /** A host may show something else. */
  #lines;
  #link = element("a", { class: "row", part: "conversation" });
  #watcher;

  constructor({ shell, watcher }) {
    super(shell);
    this.#watcher = watcher;
    this.#lines = element(
      "slot",
      {},
      element("span", { class: "row-line" }, this.#title, " ", this.#favourite, this.#muted, " ", this.#time),
      element("span", { class: "row-line" }, this.#preview, " ", this.#mention, " ", this.#waiting, " ", this.#badge),
    );
    this.#link.append(this.#pictured.node, " ", element("span", {}, this.#lines));
    this.node = element("li", {}, this.#link);
  }

  #mark(name, words) {
    const fields = { class: `${name}-mark`, title: words };
    return element("span", fields, icon(name), element("span", { class: "unseen" }, words));
  }

  show(state) {
    const { id, href, title, kind, preview, at, ago, isMuted, isOnline, isOpen, ...rest } = state;
    const { isFavourite, unread, mentions, waiting, place, count, topPx, ...picture } = rest;
    setAttribute(this.node, "data-apart", topPx !== null);
    this.node.style.insetBlockStart = topPx === null ? "" : `${topPx}px`;
    setAttribute(this.node, "aria-posinset", place + 1);
    setAttribute(this.node, "aria-setsize", count);
    setAttribute(this.#lines, "name", `row:${id}`);
    const isNew = this.node.dataset.id === undefined;
    this.node.dataset.id = id;
    if (isNew) this.#watcher.observe(this.node);
    setAvatar(this.#pictured.picture, picture);
    this.#pictured.dot.hidden = !isOnline;
    setText(this.#title, title);
    setText(this.#preview, preview);
    this.#preview.dataset.kind = kind;
    setText(this.#time, ago);
    setAttribute(this.#time, "datetime", at);
    setAttribute(this.#time, "title", this.texts.momentOf(at));
    setAttribute(this.#link, "href", href);
    setAttribute(this.#link, "aria-current", isOpen && "page");
    setAttribute(this.#link, "data-muted", isMuted);
    this.#muted.hidden = !isMuted;
    this.#favourite.hidden = !isFavourite;
    this.#showUnread(unread);
    this.#showWaiting(waiting);
    this.#showMentions(unread > 0 ? mentions : 0);
  }

  #showMentions(count) {
    const spoken = element("span", { class: "unseen" }, " ", this.say("list.mentions", { count }));
    this.#mention.replaceChildren(...(count > 0 ? ["@", spoken] : []));
    this.#mention.hidden = count === 0;
  }

  #showWaiting(count) {
    const words = this.say("list.waiting", { count });
    setText(this.#waiting.lastElementChild, count > 0 ? words : "");
    setAttribute(this.#waiting, "title", count > 0 && words);
    this.#waiting.hidden = count === 0;
  }

  #showUnread(count) {
    const shown = count > MOST_SHOWN ? `${this.texts.numberOf(MOST_SHOWN)}+` : this.texts.numberOf(count);
    const words = element("span", { class: "unseen" }, " ", this.say("list.unread", { count }));
    this.#badge.replaceChildren(...(count > 0 ? [shown, words] : []));
    this.#badge.hidden = count === 0;
    setAttribute(this.#link, "data-unread", count > 0);
  }
}

function hintOf(texts, { isListed, listProblem, isEmpty }) {
  if (listProblem) return `${texts.say("list.failed")} ${texts.problemOf(listProblem)}`;
  if (!isListed) return texts.say("common.loading");
  return isEmpty ? texts.say("list.empty") : "";
}
