/** Which rows a timeline has: history, days, the line above what is unread, messages. No DOM. */

import { dayKeyOf, dayOf, momentOf, timeOf } from "../times.js";

const GROUP_MS = 5 * 60_000;

/** Rows as {kind, key, state}. */
export function rowsOf(store, people, timeline, outbox) {
  const conversation = store.open;
  const messages = timeline.isLoaded ? timeline.messages : [];
  const entries = [...messages, ...outbox.map((each) => draftAsMessage(each, store.userId))];
  const title = people.titleOf(conversation);
  const isDirect = conversation.type === "direct";
  const rows = [historyRow(timeline, isDirect ? `your conversation with ${title}` : title)];
  const isFirstUnread = (each) => Boolean(each?.id) && each.id === timeline.firstUnreadId;
  const areApart = (first, second) => isFirstUnread(second) || !belongTogether(first, second);
  entries.forEach((message, index) => {
    const before = entries[index - 1];
    const isNewDay = !before || dayKeyOf(before.createdAt) !== dayKeyOf(message.createdAt);
    if (isNewDay) rows.push(dayRow(message.createdAt));
    if (isFirstUnread(message)) rows.push({ kind: "unread", key: "unread", state: {} });
    const state = stateOf(message, people);
    state.isHead = areApart(before, message);
    state.isTail = areApart(message, entries[index + 1]);
    state.isNamed = !isDirect && !state.isOwn;
    rows.push({ kind: "message", key: keyOf(message, store.userId), state });
  });
  return rows;
}

/** A draft keeps its row when it becomes a message. */
function keyOf({ id, senderId, clientMessageId }, userId) {
  return senderId === userId && clientMessageId ? `own:${clientMessageId}` : `message:${id}`;
}

function stateOf(message, people) {
  const { body, createdAt, senderId } = message;
  const { initials, hue } = people.pictureOfPerson(senderId);
  return {
    ...{ body, createdAt, initials, hue },
    isOwn: senderId === people.userId,
    author: people.nameOf(senderId),
    time: timeOf(createdAt),
    moment: momentOf(createdAt),
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

function belongTogether(first, second) {
  if (!first || !second || first.senderId !== second.senderId) return false;
  const isSameDay = dayKeyOf(first.createdAt) === dayKeyOf(second.createdAt);
  return isSameDay && new Date(second.createdAt) - new Date(first.createdAt) < GROUP_MS;
}

function dayRow(iso) {
  return { kind: "day", key: `day:${dayKeyOf(iso)}`, state: { words: dayOf(iso), iso } };
}

function historyRow({ loading, olderCursor, isLoaded }, title) {
  const isBeginning = isLoaded && olderCursor === null;
  const phase = loading === "failed" ? "failed" : isBeginning ? "beginning" : "loading";
  return { kind: "history", key: "history", state: { phase, title } };
}
