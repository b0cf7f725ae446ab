/** The open conversation: its messages, its thread, and what one writes. */

import { keepOutbox } from "../kept-outbox.js";
import { Uploads } from "../uploads.js";
import { UserStorage } from "../user-storage.js";
import { BlockedBar } from "./blocked-bar.js";
import { Composer } from "./composer.js";
import { MessageTools } from "./message-tools.js";
import { Part } from "./part.js";
import { ThreadPanel } from "./thread.js";
import { TimelineView } from "./timeline.js";
import { draftsOf, mainRows } from "./timeline-rows.js";
import { TypingLine } from "./typing-line.js";
import { Writing } from "./writing.js";
import "../style/dialogs.js";
import "../style/groups.js";
import "../style/message.js";
import "../style/moderation.js";
import "../style/panels.js";

export class Talk extends Part {
  #session;
  #needs;
  #uploads = null;
  #tools;
  #timeline;
  #composer;
  #thread;
  #writing;
  #typingLine;
  #blocked;
  /** From the log to the composer, and the thread next to them. */
  nodes;
  panel;

  /**
   * `needs.reporting` loads the dialog, `needs.inbox()` is the inbox, if it is there.
   */
  constructor(shell, chat, session, needs) {
    super(shell);
    const { store } = this;
    this.#session = session;
    this.#needs = needs;
    if (shell.has("files")) {
      const options = { hasPreviews: shell.has("previews") };
      this.#uploads = new Uploads(chat, () => store.changed(), options);
    }
    this.#tools = this.#makeTools(chat);
    this.#typingLine = new TypingLine(shell, session.typing);
    this.#blocked = new BlockedBar(shell, (id) => this.#unblock(id));
    this.#timeline = this.#makeTimeline();
    this.#composer = this.#makeComposer();
    this.#thread = this.#makeThread();
    this.#writing = new Writing(shell, session, {
      composerOf: (rootId) => (rootId === null ? this.#composer : this.#thread.composer),
      uploads: this.#uploads,
      alsoSend: (...given) => this.#thread.alsoSend(...given),
    });
    const views = [this.#timeline, this.#typingLine, this.#blocked, this.#composer];
    this.nodes = views.map((view) => view.node);
    this.panel = this.#thread.node;
    keepOutbox(store, session.sender, new UserStorage(store.userId, () => sessionStorage));
    // Drafts are kept; files cannot be.
    const ask = (event) => this.#uploads?.hasAny && event.preventDefault();
    addEventListener("beforeunload", ask, { signal: shell.signal });
  }

  get composer() {
    return this.#composer;
  }

  show() {
    const { open, openId } = this.store;
    const mentionable = open ? this.people.idsOfOthersIn(open) : [];
    const find = (id) => this.store.message(openId, id);
    const writing = { ...this.#writing.now(open), mentionable, find };
    this.#composer.show(openId, writing);
    this.#thread.show(writing);
    this.#writing.explain();
    this.#typingLine.show();
    this.#blocked.show();
    this.#timeline.show();
    this.#tools.show();
    const isReading = document.visibilityState === "visible" && this.#timeline.isAtEnd;
    if (isReading !== this.store.isReading) this.store.set({ isReading });
    if (isReading) this.#session.readings.read();
  }

  close() {
    this.#uploads?.close();
  }

  /** A message was not accepted. */
  refused(draft, error) {
    this.#writing.refused(draft, error);
  }

  /** On a touch screen the keyboard would cover what one came to read. */
  focus() {
    if (this.shell.hasMouse) this.#composer.focus();
    else this.#timeline.focus();
  }

  /** What had the focus `from` which a thread was opened, as far as that is still there; what one
   * can do with a message is hidden without the focus. */
  focusBefore(from) {
    const nodes = [from, from?.closest(".message"), from].filter(Boolean);
    for (const node of nodes) node.focus();
    // A thread that was opened by the address still has it.
    if (!nodes.includes(this.shell.focused)) this.#composer.focus();
  }

  /** Show a message at its place, loading older pages if needed. */
  async find(messageId, rootId) {
    const view = rootId ? this.#thread : this.#timeline;
    const { openId, openThread } = this.store;
    const list = rootId ? openThread.timeline : this.store.timeline(openId);
    const isThere = messageId === rootId || (await this.#session.history.find(list, messageId));
    if (isThere) view.reveal(messageId);
    else this.#composer.complain(this.say("composer.notFound"));
  }

  #makeTools(chat) {
    const session = this.#session;
    return new MessageTools(this.shell, session.changes, {
      moreConversations: () => session.loadMoreConversations(),
      find: (messageId, rootId) => this.find(messageId, rootId),
      composer: (isThread) => (isThread ? this.#thread.composer : this.#composer),
      reporting: this.#needs.reporting,
      groups: session.groups,
      kept: this.shell.kept,
      readings: session.readings,
      receipts: session.receipts,
      desk: chat.moderationTools,
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
      unsent: this.shell.unsent,
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
      saw: (id) => this.#saw(isThread ? this.#needs.inbox() : this.#session.readings, current(), id),
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

  async #unblock(userId) {
    await this.#session.boundaries.unblock(userId);
    this.#composer.focus();
  }
}
