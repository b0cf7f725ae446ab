/** What a page shows of a conversation and of a list of messages, as plain values. No DOM. */

const MOST_NAMED = 12;

/** `userOf(id)` is what is known of a user. */
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
  };
}

/**
 * What main lists and threads have in common. `isHere` says what on its way belongs there, `above`
 * is what stands above its messages.
 */
export function shownList(store, timeline, { entries, isHere, above, userOf }) {
  const { isReady, isAsking, loading, messages, older } = timeline;
  const shown = entries.of(isReady ? messages : [], store.outbox.filter(isHere));
  return {
    messages: shown,
    people: idsIn([...above, ...shown]).map(userOf),
    isLoaded: isReady,
    isLoading: isAsking,
    hasFailed: loading === "failed",
    hasOlder: isReady && Boolean(older),
    writing: store.writings.filter(isHere),
  };
}

/** Whom messages name. */
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
