/** The views of one user's chat, and what leads from one to the other. */

import { Archive } from "../archive.js";
import { element } from "../dom.js";
import { Inbox } from "../inbox.js";
import { JoinRequests } from "../join-requests.js";
import { keepOutbox } from "../kept-outbox.js";
import { ModerationQueue } from "../moderation-queue.js";
import { NO_PRESENCE } from "../presence.js";
import { UnlistedConversations } from "../unlisted-conversations.js";
import { UnsentTexts } from "../unsent.js";
import { Uploads } from "../uploads.js";
import { UserStorage } from "../user-storage.js";
import { ArchiveScreen } from "./archive.js";
import { Banned } from "./banned.js";
import { BlockedBar } from "./blocked-bar.js";
import { Composer } from "./composer.js";
import { ConnectionBanner } from "./connection-banner.js";
import { ConversationList } from "./conversations.js";
import { DirectDialog } from "./dialogs.js";
import { FindingViews } from "./finding.js";
import { Frame } from "./frame.js";
import { goneFrom } from "./group-words.js";
import { GroupViews } from "./groups.js";
import { MessageTools } from "./message-tools.js";
import { ModerationScreen } from "./moderation.js";
import { SystemNotifications } from "./notifications.js";
import { OwnActs } from "./own-acts.js";
import { Part } from "./part.js";
import { Menu } from "./popovers.js";
import { ReportDialog } from "./report.js";
import { Sidebar } from "./sidebar.js";
import { ThreadPanel } from "./thread.js";
import { TimelineView } from "./timeline.js";
import { draftsOf, mainRows } from "./timeline-rows.js";
import { TypingLine } from "./typing-line.js";
import { Writing } from "./writing.js";

export class ChatView extends Part {
  #chat;
  #session;
  #kept;
  #unsent;
  #uploads = null;
  #presence;
  #waiting = null;
  #inbox = null;
  #archive = null;
  #own;
  #casework = null;
  #tools;
  #frame;
  #sidebar = null;
  #list = null;
  #timeline;
  #composer;
  #writing;
  #notifications = null;
  #thread;
  #groups;
  #finding;
  #reporting;
  #blocked;
  #typingLine;
  #banner;
  #banned;
  /** The pages in place of a conversation, by their names. */
  #screens = {};
  /** What had the focus when a thread was opened. */
  #from = null;

  /** `session` is that of the shell's store; `again()` starts again, after a ban. */
  constructor(shell, chat, session, { again }) {
    super(shell);
    this.#chat = chat;
    this.#session = session;
    this.#kept = new UserStorage(this.store.userId);
    this.#unsent = new UnsentTexts(this.#kept, shell);
    this.#presence = shell.has("presence") ? session.presence : NO_PRESENCE;
    this.#makeParts();
    this.#own = new OwnActs(shell, session);
    this.#tools = this.#makeTools();
    const goToPerson = (userId) => this.#goToPerson(userId);
    this.#groups = this.#makeGroups();
    this.#finding = this.#makeFinding();
    this.#timeline = this.#makeTimeline();
    this.#composer = this.#makeComposer();
    this.#thread = this.#makeThread();
    this.#writing = new Writing(shell, session, {
      composerOf: (rootId) => (rootId === null ? this.#composer : this.#thread.composer),
      uploads: this.#uploads,
      alsoSend: (...given) => this.#thread.alsoSend(...given),
    });
    const others = { ...this.#archived(), ...this.#desk() };
    this.#screens = { ...this.#finding.screens, ...this.#groups.screens, ...others };
    if (shell.has("list")) this.#makeSidebar(goToPerson);
    this.#frame = this.#makeFrame();
    this.#banned = new Banned(shell, again);
    shell.root.append(this.#banner.node, this.#frame.node, this.#banned.node);
    shell.root.addEventListener("click", (event) => {
      // What a host has put into a link is not within the root, nor are links of its own.
      const link = event.composedPath().find((node) => node.localName === "a");
      if (link && shell.root.contains(link)) shell.places.follow(event, link);
    });
    const kept = new UserStorage(this.store.userId, () => sessionStorage);
    keepOutbox(this.store, session.sender, kept);
    // Drafts are kept; files cannot be.
    const ask = (event) => this.#uploads?.hasAny && event.preventDefault();
    addEventListener("beforeunload", ask, { signal: shell.signal });
  }

  /** Whether a conversation without messages is listed. */
  isListedEmpty(id) {
    return this.#unsent.textIn(id) !== "";
  }

  /** What the session calls. */
  listeners = {
    onGone: (...gone) => this.#gone(...gone),
    onJoinRequest: (event) => this.#receivedJoinRequest(event),
    onOpened: () => this.#opened(),
    onEvent: ({ message }) => {
      this.#inbox?.receive(message);
      this.#archive?.receive(message);
    },
    onBan: (event) => this.#groups.receiveBan(event),
    onReports: () => this.people.isModerator && this.#casework?.outdated(),
    onMessage: (message) => this.#notifications?.receive(message),
    onRefused: (draft, error) => this.#writing.refused(draft, error),
  };

  /** Open a place; back in the list, the focus is where it was. */
  async goTo({ conversationId, rootId, messageId, isDetails, elsewhere: named, code }) {
    const elsewhere = named in this.#screens ? named : null;
    const { openId: left, isDetailsOpen: wasDetails, openRootId: leftRoot } = this.store;
    if (conversationId !== null || elsewhere !== null) this.#sidebar?.notify("");
    this.store.set({ isDetailsOpen: isDetails && this.shell.has("details"), elsewhere });
    if (elsewhere !== null) this.#screens[elsewhere].open(code);
    if (rootId !== null && leftRoot === null) this.#from = this.shell.focused;
    const isOpen = conversationId === left || this.#session.open(conversationId);
    const isThreadOpen = this.#openThread(isOpen, conversationId, rootId);
    await Promise.resolve();
    const shown = { conversationId, rootId, isDetails, elsewhere };
    if (this.shell.mayTakeFocus) this.#focusIn(shown, { left, leftRoot, wasDetails });
    await isThreadOpen;
    if (messageId !== null && this.#isAt(conversationId, rootId)) {
      await isOpen;
      this.#arriveAt(messageId);
    }
  }

  /** A request was refused. USER_BANNED of a release may be the sender's ban. */
  refused({ code }) {
    if (code === "USER_BANNED" && !this.#casework?.isReleasing) this.#session.endAsBanned();
  }

  async openDirect(userId) {
    await this.#goToPerson(userId);
  }

  show() {
    if (this.store.isBanned) {
      this.#frame.node.hidden = true;
      this.#banner.hide();
      this.#banned.show();
      return;
    }
    const { open, openId } = this.store;
    const mentionable = open ? this.people.idsOfOthersIn(open) : [];
    const find = (id) => this.store.message(openId, id);
    this.#frame.show();
    this.#banner.show();
    this.#sidebar?.show();
    this.#list?.show();
    this.#finding.show();
    const writing = { ...this.#writing.now(open), mentionable, find };
    this.#composer.show(openId, writing);
    this.#thread.show(writing);
    this.#writing.explain();
    this.#typingLine.show();
    this.#blocked.show();
    this.#groups.show();
    for (const screen of Object.values(this.#screens)) screen.show();
    this.#timeline.show();
    this.#tools.show();
    const isReading = document.visibilityState === "visible" && this.#timeline.isAtEnd;
    if (isReading !== this.store.isReading) this.store.set({ isReading });
    if (isReading) this.#session.readings.read();
  }

  close() {
    this.#uploads?.close();
    this.shell.end();
  }

  #makeParts() {
    const { shell, store } = this;
    const chat = this.#chat;
    const changed = () => store.changed();
    if (shell.has("files")) {
      this.#uploads = new Uploads(chat, changed, { hasPreviews: shell.has("previews") });
    }
    if (shell.has("details")) this.#waiting = new JoinRequests(chat, store);
    if (shell.has("notifications")) this.#notifications = new SystemNotifications(shell);
    this.#reporting = new ReportDialog(shell, (given) => chat.moderation.report(given));
    this.#blocked = new BlockedBar(shell, (id) => this.#unblock(id));
    this.#typingLine = new TypingLine(shell, this.#session.typing);
    this.#banner = new ConnectionBanner(shell, {
      reconnect: () => this.#session.reconnect(),
      focus: () => this.#composer.focus(),
    });
    this.#sidebar = shell.has("list") ? new Sidebar(shell) : null;
  }

  #makeTools() {
    return new MessageTools(this.shell, this.#session.changes, {
      moreConversations: () => this.#session.loadMoreConversations(),
      find: (messageId, rootId) => this.#find(messageId, rootId),
      composer: (isThread) => (isThread ? this.#thread.composer : this.#composer),
      report: (message) => this.#reporting.openForMessage(message),
      groups: this.#session.groups,
      kept: this.#kept,
      readings: this.#session.readings,
      receipts: this.#session.receipts,
      desk: this.#chat.moderationTools,
    });
  }

  #makeFinding() {
    const elsewhere = new UnlistedConversations(this.#chat, this.store);
    const hasInbox = this.shell.has("inbox");
    this.#inbox = hasInbox ? new Inbox(this.#chat, this.store, elsewhere) : null;
    return new FindingViews(this.shell, this.#chat, { inbox: this.#inbox, elsewhere }, {
      goToPerson: (userId) => this.#tryPerson(userId),
      badge: (...given) => this.#sidebar?.badge(...given),
      searching: ({ isActive, isSearching }) => {
        this.#frame.showSearching(isSearching);
        this.#list.node.hidden = isActive;
      },
    });
  }

  #makeGroups() {
    const { groups, boundaries } = this.#session;
    const presence = this.#presence;
    return new GroupViews(this.shell, this.#chat, {
      ...{ groups, boundaries, presence, own: this.#own },
      waiting: this.#waiting,
      reporting: this.#reporting,
    });
  }

  #archived() {
    if (!this.store.hasViews) return {};
    this.#archive = new Archive(this.#chat, this.store, this.#session);
    return { archived: new ArchiveScreen(this.shell, this.#archive) };
  }

  #desk() {
    if (!this.shell.has("moderation")) return {};
    const chat = this.#chat;
    this.#casework = new ModerationQueue(chat, this.store);
    const badge = (words) => this.#sidebar?.badge("moderation", words);
    const given = { desk: chat.moderationTools, badge };
    return { moderation: new ModerationScreen(this.shell, this.#casework, given) };
  }

  #makeSidebar(goToPerson) {
    const { shell } = this;
    const session = this.#session;
    const writing = new DirectDialog(shell, goToPerson);
    const menu = new Menu(shell, "conversation-menu", this.say("list.menu"));
    const lists = {
      before: this.#sidebar.shortcutsTo(this.#screens),
      after: [element("slot", { name: "list-end" })],
    };
    this.#list = new ConversationList(shell, lists, {
      presence: this.#presence,
      waiting: this.#waiting,
      typing: session.typing,
      unsent: this.#unsent,
      preview: (id) => session.loadPreview(id),
      more: () => session.loadMoreConversations(),
      openMenu: (conversation, link) => menu.open(link, this.#actsOn(conversation)),
    });
    this.#sidebar.fill({
      list: this.#list.node,
      search: this.#finding.search,
      tools: this.#notifications ? [this.#notifications.button] : [],
      acts: { writeTo: () => writing.open(), makeGroup: () => this.#groups.open() },
    });
  }

  #actsOn(conversation) {
    const complain = (error) => this.#sidebar.notify(this.texts.problemOf(error));
    const acts = this.#own.of(conversation);
    return acts.map(({ act, ...item }) => ({ ...item, act: () => act().catch(complain) }));
  }

  #makeFrame() {
    const { details } = this.#groups;
    const talk = [this.#timeline, this.#typingLine, this.#blocked, this.#composer];
    return new Frame(this.shell, {
      sidebar: this.#sidebar?.node ?? null,
      talk: talk.map((view) => view.node),
      tools: [details?.opener, this.#finding.search?.opener],
      panels: [this.#thread, details].filter(Boolean).map((panel) => panel.node),
      screens: this.#screens,
      presence: this.#presence,
    });
  }

  #makeTimeline() {
    const { store } = this;
    const read = () =>
      store.open && {
        timeline: store.timeline(store.openId),
        rows: mainRows(this.texts, store, this.people, this.#session.receipts),
        drafts: draftsOf(store),
        unread: store.unreadOf(store.open),
      };
    const current = () => store.timeline(store.openId);
    const log = { name: "", label: this.say("timeline.label") };
    return new TimelineView(this.shell, log, read, this.#toolsFor(current, { isThread: false }));
  }

  #makeThread() {
    const current = () => this.store.openThread.timeline;
    return new ThreadPanel(this.shell, {
      tools: this.#toolsFor(current, { isThread: true }),
      receipts: this.#session.receipts,
      needs: this.#writingIn(() => this.store.openThread?.timeline),
    });
  }

  #makeComposer() {
    const current = () => this.store.timeline(this.store.openId);
    const field = { name: "", label: this.say("composer.message") };
    const composer = new Composer(this.shell, field, this.#writingIn(current));
    composer.takeFilesFrom(this.#timeline.node);
    return composer;
  }

  #writingIn(current) {
    const { places } = this.shell;
    return {
      send: (written) => this.#writing.send(written),
      edit: (messageId, written) => this.#session.changes.edit(messageId, written),
      remove: (message) => this.#tools.remove(message),
      editLast: () => this.#tools.editLast(current()),
      unsent: this.#unsent,
      uploads: this.#uploads,
      pickEmoji: (button, choose) => this.#tools.pickEmoji(button, choose),
      // What names one is a link to it.
      channels: () => (places.hasLinks ? this.store.conversations.filter(({ name }) => name) : []),
      typed: (isBlank) => this.#session.typing.typed(this.store.openId, isBlank),
    };
  }

  #toolsFor(current, { isThread }) {
    const { history, sender } = this.#session;
    return {
      ...this.#tools.forRows(isThread),
      older: () => history.loadOlder(current()),
      newer: () => history.loadNewer(current()),
      latest: () => history.loadLatest(current()),
      saw: (id) => this.#saw(isThread ? this.#inbox : this.#session.readings, current(), id),
      again: () => history.loadAgain(current()),
      moved: () => this.store.changed(),
      stopDraft: (draft) => this.#session.liveDrafts.stop(draft),
      markRead: () => this.#session.readings.readAll(),
      retry: (key) => sender.retry(key),
      rewrite: (key) => this.#writing.rewrite(key),
      discard: (key) => sender.discard(key),
    };
  }

  /** `whose` keeps the read marks: the session's readings, or the inbox for threads. */
  #saw(whose, timeline, messageId) {
    if (document.visibilityState === "visible") whose?.saw(timeline, messageId);
  }

  /** The place then is the address's: the same link leads to its message again. */
  #arriveAt(messageId) {
    const { open, openId, openRootId } = this.store;
    if (!open) return;
    this.shell.places.arrived(...(openRootId ? [openId, openRootId] : [openId]));
    this.#find(messageId, openRootId);
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
    if (elsewhere !== null) this.#screens[elsewhere].focus();
    else if (conversationId === null) this.#list?.focus(left);
    else if (isDetails || (isSame && wasDetails)) {
      this.#groups.details?.focus({ isClosed: !isDetails });
    } else if (isSame && leftRoot !== null && rootId === null) this.#focusBefore();
    else if (rootId === null) this.#focusConversation();
  }

  /** On a touch screen the keyboard would cover what one came to read. */
  #focusConversation() {
    if (this.shell.hasMouse) this.#composer.focus();
    else this.#timeline.focus();
  }

  /** As far as that is still there; what one can do with a message is hidden without the focus. */
  #focusBefore() {
    const from = this.#from;
    const nodes = [from, from?.closest(".message"), from].filter(Boolean);
    for (const node of nodes) node.focus();
    // A thread that was opened by the address still has it.
    if (!nodes.includes(this.shell.focused)) this.#composer.focus();
  }

  async #goToPerson(userId) {
    this.shell.places.go((await this.#session.openDirect(userId)).id);
  }

  /** For callers without a place to show the error. */
  async #tryPerson(userId) {
    try {
      await this.#goToPerson(userId);
    } catch (error) {
      this.#sidebar?.notify(this.texts.problemOf(error));
    }
  }

  #opened() {
    this.#inbox?.outdated();
    this.#waiting?.load();
  }

  #receivedJoinRequest(event) {
    this.#waiting?.receive(event);
    this.#groups.receiveJoinRequest(event);
  }

  async #unblock(userId) {
    await this.#session.boundaries.unblock(userId);
    this.#composer.focus();
  }

  /** Show a message at its place, loading older pages if needed. */
  async #find(messageId, rootId) {
    const view = rootId ? this.#thread : this.#timeline;
    const { openId, openThread } = this.store;
    const list = rootId ? openThread.timeline : this.store.timeline(openId);
    const isThere = messageId === rootId || (await this.#session.history.find(list, messageId));
    if (isThere) view.reveal(messageId);
    else this.#composer.complain(this.say("composer.notFound"));
  }

  #gone(conversation, removedBy) {
    this.shell.places.go();
    const isDone = removedBy === this.people.userId;
    const words = goneFrom(this.texts, conversation, removedBy, this.people);
    this.#sidebar?.notify(words, { isDone });
  }
}
