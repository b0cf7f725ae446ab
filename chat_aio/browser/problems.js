/** Errors of the service, in the reader's language. */

const OF_SENDERS = new Set([
  "CONVERSATION_FROZEN",
  "CONVERSATION_NOT_FOUND",
  "DIRECT_INTERACTION_BLOCKED",
  "FORBIDDEN_READ",
  "FORBIDDEN_WRITE",
]);

/**
 * A function that returns the text of an error. Each code has its own: the service's messages are
 * for programmers. Only a code without a text, whose message is the host's reason, is shown with
 * that message.
 */
export function problemIn(texts) {
  const { say } = texts;
  return ({ code, message, retryAfter = null, cause = null }) => {
    if (code === "UNREACHABLE" && cause?.name === "TimeoutError") return say("refused.late");
    // Only the response contains the time to wait.
    if (code === "SLOW_MODE" && retryAfter) return say("slowMode.wait", { count: retryAfter });
    if (code === "INVALID_INPUT") return say("refused.invalid");
    const name = `problem.${code}`;
    return texts.has(name) ? say(name) : message;
  };
}

/** Users who try to join a group that has banned them are addressed themselves. */
export function joinProblemOf(texts, error, inviter = null) {
  if (error.code !== "CONVERSATION_BANNED") return texts.problemOf(error);
  return inviter ? texts.say("invite.banned", { name: inviter }) : texts.say("roomBans.refused");
}

/** Errors of a release may concern the sender of the message, not the moderator. */
export function releaseProblemOf(texts, error) {
  if (error.code === "USER_BANNED") return texts.say("held.senderBanned");
  return OF_SENDERS.has(error.code) ? texts.say("held.senderRefused") : texts.problemOf(error);
}
