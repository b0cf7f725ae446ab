/** The texts of the events of a group. */

import { listOf, say } from "../words.js";

const WORDS = {
  joined: (values) => say("happening.joined", values),
  added: (values) => say("happening.added", values),
  left: (values) => say("happening.left", values),
  removed: (values) => say("happening.removed", values),
  renamed: (values) => say("happening.renamed", values),
  unnamed: (values) => say("happening.unnamed", values),
  topic: (values) => say("happening.topic", values),
  "no topic": (values) => say("happening.noTopic", values),
  froze: (values) => say("happening.froze", values),
  thawed: (values) => say("happening.thawed", values),
  pinned: (values) => say("happening.pinned", values),
};

export function happeningWords({ kind, actorId, userIds, text }, people) {
  const isOwn = actorId === people.userId;
  const nameOf = (id) => (id === people.userId ? say("happening.you") : people.nameOf(id));
  const names = listOf(userIds.map(nameOf));
  return WORDS[kind]({ isOwn, actor: people.nameOf(actorId), names, text });
}
