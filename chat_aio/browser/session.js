/** One person's session: keeps the store in step with the service. No DOM. */

import { Retry } from "./retry.js";
import { Boundaries } from "./boundaries.js";
import { MessageChanges } from "./changes.js";
import { ChatError } from "./chat.js";
import { ConversationFetches } from "./conversation-fetches.js";
import { GroupChanges } from "./groups.js";
import { History } from "./history.js";
import { LiveDrafts } from "./live-drafts.js";
import { isInMain } from "./messages.js";
import { Presence } from "./presence.js";
import { ReadMarks } from "./read-marks.js";
import { Receipts } from "./receipts.js";
import { Resuming } from "./resuming.js";
import { Sender } from "./sender.js";
import { inTurn } from "./tasks.js";
import { Typing } from "./typing.js";

const CONVERSATIONS_PER_PAGE = 50;
/** The data of each row of the list, so that no row has to fetch it. */
const LISTED = ["lastMessage", "unread", "users"];
const MOST_UNREAD = 200;
const MOST_FAVOURITES = 200;
/** A fast stream is open by then: the list need not be requested twice. */
const FIRST_SYNC_MS = 100;

export class Session {
  #chat;
  #store;
  #stream = null;
  #onGone;
  #onJoinRequest;
  #onBan;
  #onReports;
  #onUsers;
  #onMessage;
  #onOpened;
  #onEvent;
  #isListShown;
  #firstSync = null;
  #isSignedOut = false;
  /** The status of the stream, which may notice late that the browser is offline. */
  #streamStatus = "connecting";
  #isOffline = false;
  #offline = () => this.#lookOffline();
  #online = () => {
    this.#setOffline(false);
    this.reconnect();
  };
  #syncAgain = new Retry(() => this.sync());
  #moreAgain = new Retry(() => this.loadMoreConversations());
  /** The conversation that is being opened, and the one that the list has left to its opening. */
  #openingId = null;
  #leftId = null;
  #fetches;
  /** Requests since the stream was opened. */
  #previewed = new Set();
  #resuming;

  /**
   * `onGone(conversation, removedBy)` is called when the open conversation cannot be read (any
   * longer): its last state, and the removing user, both null if unknown.
   * `onJoinRequest(event)` is called for join requests, the user's own and those to decide, and
   * `onBan(event)` for bans from groups whose admin the user is. `onReports()` is called when there
   * may be new reports: after an event, or when the stream has opened, at first or again.
   * `onUsers(users)` gets the users of a page, by id, `onMessage(message)` each new
   * message that is not visible to the reader, `onRefused(draft, error)` each failed send.
   * `onOpened()` is called when the stream has opened and the list has arrived, at first or again,
   * `onEvent(event)` with each event that has a message.
   * `hasDrafts`: whether the service has the plugin. `isListShown`: whether the list is shown.
   */
  constructor(chat, store, { onGone, onJoinRequest, onBan, onReports, ...optional }) {
    this.#chat = chat;
    this.#store = store;
    this.#onGone = onGone;
    this.#onJoinRequest = onJoinRequest;
    this.#onBan = onBan;
    this.#onReports = onReports;
    const { onUsers = () => {}, onMessage = () => {}, onRefused, hasDrafts = true } = optional;
    const { onOpened = () => {}, onEvent = () => {}, isListShown = true } = optional;
    this.#isListShown = isListShown;
    this.#onUsers = onUsers;
    this.#onMessage = onMessage;
    this.#onOpened = onOpened;
    this.#onEvent = onEvent;
    this.liveDrafts = new LiveDrafts(chat, store, hasDrafts);
    this.sender = new Sender(chat, store, onRefused);
    this.changes = new MessageChanges(chat, store);
    this.boundaries = new Boundaries(chat, store);
    this.typing = new Typing(chat, store);
    this.presence = new Presence(chat, store);
    this.receipts = new Receipts(chat, store);
    this.groups = new GroupChanges(chat, store, (id) => this.#left(id, store.userId));
    this.history = new History(chat, store, (conversationId) => this.#left(conversationId));
    this.sync = inTurn(() => this.#sync());
    this.#fetches = new ConversationFetches(chat, store, {
      gone: (conversationId) => this.#left(conversationId),
      failed: (error) => this.#failed(error),
      list: this.sync,
    });
    this.#resuming = new Resuming(store, {
      all: () => this.#becomeStale(),
      list: this.sync,
      fetch: (conversationId) => this.#fetches.fetch(conversationId, { isAside: false }),
      preview: (conversationId) => this.loadPreview(conversationId),
      open: () => this.#bringOpen(),
      gone: (conversationId) => this.#left(conversationId),
    });
    this.readings = new ReadMarks(chat, store, {
      history: this.history,
      confirm: (conversationId) => this.#fetches.confirm(conversationId),
    });
  }

  /** The list is fetched once the stream is open, so that nothing is missed in between; where that
   * takes a while, and the list is shown, also at once. */
  start() {
    this.#store.set({ isBanned: false });
    this.#fetches.start();
    if (this.#isListShown) this.#firstSync = setTimeout(this.sync, FIRST_SYNC_MS);
    this.sender.open();
    globalThis.addEventListener?.("online", this.#online);
    globalThis.addEventListener?.("offline", this.#offline);
    this.#stream = this.#chat.stream({
      userId: this.#store.userId,
      onStatus: (status) => {
        this.#streamStatus = status;
        this.#showStatus();
      },
      onOpen: (opening) => this.#opened(opening),
      onRefused: () => this.sync(),
      onSignedOut: () => this.#signedOut(),
      onReset: () => this.#becomeStale().then(() => this.#onOpened()),
      onChanged: (event) => this.#resuming.resume(event).then(() => this.#onOpened()),
      onEvent: (event) => this.#received(event),
    });
  }

  /** Try again now, also to send waiting messages. */
  reconnect() {
    this.#stream?.reconnect();
    this.sender.retryAll();
    if (this.#store.listProblem) this.sync();
  }

  /** Nothing is fetched automatically any more. */
  close() {
    globalThis.removeEventListener?.("online", this.#online);
    globalThis.removeEventListener?.("offline", this.#offline);
    this.#isOffline = false;
    this.#stream?.close();
    this.sender.close();
    this.#rest();
  }

  /** A service on the same machine can be reached without a network. */
  async #lookOffline() {
    try {
      await this.#chat.listConversations({ limit: 1 });
    } catch ({ status }) {
      if (status === 0 && globalThis.navigator?.onLine === false) this.#setOffline(true);
    }
  }

  /** The stream may outlast a short outage: then nothing else tries again. */
  #setOffline(isOffline) {
    this.#isOffline = isOffline;
    this.#showStatus();
    if (isOffline || this.#store.status !== "live") return;
    this.sender.retryAll();
    this.sync();
  }

  #showStatus() {
    const isLost = this.#isOffline && this.#streamStatus === "live";
    this.#store.set({ status: isLost ? "reconnecting" : this.#streamStatus });
  }

  #rest() {
    clearTimeout(this.#firstSync);
    this.#syncAgain.stop();
    this.#moreAgain.stop();
    this.readings.close();
    this.history.close();
    this.#fetches.close();
    this.#store.set({ isReading: false });
  }

  /** Another user may be logged in: nothing is fetched, shown or sent until the stream opens. */
  #signedOut() {
    this.#isSignedOut = true;
    this.sender.setAside();
    this.#rest();
    this.#store.clear();
    this.#store.set({ listProblem: ChatError.signedOut() });
  }

  /** Every answer to a banned user shows the ban. */
  endAsBanned() {
    this.close();
    this.#store.set({ isBanned: true });
  }

  /** Make a conversation the open one (null: none), and fetch its data. */
  async open(conversationId) {
    this.#store.set({ openId: conversationId, isReading: false, keptUnreadId: null });
    if (conversationId === null) return;
    this.#openingId = conversationId;
    try {
      await this.#bring(conversationId);
    } finally {
      if (this.#openingId === conversationId) this.#openingId = null;
    }
    // The list has arrived in the meantime, and left it to this opening, which may have failed.
    if (this.#leftId !== conversationId || this.#store.openId !== conversationId) return;
    this.#leftId = null;
    await this.#bringAgain(conversationId);
  }

  /** Messages are shown from the first unread one: their number has to be known before. */
  async #bring(conversationId) {
    const store = this.#store;
    if (!store.conversation(conversationId)) await this.#fetches.fetch(conversationId);
    const conversation = store.conversation(conversationId);
    if (!conversation) return;
    const timeline = store.timeline(conversationId);
    const { unreadCount: count, firstUnreadSeq: firstSeq, participants } = conversation;
    const own = participants.find((participant) => participant.userId === store.userId);
    timeline.unread.mark({ count, firstSeq, lastReadId: own?.lastReadMessageId });
    this.liveDrafts.load(conversationId);
    await this.history.loadUnread(timeline);
  }

  /** Fetch the open conversation after the list has arrived, unless that is running already. */
  async #bringAgain(conversationId) {
    if (this.#openingId === conversationId) {
      this.#leftId = conversationId;
      return;
    }
    const timeline = this.#store.timeline(conversationId);
    if (this.#store.open && timeline.isLoaded) await this.history.loadNewest(timeline);
    else await this.#bring(conversationId);
  }

  /** Open a thread next to the open conversation (null: none). It starts at its newest replies. */
  async openThread(rootId) {
    const store = this.#store;
    const { openThread: before } = store;
    store.set({ openRootId: rootId });
    const { openThread: thread } = store;
    if (!thread) return;
    if (thread !== before && thread.timeline.newer !== null) this.history.loadLatest(thread.timeline);
    await this.history.loadThread(thread);
  }

  /** Call this whenever the end of the list is visible, after each change: a request that failed is
   * repeated after a pause. */
  async reachedEnd() {
    const { isListing, listProblem } = this.#store;
    if (!isListing && !listProblem && !this.#moreAgain.isWaiting) await this.loadMoreConversations();
  }

  /** The next page of the list; the list from its start if that has failed. */
  async loadMoreConversations() {
    const { nextCursor, listings, listProblem } = this.#store;
    if (listProblem) return this.sync();
    if (!nextCursor) return;
    this.#moreAgain.stop();
    this.#store.set({ nextCursor: null });
    const asOf = this.#store.now();
    const isLate = () => this.#store.listings !== listings;
    try {
      const page = await this.#list({ cursor: nextCursor });
      if (isLate()) return;
      this.#moreAgain.succeeded();
      this.#store.addConversations(page.conversations, page.nextCursor, asOf);
      this.#store.addHeads(page, asOf);
    } catch (error) {
      // A refused page would be refused again: the list ends here until it is fetched from its start.
      if (isLate() || !error.isTemporary) return;
      this.#moreAgain.failed(error);
      this.#store.set({ nextCursor });
    }
  }

  /** The last message for a conversation's row in the list. */
  async loadPreview(conversationId) {
    if (this.#previewed.has(conversationId)) return;
    this.#previewed.add(conversationId);
    const asOf = this.#store.now();
    try {
      const { messages } = await this.#chat.listMessages(conversationId, { limit: 1 });
      this.#store.setPreview(conversationId, messages[0] ?? null, asOf);
    } catch {
      // A row without a preview is still a row; the next opening of the stream fetches again.
    }
  }

  async openDirect(otherUserId) {
    const asOf = this.#store.now();
    const conversation = await this.#chat.getOrCreateConversation(otherUserId);
    this.#store.putConversation(conversation, asOf);
    return conversation;
  }

  /** Changes of conversations follow where it `isResumed`. */
  #opened({ isResumed = false } = {}) {
    this.#isSignedOut = false;
    this.#fetches.start();
    this.readings.opened();
    this.#forget();
    if (!isResumed) this.#becomeStale().then(() => this.#onOpened());
    this.boundaries.load();
    this.sender.open();
    this.#onReports();
  }

  #becomeStale() {
    this.#store.becomeStale();
    this.#forget();
    return this.sync();
  }

  /** Data without events is requested again where it is shown. */
  #forget() {
    this.#previewed.clear();
    this.presence.becomeStale();
    this.liveDrafts.becomeStale();
  }

  async #bringOpen() {
    if (this.#isSignedOut) return;
    const { openId, openThread } = this.#store;
    if (openId) await this.#bringAgain(openId);
    if (openThread) await this.history.loadThread(openThread);
  }

  async #sync() {
    if (this.#isSignedOut) return;
    clearTimeout(this.#firstSync);
    this.#syncAgain.stop();
    this.#moreAgain.stop();
    const store = this.#store;
    const asOf = store.now();
    store.set({ isListing: true });
    try {
      const pages = await this.#pages();
      if (this.#isSignedOut) return;
      const cursor = pages.at(-1).nextCursor;
      if (!cursor || !store.isListed) this.#take(pages, cursor, asOf);
      if (cursor) this.#take([...pages, await this.#favourites()], cursor, asOf);
      if (cursor) await this.#countUnreadElsewhere();
      else store.setUnreadElsewhere([]);
    } catch (error) {
      if (error.code === "USER_BANNED") this.endAsBanned();
      else this.#failed(error);
      store.set({ listProblem: error });
    } finally {
      store.set({ isListing: false });
    }
    await this.#bringOpen();
    if (!this.#syncAgain.isWaiting) this.#syncAgain.succeeded();
  }

  /** The list from its start, as far as it is shown. Further down it is fetched again when the reader
   * scrolls there. */
  async #pages() {
    const { hasViews, listedDownTo, conversations } = this.#store;
    const pages = [];
    let missing = Math.max(CONVERSATIONS_PER_PAGE, listedDownTo ?? conversations.length);
    let cursor;
    do {
      const page = await this.#list({ limit: CONVERSATIONS_PER_PAGE, cursor });
      pages.push(page);
      missing -= page.conversations.filter(({ view }) => !hasViews || !view?.archived).length;
      cursor = page.nextCursor;
    } while (cursor && missing > 0);
    return pages;
  }

  #take(pages, cursor, asOf) {
    if (this.#isSignedOut) return;
    const store = this.#store;
    const found = new Map(pages.flatMap((page) => page.conversations.map((one) => [one.id, one])));
    store.set({ listProblem: null });
    store.setConversations([...found.values()], cursor, asOf);
    for (const page of pages) store.addHeads(page, asOf);
  }

  /** They come first, however long ago they were active. */
  async #favourites() {
    if (!this.#store.hasViews) return { conversations: [] };
    try {
      return await this.#list({ favourite: true, limit: MOST_FAVOURITES });
    } catch (error) {
      // A service without `inbox` has none.
      if (error.code === "INVALID_INPUT") return { conversations: [] };
      throw error;
    }
  }

  /** While the stream is closed nothing is fetched: all is fetched when it opens, or is refused. */
  #failed(error) {
    if (this.#store.status === "live") this.#syncAgain.failed(error);
    else this.#resuming.doubt();
  }

  async #list(options) {
    const page = await this.#chat.listConversations({ ...options, include: LISTED });
    this.#onUsers(page.users);
    return page;
  }

  /** Unread conversations below the loaded part of the list. */
  async #countUnreadElsewhere() {
    const unread = await this.#chat.listConversations({ unread: true, limit: MOST_UNREAD });
    this.#store.setUnreadElsewhere(unread.conversations);
  }

  #received(event) {
    const store = this.#store;
    if (event.message) this.#onEvent(event);
    const isMine = event.affectedUserIds?.includes(store.userId);
    if (event.ephemeral) {
      const live = [this.typing, this.presence, this.receipts, this.liveDrafts];
      for (const part of live) part.receive(event);
    } else if (event.joinRequest) {
      this.#onJoinRequest(event);
    } else if (event.conversationBan) {
      this.#onBan(event);
    } else if (event.report) {
      this.#onReports();
    } else if (event.type === "message.created") {
      this.#receivedMessage(event.message);
    } else if (event.type === "read.updated") {
      this.#readElsewhere(event);
    } else if (event.type === "view.updated") {
      this.#viewed(event);
    } else if (event.type === "participant.removed" && isMine) {
      this.#left(event.conversationId, event.actorId);
    } else if (event.type === "conversation.deleted") {
      this.#left(event.conversationId);
    } else if (event.conversation) {
      const isNew = isMine || event.type === "conversation.created";
      const isKnown = store.conversation(event.conversationId) !== null;
      store.receiveConversation(event);
      // A snapshot has no unread count: a new member has not read a group's history.
      if (isNew || !isKnown) this.#fetches.confirm(event.conversationId);
    } else if (event.message) {
      store.update(event.message);
    }
  }

  #receivedMessage(message) {
    const store = this.#store;
    this.readings.arrived(message);
    this.typing.arrived(message);
    this.liveDrafts.arrived(message);
    store.receive(message);
    store.countReply(message);
    if (!store.conversation(message.conversationId)) {
      // Its conversation has a name by then.
      this.#fetchFor(message).then(() => this.#notify(message));
      return;
    }
    this.#notify(message);
    if (!store.isRead(message)) this.#fetches.confirm(message.conversationId);
  }

  #notify(message) {
    if (!this.#store.isRead(message)) this.#onMessage(message);
  }

  /**
   * In another window. This window counts its own reading: every count of an event
   * would make it send its read mark again.
   */
  #readElsewhere({ conversationId, unreadCount }) {
    const store = this.#store;
    if (store.isReadingIn(conversationId)) return;
    store.setUnread(conversationId, unreadCount);
    store.outdateUnread(conversationId);
    this.#fetches.confirm(conversationId);
  }

  /** Change the user's own view of a conversation. */
  async changeView(conversationId, changed) {
    const { view, unreadCount } = await this.#chat.inbox.changeView(conversationId, changed);
    this.#viewed({ conversationId, view, unreadCount });
  }

  /** The user's view of a conversation has changed, in this window or another one. */
  #viewed({ conversationId, view, unreadCount }) {
    const store = this.#store;
    const known = store.conversation(conversationId);
    if (!known) {
      // It was hidden or archived, and is listed again.
      if (!view.hidden) this.sync();
      return;
    }
    store.setView(conversationId, view);
    store.setUnread(conversationId, unreadCount);
    const isMoved = isPlacedOtherwise(view, known.view);
    // Its place in the list may be further down.
    if (isMoved && store.hasViews && !view.hidden) this.sync();
    else if (store.openId === conversationId) this.#bringOpen();
    else if (view.hidden) store.removeConversation(conversationId);
  }

  /** An unknown conversation: in the list, it starts with this message. */
  async #fetchFor(message) {
    const { conversationId } = message;
    await this.#fetches.fetch(conversationId, { isAside: false });
    if (isInMain(message)) this.#store.setPreview(conversationId, message);
    // It may have been requested because of an earlier message.
    this.#fetches.confirm(conversationId);
  }

  #left(conversationId, removedBy = null) {
    const conversation = this.#store.conversation(conversationId);
    this.#store.removeConversation(conversationId);
    if (this.#store.openId !== conversationId) return;
    this.#store.set({ openId: null, openRootId: null });
    this.#onGone(conversation, removedBy);
  }
}

function isPlacedOtherwise(view, before) {
  const { archived = false, favourite = false } = before ?? {};
  return view.archived !== archived || view.favourite !== favourite;
}
