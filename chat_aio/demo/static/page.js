/** The views of one person's page, and what leads from one to the other. */

import { addressOf } from "./address.js";
import { ModerationQueue } from "./moderation-queue.js";
import { Chat } from "../../browser/chat.js";
import { UserStorage } from "./user-storage.js";
import { keepOutbox } from "./kept-outbox.js";
import { problemOf } from "./problems.js";
import { keepPage } from "../../browser/file-drops.js";
import { Session } from "../../browser/session.js";
import { Store } from "../../browser/store.js";
import { eachDay } from "../../browser/tasks.js";
import { UnsentTexts } from "../../browser/unsent.js";
import { Uploads } from "../../browser/uploads.js";
import { showBanned } from "./views/banned.js";
import { BlockedBar } from "./views/blocked-bar.js";
import { Composer } from "./views/composer.js";
import { ConnectionBanner } from "./views/connection-banner.js";
import { ConversationList } from "./views/conversations.js";
import { makeDirectDialog } from "./views/dialogs.js";
import { FilePicker } from "./views/file-picker.js";
import { FindingViews } from "./views/finding.js";
import { FirstSteps } from "./views/first-steps.js";
import { Frame } from "./views/frame.js";
import { goneFrom } from "./views/group-words.js";
import { GroupViews } from "./views/groups.js";
import { MessageTools } from "./views/message-tools.js";
import { ModerationScreen } from "./views/moderation.js";
import { SystemNotifications } from "./views/notifications.js";
import { ReportDialog } from "./views/report.js";
import { ThreadPanel } from "./views/thread.js";
import { TimelineView } from "./views/timeline.js";
import { draftsOf, mainRows } from "./views/timeline-rows.js";
import { TypingLine } from "./views/typing-line.js";
import { JoinRequests } from "./join-requests.js";
import { say } from "./words.js";
import { Writing } from "./views/writing.js";

/** The demo has no passwords: each request names its user. */
function chatAs(userId, onError) {
  return new Chat("/api/chat", { query: { as: userId }, onError });
}

export class Page {
  #people;
  #kept;
  #unsent;
  #store;
  #session;
  #tools;
  #frame;
  #list;
  #timeline;
  #composer;
  #uploads;
  #writing;
  #files;
  #notifications;
  #thread;
  #groups;
  #finding;
  #waiting;
  #reporting;
  #blocked;
  #typingLine;
  #banner;
  #steps;
  #urlOf;
  /** The pages in place of a conversation, by their names in the address. */
  #screens;

  constructor(people) {
    this.#people = people;
    this.#kept = new UserStorage(people.userId);
    this.#unsent = new UnsentTexts(this.#kept);
    const store = new Store(people.userId, {
      isListedEmpty: (id) => this.#unsent.textIn(id) !== "",
    });
    const chat = chatAs(people.userId, ({ code }) => {
      if (code === "USER_BANNED") this.#session.endAsBanned();
    });
    // USER_BANNED of a release may be the sender's ban: it does not end this page.
    const casework = new ModerationQueue(chat, store, chatAs(people.userId));
    this.#store = store;
    people.conversation = (id) => store.conversation(id);
    this.#session = new Session(chat, store, {
      onGone: (...gone) => this.#gone(...gone),
      onJoinRequest: (event) => this.#toldJoinRequest(event),
      onOpened: () => this.#opened(),
      onEvent: ({ message }) => this.#finding.inbox.receive(message),
      onBan: (event) => this.#groups.receiveBan(event),
      onReports: () => people.isModerator && casework.outdated(),
      onUsers: (users) => people.learn(users),
      onMessage: (message) => this.#notifications.receive(message),
      onRefused: (draft, error) => this.#writing.refused(draft, error),
    });
    this.#waiting = new JoinRequests(chat, store);
    this.#uploads = new Uploads(chat, () => store.changed());
    const form = document.querySelector("#composer");
    const stage = document.querySelector("#stage");
    this.#files = new FilePicker(form, stage, this.#uploads);
    this.#urlOf = (id) => chat.attachments.url(id);
    this.#reporting = new ReportDialog((given) => chat.moderation.report(given));
    this.#tools = new MessageTools(this.#session.changes, store, people, {
      moreConversations: () => this.#session.loadMoreConversations(),
      go: (...place) => this.#go(...place),
      find: (messageId, rootId) => this.#find(messageId, rootId),
      composer: (isThread) => (isThread ? this.#thread.composer : this.#composer),
      report: (message) => this.#reporting.openForMessage(message),
      groups: this.#session.groups,
      kept: this.#kept,
      urlOf: this.#urlOf,
      readings: this.#session.readings,
      receipts: this.#session.receipts,
      desk: chat.moderationTools,
    });
    this.#frame = new Frame(store, people, this.#session.presence);
    this.#notifications = new SystemNotifications(store, people, (message) =>
      this.#goToMessage(message),
    );
    this.#list = this.#makeList();
    this.#timeline = this.#makeTimeline();
    this.#composer = this.#makeComposer();
    this.#thread = this.#makeThread();
    this.#writing = new Writing(store, this.#session, people, {
      composerOf: (rootId) => (rootId === null ? this.#composer : this.#thread.composer),
      uploads: this.#uploads,
      go: (...place) => this.#go(...place),
      alsoSend: (...given) => this.#thread.alsoSend(...given),
    });
    this.#finding = new FindingViews(chat, store, people, {
      go: (...place) => this.#go(...place),
      goToMessage: (message) => this.#goToMessage(message),
      goToPerson: (userId) => this.#tryPerson(userId),
    });
    this.#groups = this.#makeGroups(chat);
    const moderation = new ModerationScreen(casework, chat.moderationTools, store, people);
    this.#screens = { ...this.#groups.screens, ...this.#finding.screens, moderation };
    this.#blocked = new BlockedBar(store, people, (id) => this.#unblock(id));
    this.#typingLine = new TypingLine(this.#session.typing, store, people);
    this.#banner = new ConnectionBanner(store, {
      reconnect: () => this.#session.reconnect(),
      focus: () => this.#composer.focus(),
    });
    const goToPerson = (userId) => this.#goToPerson(userId);
    makeDirectDialog(people, goToPerson);
    this.#steps = new FirstSteps(people, goToPerson);
    keepOutbox(store, this.#session.sender, new UserStorage(people.userId, () => sessionStorage));
    store.subscribe(() => this.#show());
  }

  start() {
    document.addEventListener("visibilitychange", () => this.#store.changed());
    keepPage();
    // Drafts are kept; files cannot be.
    addEventListener("beforeunload", (event) => this.#uploads.hasAny && event.preventDefault());
    eachDay(() => this.#store.changed());
    this.#session.start();
    this.#store.changed();
  }

  /** Open what the address names; back in the list, the focus is where it was. */
  async goTo({ conversationId, rootId, messageId, isDetails, elsewhere, code }) {
    const { openId: left, isDetailsOpen: wasDetails } = this.#store;
    if (conversationId !== null || elsewhere !== null) this.#frame.notify("");
    this.#store.set({ isDetailsOpen: isDetails, elsewhere });
    if (elsewhere !== null) this.#screens[elsewhere].open(code);
    const isOpen = conversationId === left || this.#session.open(conversationId);
    const isThreadOpen = this.#openThread(isOpen, conversationId, rootId);
    await Promise.resolve();
    const wasBeside = wasDetails && conversationId === left;
    if (elsewhere !== null) this.#screens[elsewhere].focus();
    else if (conversationId === null) this.#list.focus(left);
    else if (isDetails || wasBeside) this.#groups.focusDetails({ isClosed: !isDetails });
    else if (rootId === null) this.#composer.focus();
    await isThreadOpen;
    if (messageId !== null && this.#isAt(conversationId, rootId)) {
      await isOpen;
      this.#arriveAt(messageId);
    }
  }

  /** The address then is the place's: the same link leads to its message again. */
  #arriveAt(messageId) {
    const { open, openId, openRootId } = this.#store;
    if (!open) return;
    const place = openRootId ? [openId, openRootId] : [openId];
    history.replaceState(null, "", addressOf(this.#people.userId, ...place));
    this.#find(messageId, openRootId);
  }

  #isAt(conversationId, rootId) {
    return this.#store.openId === conversationId && this.#store.openRootId === rootId;
  }

  async #openThread(isOpen, conversationId, rootId) {
    await this.#session.openThread(rootId);
    await isOpen;
    // The conversation may just have become known.
    if (!this.#isAt(conversationId, rootId)) return;
    await this.#session.openThread(rootId);
    if (this.#store.openThread?.isGone) this.#go(conversationId);
  }

  #makeList() {
    return new ConversationList(this.#store, this.#people, {
      hrefOf: (id) => addressOf(this.#people.userId, id),
      presence: this.#session.presence,
      waiting: this.#waiting,
      preview: (id) => this.#session.loadPreview(id),
      typing: this.#session.typing,
      unsent: this.#unsent,
      more: () => this.#session.loadMoreConversations(),
    });
  }

  #makeTimeline() {
    const store = this.#store;
    const stage = document.querySelector("#stage");
    const read = () =>
      store.open && {
        timeline: store.timeline(store.openId),
        rows: mainRows(store, this.#people, this.#session.receipts),
        drafts: draftsOf(store),
        unread: store.unreadOf(store.open),
      };
    const current = () => store.timeline(store.openId);
    return new TimelineView(stage, read, this.#toolsFor(current, { isThread: false }));
  }

  #makeThread() {
    const current = () => this.#store.openThread.timeline;
    return new ThreadPanel(this.#store, this.#people, {
      tools: this.#toolsFor(current, { isThread: true }),
      receipts: this.#session.receipts,
      uploads: this.#uploads,
      needs: {
        ...this.#writingIn(() => this.#store.openThread?.timeline),
        closeHref: () => addressOf(this.#people.userId, this.#store.openId),
      },
    });
  }

  async #goToPerson(userId) {
    this.#go((await this.#session.openDirect(userId)).id);
  }

  /** For callers without a place to show the error. */
  async #tryPerson(userId) {
    try {
      await this.#goToPerson(userId);
    } catch (error) {
      this.#frame.notify(problemOf(error));
    }
  }

  #opened() {
    this.#finding.inbox.outdated();
    this.#waiting.load();
  }

  #toldJoinRequest(event) {
    this.#waiting.receive(event);
    this.#groups.receiveJoinRequest(event);
  }

  #makeGroups(chat) {
    const hrefOf = (...place) => addressOf(this.#people.userId, ...place);
    return new GroupViews(chat, this.#store, this.#people, {
      groups: this.#session.groups,
      boundaries: this.#session.boundaries,
      presence: this.#session.presence,
      waiting: this.#waiting,
      reporting: this.#reporting,
      hrefOf,
      go: (conversationId) => this.#go(conversationId),
      goToMessage: (message) => this.#goToMessage(message),
      enter: (conversationId) => location.replace(hrefOf(conversationId)),
    });
  }

  #makeComposer() {
    const form = document.querySelector("#composer");
    const current = () => this.#store.timeline(this.#store.openId);
    return new Composer(form, this.#people, this.#writingIn(current));
  }

  #writingIn(current) {
    return {
      send: (written) => this.#writing.send(written),
      edit: (messageId, written) => this.#session.changes.edit(messageId, written),
      remove: (message) => this.#tools.remove(message),
      editLast: () => this.#tools.editLast(current()),
      unsent: this.#unsent,
      uploads: this.#uploads,
      pickEmoji: (button, choose) => this.#tools.pickEmoji(button, choose),
      channels: () => this.#store.conversations.filter((conversation) => conversation.name),
      typed: (isBlank) => this.#session.typing.typed(this.#store.openId, isBlank),
    };
  }

  #toolsFor(current, { isThread }) {
    const { history, sender } = this.#session;
    return {
      ...this.#tools.forRows(isThread),
      older: () => history.loadOlder(current()),
      newer: () => history.loadNewer(current()),
      latest: () => history.loadLatest(current()),
      saw: (id) => this.#saw(isThread ? this.#finding.inbox : this.#session.readings, current(), id),
      again: () => history.loadAgain(current()),
      moved: () => this.#store.changed(),
      stopDraft: (draft) => this.#session.liveDrafts.stop(draft),
      markRead: () => this.#session.readings.readAll(),
      urlOf: this.#urlOf,
      retry: (key) => sender.retry(key),
      rewrite: (key) => this.#writing.rewrite(key),
      discard: (key) => sender.discard(key),
    };
  }

  /** `whose` keeps the read marks: the session's readings, or the inbox for threads. */
  #saw(whose, timeline, messageId) {
    if (document.visibilityState === "visible") whose.saw(timeline, messageId);
  }

  async #unblock(userId) {
    await this.#session.boundaries.unblock(userId);
    this.#composer.focus();
  }

  #go(...place) {
    location.hash = addressOf(this.#people.userId, ...place);
  }

  /** By its address: the conversation is opened first. */
  #goToMessage({ id, conversationId, threadRootMessageId, alsoSendToMain }) {
    const rootId = threadRootMessageId && !alsoSendToMain ? threadRootMessageId : "message";
    this.#go(conversationId, rootId, id);
  }

  /** Show a message at its place, loading older pages if needed. */
  async #find(messageId, rootId) {
    const view = rootId ? this.#thread : this.#timeline;
    const { openId, openThread } = this.#store;
    const list = rootId ? openThread.timeline : this.#store.timeline(openId);
    const isThere = messageId === rootId || (await this.#session.history.find(list, messageId));
    if (isThere) view.reveal(messageId);
    else this.#composer.complain(say("composer.notFound"));
  }

  #gone(conversation, removedBy) {
    location.hash = addressOf(this.#people.userId);
    const isDone = removedBy === this.#people.userId;
    this.#frame.notify(goneFrom(conversation, removedBy, this.#people), { isDone });
  }

  #show() {
    if (this.#store.isBanned) {
      showBanned(this.#people);
      return;
    }
    const { open, openId } = this.#store;
    const mentionable = open ? this.#people.idsOfOthersIn(open) : [];
    const find = (id) => this.#store.message(openId, id);
    this.#frame.show();
    this.#banner.show();
    this.#list.show();
    const { conversations } = this.#store;
    this.#steps.show(conversations, (id) => addressOf(this.#people.userId, id));
    this.#finding.show();
    const writing = { ...this.#writing.now(open), mentionable, find };
    this.#composer.show(openId, writing);
    this.#files.show(openId, openId, writing);
    this.#thread.show(writing);
    this.#writing.explain();
    this.#typingLine.show();
    this.#blocked.show();
    this.#groups.show();
    for (const screen of Object.values(this.#screens)) screen.show();
    this.#timeline.show();
    this.#tools.show();
    const isReading = document.visibilityState === "visible" && this.#timeline.isAtEnd;
    if (isReading !== this.#store.isReading) this.#store.set({ isReading });
    if (isReading) this.#session.readings.read();
  }
}
