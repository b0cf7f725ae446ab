/** What the page says of groups: how they are found and joined, how large they are. */

export const VISIBILITIES = [
  ["private", "Members, and people with a link"],
  ["public", "Everybody, in the channels"],
];

export const JOIN_POLICIES = [
  ["open", "Anybody can join"],
  ["approval", "Admins let people in"],
];

export const WRITERS = [
  ["false", "Everybody in it"],
  ["true", "Only admins: the group is frozen"],
];

export const SLOW_MODES = [
  ["0", "As quickly as they like"],
  ["10", "Every 10 seconds"],
  ["60", "Every minute"],
  ["300", "Every 5 minutes"],
  ["3600", "Every hour"],
];

export const HISTORIES = [
  ["all", "Everything that was ever said"],
  ["since_join", "Only what is said after they joined"],
];

/** What newcomers see, where that is not everything. */
export function historyIn({ history }) {
  return history === "since_join" ? "Newcomers see only what is said after they joined." : null;
}

/** Who can write how often, to those for whom it is not as usual; null if it is. */
export function writingIn({ frozen, slowModeSeconds }) {
  if (frozen) return "Only admins can write here.";
  if (!slowModeSeconds) return null;
  const [, words] = SLOW_MODES.find(([value]) => value === String(slowModeSeconds)) ?? [];
  return `Slow mode: one message ${(words ?? `every ${slowModeSeconds} seconds`).toLowerCase()}.`;
}

/** A private group cannot be joined from the directory: there is nothing to choose. */
export function followVisibility(visibility, joinPolicy) {
  joinPolicy.disabled = visibility.value !== "public";
}

export function countOf(participantCount) {
  return participantCount === 1 ? "1 person" : `${participantCount} people`;
}

/** A group without a name, to somebody who does not see who is in it. */
export function nameOf({ name }) {
  return name ?? "A group without a name";
}

export function kindOf({ visibility, joinPolicy }) {
  if (visibility === "private") return "A private group: people come in by a link, or are added.";
  return joinPolicy === "open"
    ? "A public channel: anybody can join."
    : "A public channel: admins let people in.";
}
