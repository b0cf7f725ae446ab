/** The rows of a timeline: history, days, the line above unread messages, messages. No DOM. */

import { unreadKey } from "../unread-line.js";
import { dayKeyOf } from "../times.js";
import { happeningWords } from "./happening-words.js";

const GROUP_MS = 5 * 60_000;
/** One array for all, so that a row without any does not seem changed. */
const NONE = [];
/** The texts of messages' times, by language: a render needs those of all loaded messages. */
const saidTimes = new WeakMap();

/**
 * Rows of the open conversation's main list, as {kind, key, state}. `receipts` has the receipts of
 * own messages.
 */
export function mainRows(texts, store, people, receipts) {
  const conversation = store.open;
  const timeline = store.timeline(conversation.id);
  const { firstId: firstUnreadId, count: unreadCount } = timeline.unread;
  const isDirect = conversation.type === "direct";
  const rows = [historyRow(timeline, beginningOf(texts, people.titleOf(conversation), isDirect))];
  const entries = entriesOf(timeline, draftsOf(store));
  const standingOf = receipts.standingIn(conversation);
  const happenings = store.happenings.in(conversation.id);
  const options = { isNamed: !isDirect, firstUnreadId, unreadCount, standingOf, happenings };
  rows.push(...happeningsBefore(texts, timeline, happenings, people), ...rowsOf(texts, entries, people, options));
  return [...rows, ...endRow(timeline), ...writingRows(store, people, null)];
}

/** The events before the first message, if the list is loaded to its beginning. */
function happeningsBefore(texts, { isReady, older, messages }, happenings, people) {
  if (!isReady || older !== null) return [];
  // New members do not know the earlier messages of a group.
  const known = happenings.filter(({ userIds = [] }) => !userIds.includes(people.userId));
  return between(texts, known, 0, messages[0]?.seq ?? Infinity, people);
}

/** Rows of the open thread: its root, then the replies. */
export function threadRows(texts, store, people, receipts) {
  const { root, timeline } = store.openThread;
  const entries = entriesOf(timeline, draftsOf(store, timeline.rootId));
  const count = Math.max(root?.threadSummary?.replyCount ?? 0, entries.length);
  const words = count === 0 ? texts.say("thread.noReplies") : texts.say("thread.replies", { count });
  const standingOf = receipts.standingIn(store.open);
  const options = { isNamed: true, isInThread: true, standingOf };
  return [
    ...(root ? rowsOf(texts, [root], people, options) : []),
    historyRow(timeline, words),
    ...rowsOf(texts, entries, people, { ...options, root }),
    ...endRow(timeline),
    ...writingRows(store, people, timeline.rootId),
  ];
}

function beginningOf(texts, title, isDirect) {
  return isDirect ? texts.say("timeline.beginningWith", { title }) : texts.say("timeline.beginning", { title });
}

/** The pending messages of the open conversation's main list, or of a thread of it. */
export function draftsOf(store, rootId = null) {
  const isThere = ({ threadRootMessageId = null, alsoSendToMain }) =>
    threadRootMessageId === rootId || (rootId === null && alsoSendToMain);
  return store.outbox
    .filter((draft) => draft.conversationId === store.openId && isThere(draft))
    .map((draft) => draftAsMessage(draft, store.userId));
}

/** What assistants are writing in the open conversation's main list, or in a thread of it. */
function writingRows(store, people, rootId) {
  const { open, writings } = store;
  const isHere = (draft) =>
    draft.conversationId === open.id &&
    (draft.threadRootMessageId ?? null) === rootId &&
    draft.text;
  return writings.filter(isHere).map((draft) => {
    const isAsked = [null, store.userId].includes(draft.askedByUserId);
    const state = {
      ...people.pictureOfPerson(draft.senderId),
      ...{ draft, author: people.nameOf(draft.senderId) },
      isNamed: open.type !== "direct",
      isMine: isAsked || (open.type === "group" && people.isAdminOf(open)),
    };
    return { kind: "draft", key: `draft:${draft.draftId}`, state };
  });
}

/** Pending messages are shown after the newest message. */
function entriesOf(timeline, drafts) {
  return [...(timeline.isReady ? timeline.messages : []), ...(timeline.newer ? [] : drafts)];
}

/** `root` is the message above the rows, whose day is shown there. */
function rowsOf(texts, entries, people, options) {
  const { firstUnreadId, unreadCount, isNamed, isInThread = false, root = null } = options;
  const { standingOf, happenings = NONE } = options;
  const rows = [];
  const isFirstUnread = (message) => Boolean(message?.id) && message.id === firstUnreadId;
  const areApart = (first, second) => isFirstUnread(second) || !belongTogether(texts, first, second);
  entries.forEach((message, index) => {
    const before = entries[index - 1];
    if (isNewDay(texts, before ?? root, message)) rows.push(dayRow(texts, message.createdAt));
    if (isFirstUnread(message)) {
      rows.push({ kind: "unread", key: unreadKey(firstUnreadId), state: { count: unreadCount } });
    }
    const state = stateOf(texts, message, people, isInThread);
    state.isHead = areApart(before, message);
    state.isTail = areApart(message, entries[index + 1]);
    state.isNamed = isNamed && !state.isOwn;
    if (state.isOwn && message.id !== null) Object.assign(state, standingOf(message));
    rows.push({ kind: "message", key: keyOf(message, people.userId), state });
    const next = entries[index + 1]?.seq ?? Infinity;
    if (message.seq !== undefined) rows.push(...between(texts, happenings, message.seq, next, people));
  });
  return rows;
}

/** What happened behind a message, and before the next one. */
function between(texts, happenings, seq, next, people) {
  return happenings
    .filter(({ afterSeq }) => afterSeq >= seq && afterSeq < next)
    .map((happening) => {
      const state = { words: happeningWords(texts, happening, people) };
      return { kind: "happening", key: `happening:${happening.key}`, state };
    });
}

/** A draft keeps its row when it becomes a message. */
function keyOf({ id, senderId, clientMessageId }, userId) {
  return senderId === userId && clientMessageId ? `own:${clientMessageId}` : `message:${id}`;
}

function stateOf(texts, message, people, isInThread) {
  const { body, createdAt, senderId, mentions = NONE } = message;
  return {
    ...people.pictureOfPerson(senderId),
    ...{ body, createdAt, mentions, isInThread },
    message: message.id === null ? null : message,
    mentionsMe: mentions.includes(people.userId) && !message.deletedAt,
    replyTo: message.replyTo ?? null,
    reactions: message.reactions ?? NONE,
    // The files of a pending message cannot be read yet.
    attachments: (message.id !== null && message.attachments) || NONE,
    forwardedFrom: message.forwardedFrom ?? null,
    threadRootMessageId: message.threadRootMessageId ?? null,
    alsoSendToMain: Boolean(message.alsoSendToMain),
    threadSummary: isInThread ? null : (message.threadSummary ?? null),
    // The text about the newest reply depends on it.
    today: dayKeyOf(Date.now()),
    isOwn: senderId === people.userId,
    author: people.nameOf(senderId),
    ...{ mark: null, count: 0, all: 0, isDirect: false },
    ...saidOf(texts, message),
    isEdited: Boolean(message.editedAt) && !message.deletedAt,
    isDeleted: Boolean(message.deletedAt),
    sending: message.sending ?? null,
    problem: message.problem ?? null,
    clientMessageId: message.clientMessageId,
  };
}

function draftAsMessage({ state, ...draft }, userId) {
  return { ...draft, id: null, senderId: userId, sending: state };
}

function belongTogether(texts, first, second) {
  if (!first || !second || first.senderId !== second.senderId) return false;
  const [one, other] = [first, second].map((message) => timesOf(texts, message));
  return one.dayKey === other.dayKey && other.at - one.at < GROUP_MS;
}

function isNewDay(texts, before, message) {
  return !before || timesOf(texts, before).dayKey !== timesOf(texts, message).dayKey;
}

function saidOf(texts, message) {
  const { time, moment } = timesOf(texts, message);
  return { time, moment };
}

function timesOf(texts, message) {
  const { createdAt } = message;
  const known = saidTimes.get(texts)?.get(message);
  if (known) return known;
  const said = { time: texts.timeOf(createdAt), moment: texts.momentOf(createdAt) };
  const times = { ...said, at: Date.parse(createdAt), dayKey: dayKeyOf(createdAt) };
  if (!saidTimes.has(texts)) saidTimes.set(texts, new WeakMap());
  saidTimes.get(texts).set(message, times);
  return times;
}

function dayRow(texts, iso) {
  return { kind: "day", key: `day:${dayKeyOf(iso)}`, state: { words: texts.dayOf(iso), iso } };
}

function historyRow({ failed, problem: error, older, isLoaded, isAsking }, beginning) {
  const isBeginning = isLoaded && older === null;
  const hasFailed = failed !== null && failed !== "newer";
  const problem = isAsking ? "retrying" : "failed";
  const phase = hasFailed ? problem : isBeginning ? "beginning" : "loading";
  return { kind: "history", key: "history", state: { phase, beginning, error } };
}

/** Below the newest message that is held, where there are others. */
function endRow({ failed, problem: error, newer, isReady, isAsking }) {
  if (newer === null || !isReady) return [];
  const problem = isAsking ? "retrying" : "failed";
  const phase = failed === "newer" ? problem : "loading";
  return [{ kind: "history", key: "end", state: { phase, beginning: "", error } }];
}
