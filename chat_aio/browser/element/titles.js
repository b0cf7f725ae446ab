/** What a conversation is called. */

export function titleOf({ name, others }, say) {
  return name ?? (others.map((other) => other.name).join(", ") || say("nobody"));
}
