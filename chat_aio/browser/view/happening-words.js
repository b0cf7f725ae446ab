/** The texts of the events of a group. */

const wordsIn = (texts) => ({
  joined: (values) => texts.say("happening.joined", values),
  added: (values) => texts.say("happening.added", values),
  left: (values) => texts.say("happening.left", values),
  removed: (values) => texts.say("happening.removed", values),
  renamed: (values) => texts.say("happening.renamed", values),
  unnamed: (values) => texts.say("happening.unnamed", values),
  topic: (values) => texts.say("happening.topic", values),
  "no topic": (values) => texts.say("happening.noTopic", values),
  froze: (values) => texts.say("happening.froze", values),
  thawed: (values) => texts.say("happening.thawed", values),
  pinned: (values) => texts.say("happening.pinned", values),
});

export function happeningWords(texts, { kind, actorId, userIds, text }, people) {
  const isOwn = actorId === people.userId;
  const nameOf = (id) => (id === people.userId ? texts.say("happening.you") : people.nameOf(id));
  const names = texts.listOf(userIds.map(nameOf));
  return wordsIn(texts)[kind]({ isOwn, actor: people.nameOf(actorId), names, text });
}
