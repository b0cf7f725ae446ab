/** What went wrong, in the reader's language. */

import { hasText, language, say } from "./words.js";

/**
 * The service's own words are English, and may tell more than its code does. In another language
 * the code is put into words; what has none is shown as the service says it.
 */
export function problemOf({ code, message, retryAfter = null }) {
  // The service cannot say how long: only the answer knows.
  if (code === "SLOW_MODE" && retryAfter) return say("slowMode.wait", { count: retryAfter });
  if (code === "INVALID_INPUT") return invalidOf(message);
  const name = `problem.${code}`;
  return language !== "en" && hasText(name) ? say(name) : message;
}

/** Which field is wrong, and why, is said for whoever writes programs. */
function invalidOf(message) {
  const words = say("refused.invalid");
  return language === "en" ? `${words} (${message})` : words;
}

/** Of a ban the service speaks as of anybody's; who wants to come in is told what to do. */
export function joinProblemOf(error, inviter = null) {
  if (error.code !== "CONVERSATION_BANNED") return problemOf(error);
  return inviter ? say("invite.banned", { name: inviter }) : say("roomBans.refused");
}
