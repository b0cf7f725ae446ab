/** The visible values of conversations, of lists of messages, and of the whole. No DOM. */

import { isInMain } from "./messages.js";

const MOST_NAMED = 12;

export function shownState(store) {
  const { status, openId, openRootId, isListed, isBanned, nextCursor, listProblem } = store;
  return {
    ...{ status, openId, openThreadId: openRootId, isListed, isBanned, unread: store.totalUnread },
    ...{ hasMore: Boolean(nextCursor), problem: listProblem?.message ?? null },
    problemCode: listProblem?.code ?? null,
  };
}

/** `userOf(id)` is the known data of a user. */
export function shownConversation(store, id, userOf) {
  const known = store.conversation(id);
  const { type, name, participants, lastMessage, createdAt, metadata } = known;
  return {
    ...{ id, type, name, participants, metadata, lastMessage: lastMessage ?? null },
    others: namedOf(participants, store.userId).map(userOf),
    unread: store.unreadOf(known),
    unreadMentions: known.unreadMentions ?? 0,
    at: lastMessage?.createdAt ?? createdAt,
    isMuted: store.mutedIds.has(id),
    isFrozen: Boolean(known.frozen),
    view: known.view,
  };
}

/** `list` are the messages of a conversation's main list, `entries` their rows. */
export function shownTimeline(store, id, { list, typingIds, ...known }) {
  const isHere = (message) => message.conversationId === id && isInMain(message);
  return {
    ...{ conversationId: id, ...shownList(store, list, { ...known, isHere }) },
    firstUnreadId: list.unread.firstId,
    typing: typingIds().map(known.userOf),
  };
}

export function shownThread(store, { rootId, conversationId, root, timeline, isGone }, known) {
  const isHere = (message) => message.threadRootMessageId === rootId;
  const [shownRoot = null] = known.entries.of(root ? [root] : [], []);
  const above = shownRoot ? [shownRoot] : [];
  return {
    ...{ rootId, conversationId, root: shownRoot, isGone },
    ...shownList(store, timeline, { ...known, isHere, above }),
  };
}

/**
 * The common part of main lists and threads. `isHere` selects the pending messages that belong
 * there, `above` are the entries above its messages.
 */
function shownList(store, timeline, { entries, userOf, isHere, above = [] }) {
  const { isReady, isAsking, failed, messages, older } = timeline;
  const shown = entries.of(isReady ? messages : [], store.outbox.filter(isHere));
  return {
    messages: shown,
    people: idsIn([...above, ...shown]).map(userOf),
    isLoaded: isReady,
    isLoading: isAsking,
    hasFailed: failed !== null,
    hasOlder: isReady && Boolean(older),
    writing: store.writings.filter(isHere),
  };
}

/** The users named in messages. */
function idsIn(messages) {
  const ids = messages.flatMap(({ senderId, mentions, replyTo }) => [
    senderId,
    ...mentions,
    ...(replyTo ? [replyTo.senderId] : []),
  ]);
  return [...new Set(ids)];
}

function namedOf(participants, ownId) {
  const others = [];
  for (const { userId } of participants) {
    if (userId !== ownId) others.push(userId);
    if (others.length === MOST_NAMED) break;
  }
  return others;
}
