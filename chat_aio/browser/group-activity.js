/**
 * The events of a group besides messages: joins, leaves, new names. It comes from
 * events alone and is not stored: a page opened later does not show it. No DOM.
 */

const MOST_KEPT = 100;

/** The changes in an event, compared with the conversation's state `before`. */
export function happeningsOf({ type, actorId, affectedUserIds = [], conversation }, before) {
  const userIds = affectedUserIds;
  if (type === "participant.added") {
    const isOwn = userIds.length === 1 && userIds[0] === actorId;
    return [{ kind: isOwn ? "joined" : "added", actorId, userIds }];
  }
  if (type === "participant.removed") {
    return [{ kind: userIds.includes(actorId) ? "left" : "removed", actorId, userIds }];
  }
  if (type !== "conversation.updated" || !before) return [];
  return changesOf(conversation, before).map((change) => ({ ...change, actorId, userIds }));
}

function changesOf(now, before) {
  const changes = [];
  const note = (field, kind, text = null) =>
    now[field] !== before[field] && changes.push({ kind, text });
  note("name", now.name ? "renamed" : "unnamed", now.name);
  note("topic", now.topic ? "topic" : "no topic", now.topic);
  note("frozen", now.frozen ? "froze" : "thawed");
  const pins = (group) => group.pinnedMessageIds ?? [];
  if (pins(now).some((id) => !pins(before).includes(id))) changes.push({ kind: "pinned" });
  return changes;
}

export class GroupActivity {
  /** By conversation: {key, afterSeq, kind, actorId, userIds, text}, in their order. */
  #known = new Map();
  #count = 0;

  in(conversationId) {
    return this.#known.get(conversationId) ?? [];
  }

  /** `afterSeq` is that of the newest message before it. */
  add(conversationId, happenings, afterSeq) {
    const more = happenings.map((happening) => ({ ...happening, afterSeq, key: ++this.#count }));
    this.#known.set(conversationId, [...this.in(conversationId), ...more].slice(-MOST_KEPT));
  }
}
