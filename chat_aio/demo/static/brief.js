/** Messages in one line, in words of the page. No DOM. */

import { isNamedAfterFiles } from "../../browser/messages.js";
import { plainOf } from "../../browser/plain.js";
import { listOf, say } from "./words.js";

/** A message that is not deleted: its text without markup, or its files. */
export function briefOf(message) {
  return isNamedAfterFiles(message) ? filesIn(message.attachments) : plainOf(message.body);
}

/** That these users are typing; without any an empty text. */
export function typingWords(names) {
  if (names.length === 0) return "";
  if (names.length > 2) return say("typing.several");
  return say("typing.names", { count: names.length, names: listOf(names) });
}

function filesIn(attachments) {
  const { length: count } = attachments;
  if (attachments.every((attachment) => attachment.hasThumbnail)) return say("files.photos", { count });
  return count === 1 ? attachments[0].name : say("files.count", { count });
}
