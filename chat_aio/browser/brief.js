/** Messages in one line. No DOM. */

import { isNamedAfterFiles } from "./messages.js";
import { plainOf } from "./plain.js";

/** A message that is not deleted: its text without markup, or its files. */
export function briefOf(texts, message) {
  return isNamedAfterFiles(message) ? filesIn(texts, message.attachments) : plainOf(message.body);
}

/** The last message of a conversation, as its row shows it: in a group, and an own one, with its
 * sender. */
export function rowTextOf(texts, people, { type }, message) {
  const { senderId, deletedAt } = message;
  const text = deletedAt ? texts.say("list.deleted") : briefOf(texts, message);
  const isOwn = senderId === people.userId;
  if (type === "direct" && !isOwn) return text;
  return texts.say("list.preview", { isOwn, name: people.nameOf(senderId), text });
}

/** That these users are typing; without any an empty text. */
export function typingWords(texts, names) {
  if (names.length === 0) return "";
  if (names.length > 2) return texts.say("typing.several");
  return texts.say("typing.names", { count: names.length, names: texts.listOf(names) });
}

function filesIn({ say }, attachments) {
  const { length: count } = attachments;
  if (attachments.every((attachment) => attachment.hasThumbnail)) {
    return say("files.photos", { count });
  }
  return count === 1 ? attachments[0].name : say("files.count", { count });
}
