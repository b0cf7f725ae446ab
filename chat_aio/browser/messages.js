/** Properties of a message that follow from it alone. No DOM. */

const EXCERPT_LENGTH = 140;

/**
 * Whether it is in the main list: thread replies do only when they were sent there too.
 *
 * @param {{threadRootMessageId?: string | null, alsoSendToMain?: boolean}} message
 */
export function isInMain({ threadRootMessageId, alsoSendToMain }) {
  return !threadRootMessageId || Boolean(alsoSendToMain);
}

/** The root of the thread for an answer to a message: replies of a thread are answered there. */
export function threadIdOf({ id, threadSummary, threadRootMessageId }) {
  return threadSummary ? id : (threadRootMessageId ?? id);
}

/** The images of messages, in order: {key, message, attachment}. */
export function imagesIn(messages) {
  return messages.filter(({ deletedAt }) => !deletedAt).flatMap(imagesOf);
}

/** One file may be in several messages: it was forwarded. */
export function imageKeyOf(message, attachment) {
  return `${message.id}:${attachment.id}`;
}

function imagesOf(message) {
  const images = (message.attachments ?? []).filter((attachment) => attachment.hasThumbnail);
  return images.map((image) => {
    return { key: imageKeyOf(message, image), message, attachment: image };
  });
}

/** Whether its text is only that of its files' names: a message needs a text. */
export function isNamedAfterFiles({ body, attachments = [] }) {
  return attachments.length > 0 && body === namesOf(attachments);
}

/** The text of a message that has files and no words. */
export function namesOf(attachments) {
  return attachments.map((attachment) => attachment.name).join(", ");
}

/** Its preview in a reply, as the service makes it. */
export function previewOf({ id, senderId, body, deletedAt }) {
  const points = [...body];
  const isLong = points.length > EXCERPT_LENGTH;
  const excerpt = isLong ? `${points.slice(0, EXCERPT_LENGTH).join("")}…` : body;
  return { id, senderId, excerpt: deletedAt ? "" : excerpt, deleted: Boolean(deletedAt) };
}

/** Whether `message` is older than `known`, like an answer that an event has overtaken. */
export function isOlderState(message, known) {
  if (known.deletedAt) return !message.deletedAt;
  if (message.deletedAt) return false;
  const [edited, before] = [known.editedAt ?? "", message.editedAt ?? ""];
  if (edited !== before) return edited > before;
  return (known.metadataVersion ?? 0) > (message.metadataVersion ?? 0);
}

/** The later summary of two states of a root: its count never falls. */
export function laterSummary({ threadSummary: known }, { threadSummary: given }) {
  return (known?.replyCount ?? 0) >= (given?.replyCount ?? 0) ? (known ?? null) : given;
}

/**
 * The summary with one more reply, unless that is counted already.
 *
 * Times do not fall while seqs rise, so a later reply is a new one. Replies that were written
 * together have one time: the service's summary has all of them, one that was counted here
 * (`countedSeq`) those up to that seq.
 */
export function withReply(summary, { createdAt, seq }) {
  const { replyCount = 0, lastReplyAt = "", countedSeq = 0 } = summary ?? {};
  const isOfSameTime = createdAt === lastReplyAt && countedSeq > 0 && seq > countedSeq;
  if (createdAt <= lastReplyAt && !isOfSameTime) return summary;
  return { replyCount: replyCount + 1, lastReplyAt: createdAt, countedSeq: seq };
}
