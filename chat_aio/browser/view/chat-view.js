/**
 * The views of one user's chat, and what leads from one to the other: the list, if there is one, is
 * there at once, all else when it is loaded.
 */

import { FileSources } from "../file-sources.js";
import { JoinRequests } from "../join-requests.js";
import { People } from "../people.js";
import { NO_PRESENCE } from "../presence.js";
import { UnlistedConversations } from "../unlisted-conversations.js";
import { Banned } from "./banned.js";
import { ConnectionBanner } from "./connection-banner.js";
import { DetailsLink } from "./details-link.js";
import { Frame } from "./frame.js";
import { SystemNotifications } from "./notifications.js";
import { Part } from "./part.js";
import { Shell } from "./shell.js";
import "../style/people.js";
import "../style/list.js";
import "../style/conversation.js";
import "../style/live.js";
import "../style/touch.js";

export class ChatView extends Part {
  #chat;
  #session;
  #presence;
  #waiting = null;
  #unlisted;
  #frame;
  #sidebar = null;
  #detailsLink = null;
  #notifications = null;
  #banner;
  #banned;
  #talk;
  #groups;
  #inbox = null;
  #finding = null;
  #desk = null;
  #reporting;
  /** The pages in place of a conversation: by their names, what loads them. */
  #screens = {};
  /** The loaded views, besides the conversation. */
  #loaded = [];
  #beginning;
  #visits = 0;
  /** What had the focus when a thread was opened. */
  #from = null;

  /**
   * The views with the shell that they share, of the parts of a ChatStore. `listed` are the people of
   * the host, `isNamed` says whether it names the features, `view` is the wanted one, `Sidebar` is
   * null where no list is shown.
   */
  static of({ store, session, users }, chat, { view, listed, isNamed, ...given }) {
    const { Sidebar, opened, again, ...shared } = given;
    const isModerator = listed.length === 0 && isNamed && shared.features.includes("moderation");
    const people = new People(store, users, shared.texts, { listed, isModerator });
    const sources = new FileSources(chat);
    const shell = new Shell({ ...shared, store, people, sources, isPage: view === "full" });
    return new ChatView(shell, chat, session, { Sidebar, opened, again });
  }

  /** `session` is that of the shell's store; `opened` resolves when the first conversation is open;
   * `again()` starts again, after a ban. */
  constructor(shell, chat, session, { Sidebar, opened, again }) {
    super(shell);
    this.#beginning = opened;
    this.#chat = chat;
    this.#session = session;
    this.#presence = shell.has("presence") ? session.presence : NO_PRESENCE;
    this.#unlisted = new UnlistedConversations(chat, this.store);
    this.#makeLater();
    this.#makeParts();
    if (Sidebar) this.#sidebar = this.#makeSidebar(Sidebar);
    this.#frame = new Frame(shell, {
      sidebar: this.#sidebar?.node ?? null,
      tools: [this.#detailsLink?.node, this.#sidebar?.search?.opener],
      presence: this.#presence,
    });
    this.#banned = new Banned(shell, again);
    shell.root.append(this.#banner.node, this.#frame.node, this.#banned.node);
    shell.root.addEventListener("click", (event) => {
      // What a host has put into a link is not within the root, nor are links of its own.
      const link = event.composedPath().find((node) => node.localName === "a");
      if (link && shell.root.contains(link)) shell.places.follow(event, link);
    });
    this.#loadAll();
  }

  /** What the session calls. */
  listeners = {
    onGone: (...gone) => this.#gone(...gone),
    onJoinRequest: (event) => this.#receivedJoinRequest(event),
    onOpened: () => this.#opened(),
    onEvent: ({ message }) => this.#inbox?.now?.receive(message),
    onBan: (event) => this.#groups.now?.receiveBan(event),
    onReports: () => this.people.isModerator && this.#desk?.now?.outdated(),
    onMessage: (message) => this.#notifications?.receive(message),
    onRefused: (draft, error) => this.#talk.now?.refused(draft, error),
  };

  /** Open a place; back in the list, the focus is where it was. */
  async goTo({ conversationId, rootId, messageId, isDetails, elsewhere: named, code }) {
    const elsewhere = named in this.#screens ? named : null;
    const { openId: left, isDetailsOpen: wasDetails, openRootId: leftRoot } = this.store;
    this.#visits += 1;
    const visit = this.#visits;
    if (conversationId !== null || elsewhere !== null) this.#sidebar?.notify("");
    this.store.set({ isDetailsOpen: isDetails && this.shell.has("details"), elsewhere });
    if (rootId !== null && leftRoot === null) this.#from = this.shell.focused;
    const isOpen = conversationId === left ? this.#beginning : this.#session.open(conversationId);
    const isThreadOpen = this.#openThread(isOpen, conversationId, rootId);
    await this.#loadFor({ conversationId, isDetails, elsewhere });
    if (visit !== this.#visits) return;
    if (elsewhere !== null) this.#screen(elsewhere).open(code);
    const shown = { conversationId, rootId, isDetails, elsewhere };
    if (this.shell.mayTakeFocus) this.#focusIn(shown, { left, leftRoot, wasDetails });
    await isThreadOpen;
    if (messageId !== null && this.#isAt(conversationId, rootId)) {
      await isOpen;
      this.#arriveAt(messageId);
    }
  }

  /** Whether a moderator is releasing a message. */
  get isReleasing() {
    return Boolean(this.#desk?.now?.isReleasing);
  }

  async openDirect(userId) {
    this.shell.places.go((await this.#session.openDirect(userId)).id);
  }

  show() {
    if (this.store.isBanned) {
      this.#frame.node.hidden = true;
      this.#banner.hide();
      this.#banned.show();
      return;
    }
    this.#frame.show();
    this.#banner.show();
    this.#sidebar?.show();
    this.#detailsLink?.show();
    for (const view of this.#loaded) view.show();
    this.#talk.now?.show();
  }

  close() {
    this.#talk.now?.close();
    this.shell.places.close();
    this.shell.sources.clear();
    this.shell.end();
  }

  /** The parts that are loaded when they are needed. */
  #makeLater() {
    const { shell } = this;
    const chat = this.#chat;
    const badge = (...given) => this.#sidebar?.badge(...given);
    this.#talk = shell.late(() => import("./talk.js"), ({ Talk }) => this.#makeTalk(Talk));
    if (shell.has("inbox")) {
      this.#inbox = shell.late(() => import("./inbox.js"), ({ InboxViews }) =>
        this.#add(
          new InboxViews(shell, chat, { unlisted: this.#unlisted, badge, session: this.#session }),
        ));
      for (const name of ["threads", "mentions", "archived"]) this.#screens[name] = this.#inbox;
    }
    if (shell.has("search") && shell.has("list")) {
      this.#finding = shell.late(() => import("./finding.js"), ({ FindingViews }) =>
        this.#add(new FindingViews(shell, chat, this.#findingNeeds)));
    }
    this.#reporting = shell.late(() => import("./report.js"), ({ ReportDialog }) =>
      new ReportDialog(shell, (given) => chat.moderation.report(given)));
    this.#groups = shell.late(() => import("./groups.js"), ({ GroupViews }) => {
      const needs = { session: this.#session, presence: this.#presence, reporting: this.#reporting };
      return this.#add(new GroupViews(shell, chat, needs));
    });
    if (shell.has("channels")) Object.assign(this.#screens, { channels: this.#groups, invite: this.#groups });
    if (shell.has("moderation")) {
      this.#desk = shell.late(() => import("./moderation.js"), ({ ModerationScreen }) =>
        this.#add(new ModerationScreen(shell, chat, (words) => badge("moderation", words))));
      this.#screens.moderation = this.#desk;
    }
  }

  get #findingNeeds() {
    return {
      box: this.#sidebar.search,
      unlisted: this.#unlisted,
      goToPerson: (userId) => this.#tryPerson(userId),
      searching: ({ isActive, isSearching }) => {
        this.#frame.showSearching(isSearching);
        this.#sidebar.showList(!isActive);
      },
    };
  }

  #makeParts() {
    const { shell } = this;
    if (shell.has("details")) {
      this.#waiting = new JoinRequests(this.#chat, this.store);
      this.#detailsLink = new DetailsLink(shell, this.#waiting);
    }
    if (shell.has("notifications")) this.#notifications = new SystemNotifications(shell);
    this.#banner = new ConnectionBanner(shell, {
      reconnect: () => this.#session.reconnect(),
      focus: () => this.#talk.now?.composer.focus(),
    });
  }

  #makeSidebar(Sidebar) {
    const { shell } = this;
    const session = this.#session;
    const writing = shell.late(() => import("./dialogs.js"), ({ DirectDialog }) =>
      new DirectDialog(shell, (userId) => this.openDirect(userId)));
    const complain = (error) => this.#sidebar.notify(this.texts.problemOf(error));
    const menu = shell.late(() => import("./conversation-menu.js"), ({ ConversationMenu }) =>
      new ConversationMenu(shell, session, complain));
    const open = async (late, ...given) => {
      // It has the styles.
      await this.#talk.get();
      (await late.get()).open(...given);
    };
    return new Sidebar(shell, {
      screens: Object.keys(this.#screens),
      finding: this.#finding,
      tools: this.#notifications ? [this.#notifications.button] : [],
      acts: { writeTo: () => open(writing), makeGroup: () => open(this.#groups) },
      rows: {
        presence: this.#presence,
        waiting: this.#waiting,
        typing: session.typing,
        unsent: shell.unsent,
        preview: (id) => session.loadPreview(id),
        more: () => session.reachedEnd(),
        openMenu: (...given) => open(menu, ...given),
      },
    });
  }

  #makeTalk(Talk) {
    const talk = new Talk(this.shell, this.#chat, this.#session, {
      reporting: this.#reporting,
      // Read states of threads.
      inbox: () => this.#inbox?.now,
    });
    this.#frame.addTalk(talk);
    this.store.changed();
    return talk;
  }

  /** A view that has been loaded: its panel, and its screens. */
  #add(view) {
    if (view.panel) this.#frame.addPanel(view.panel);
    for (const [name, screen] of Object.entries(view.screens)) this.#frame.addScreen(name, screen.node);
    this.#loaded = [...new Set([...this.#loaded, view, ...Object.values(view.screens)])];
    this.store.changed();
    return view;
  }

  /** First what the user sees, then what the features need, then what a click opens. */
  async #loadAll() {
    await this.#talk.get();
    const desk = this.people.isModerator ? this.#desk : null;
    for (const late of [this.#inbox, desk, this.#finding]) await late?.get();
    await this.shell.fetchRest();
  }

  async #loadFor({ conversationId, isDetails, elsewhere }) {
    if (elsewhere === null && conversationId === null) return;
    await this.#talk.get();
    if (elsewhere !== null) await this.#screens[elsewhere].get();
    if (isDetails && this.shell.has("details")) await this.#groups.get();
  }

  #screen(name) {
    return this.#screens[name].now.screens[name];
  }

  /** The place then is the address's: the same link leads to its message again. */
  #arriveAt(messageId) {
    const { open, openId, openRootId } = this.store;
    if (!open) return;
    this.shell.places.arrived(...(openRootId ? [openId, openRootId] : [openId]));
    this.#talk.now.find(messageId, openRootId);
  }

  #isAt(conversationId, rootId) {
    return this.store.openId === conversationId && this.store.openRootId === rootId;
  }

  async #openThread(isOpen, conversationId, rootId) {
    await this.#session.openThread(rootId);
    await isOpen;
    // The conversation may just have become known.
    if (!this.#isAt(conversationId, rootId)) return;
    await this.#session.openThread(rootId);
    if (this.store.openThread?.isGone) this.shell.places.go(conversationId);
  }

  #focusIn({ conversationId, rootId, isDetails, elsewhere }, { left, leftRoot, wasDetails }) {
    const isSame = conversationId === left;
    const talk = this.#talk.now;
    if (elsewhere !== null) this.#screen(elsewhere).focus();
    else if (conversationId === null) this.#sidebar?.focus(left);
    else if (isDetails) this.#groups.now?.details?.focus();
    else if (isSame && wasDetails) this.#detailsLink?.node.focus();
    else if (isSame && leftRoot !== null && rootId === null) talk.focusBefore(this.#from);
    else if (rootId === null) talk.focus();
  }

  /** For callers without a place to show the error. */
  async #tryPerson(userId) {
    try {
      await this.openDirect(userId);
    } catch (error) {
      this.#sidebar?.notify(this.texts.problemOf(error));
    }
  }

  #opened() {
    this.#inbox?.now?.outdated();
    this.#waiting?.load();
  }

  #receivedJoinRequest(event) {
    this.#waiting?.receive(event);
    this.#groups.now?.receiveJoinRequest(event);
  }

  #gone(conversation, removedBy) {
    this.shell.places.go();
    const isDone = removedBy === this.people.userId;
    const words = goneFrom(this.texts, conversation, removedBy, this.people);
    this.#sidebar?.notify(words, { isDone });
  }
}

/** Why a conversation is not there any more; `removedBy` is null where that is not known. */
function goneFrom(texts, conversation, removedBy, people) {
  if (!conversation || removedBy === null) return texts.say("gone.notOpen");
  const title = people.titleOf(conversation);
  if (removedBy === people.userId) return texts.say("gone.left", { title });
  return texts.say("gone.removed", { name: people.nameOf(removedBy), title });
}
