/** What a conversation is called. */

export function titleOf({ name, others }, say) {
  return name ?? (others.map((each) => each.name).join(", ") || say("nobody"));
}
