/** Texts about groups: how they are found and joined, and their size. */

import { choiceOf, say } from "../words.js";

/** Of a group with many admins, so many are named. */
const MOST_ADMINS = 3;

export const VISIBILITIES = [
  ["private", say("group.private")],
  ["public", say("group.public")],
];

export const JOIN_POLICIES = [
  ["open", say("group.open")],
  ["approval", say("group.approval")],
];

export const WRITERS = [
  ["false", say("group.allWrite")],
  ["true", say("group.adminsWrite")],
];

export const SLOW_MODES = [
  ["0", say("slowMode.off")],
  ...[10, 60, 300, 3_600].map((seconds) => [String(seconds), intervalOf(seconds)]),
];

export const HISTORIES = [
  ["all", say("group.historyAll")],
  ["since_join", say("group.historySinceJoin")],
];

/** What newcomers see, where that is not everything. */
export function historyIn({ history }) {
  return history === "since_join" ? say("group.historyIsSinceJoin") : null;
}

/** Who can write how often, to those for whom it is not as usual; null if it is. */
export function writingIn({ frozen, slowModeSeconds }) {
  if (frozen) return say("group.frozen");
  if (!slowModeSeconds) return null;
  const { unit, count } = largestUnitOf(slowModeSeconds);
  if (unit === "hours") return say("slowMode.inHours", { count });
  return unit === "minutes" ? say("slowMode.inMinutes", { count }) : say("slowMode.in", { count });
}

/** What one can do where only admins write. */
export function closedIn({ participants }, people) {
  const admins = participants.filter((member) => member.role === "admin").slice(0, MOST_ADMINS);
  if (admins.length === 0) return say("group.frozen");
  const names = choiceOf(admins.map((admin) => people.nameOf(admin.userId)));
  return say("group.frozenAsk", { names });
}

/** How long one waits between two messages. */
export function intervalOf(seconds) {
  const { unit, count } = largestUnitOf(seconds);
  if (unit === "hours") return say("slowMode.hours", { count });
  const isMinutes = unit === "minutes";
  return isMinutes ? say("slowMode.minutes", { count }) : say("slowMode.seconds", { count });
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

export function countOf(participantCount) {
  return say("group.count", { count: participantCount });
}

/** The title of a group without a name, for users who cannot see its members. */
export function nameOf({ name }) {
  return name ?? say("group.nameless");
}

export function kindOf({ visibility, joinPolicy }) {
  if (visibility === "private") return say("group.isPrivate");
  return joinPolicy === "open" ? say("group.isOpen") : say("group.isApproval");
}

/** How one comes back into a group that one leaves. */
export function wayBackTo({ visibility, joinPolicy }) {
  if (visibility !== "public") return say("members.leaveAbout");
  return joinPolicy === "open" ? say("members.leaveOpen") : say("members.leaveApproval");
}

/** Why a conversation is not there any more; `removedBy` is null where that is not known. */
export function goneFrom(conversation, removedBy, people) {
  if (!conversation || removedBy === null) return say("gone.notOpen");
  const title = people.titleOf(conversation);
  if (removedBy === people.userId) return say("gone.left", { title });
  return say("gone.removed", { name: people.nameOf(removedBy), title });
}
