/** Texts about groups: how they are found and joined, and their size. */

/** Of a group with many admins, so many are named. */
const MOST_ADMINS = 3;

export const visibilitiesIn = (texts) => [
  ["private", texts.say("group.private")],
  ["public", texts.say("group.public")],
];

export const joinPoliciesIn = (texts) => [
  ["open", texts.say("group.open")],
  ["approval", texts.say("group.approval")],
];

export const writersIn = (texts) => [
  ["false", texts.say("group.allWrite")],
  ["true", texts.say("group.adminsWrite")],
];

export const slowModesIn = (texts) => [
  ["0", texts.say("slowMode.off")],
  ...[10, 60, 300, 3_600].map((seconds) => [String(seconds), intervalOf(texts, seconds)]),
];

export const historiesIn = (texts) => [
  ["all", texts.say("group.historyAll")],
  ["since_join", texts.say("group.historySinceJoin")],
];

/** What newcomers see, where that is not everything. */
export function historyIn(texts, { history }) {
  return history === "since_join" ? texts.say("group.historyIsSinceJoin") : null;
}

/** Who can write how often, to those for whom it is not as usual; null if it is. */
export function writingIn(texts, { frozen, slowModeSeconds }) {
  if (frozen) return texts.say("group.frozen");
  if (!slowModeSeconds) return null;
  const { unit, count } = largestUnitOf(slowModeSeconds);
  if (unit === "hours") return texts.say("slowMode.inHours", { count });
  return unit === "minutes" ? texts.say("slowMode.inMinutes", { count }) : texts.say("slowMode.in", { count });
}

/** What one can do where only admins write. */
export function closedIn(texts, { participants }, people) {
  const admins = participants.filter((member) => member.role === "admin").slice(0, MOST_ADMINS);
  if (admins.length === 0) return texts.say("group.frozen");
  const names = texts.choiceOf(admins.map((admin) => people.nameOf(admin.userId)));
  return texts.say("group.frozenAsk", { names });
}

/** How long one waits between two messages. */
export function intervalOf(texts, seconds) {
  const { unit, count } = largestUnitOf(seconds);
  if (unit === "hours") return texts.say("slowMode.hours", { count });
  const isMinutes = unit === "minutes";
  return isMinutes ? texts.say("slowMode.minutes", { count }) : texts.say("slowMode.seconds", { count });
}

function largestUnitOf(seconds) {
  if (seconds % 3_600 === 0) return { unit: "hours", count: seconds / 3_600 };
  if (seconds % 60 === 0) return { unit: "minutes", count: seconds / 60 };
  return { unit: "seconds", count: seconds };
}

/** A private group cannot be joined from the directory: there is nothing to choose. */
export function followVisibility(visibility, joinPolicy) {
  joinPolicy.disabled = visibility.value !== "public";
}

export function countOf(texts, participantCount) {
  return texts.say("group.count", { count: participantCount });
}

/** The title of a group without a name, for users who cannot see its members. */
export function nameOf(texts, { name }) {
  return name ?? texts.say("group.nameless");
}

export function kindOf(texts, { visibility, joinPolicy }) {
  if (visibility === "private") return texts.say("group.isPrivate");
  return joinPolicy === "open" ? texts.say("group.isOpen") : texts.say("group.isApproval");
}

/** How one comes back into a group that one leaves. */
export function wayBackTo(texts, { visibility, joinPolicy }) {
  if (visibility !== "public") return texts.say("members.leaveAbout");
  return joinPolicy === "open" ? texts.say("members.leaveOpen") : texts.say("members.leaveApproval");
}
