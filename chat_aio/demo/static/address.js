/**
 * The address contains the place: #ada, #ada/<conversation>, #ada/<conversation>/<thread>,
 * #ada/<conversation>/details, #ada/channels, #ada/threads, #ada/mentions, #ada/moderation,
 * #ada/invite/<code>. A message is #ada/<conversation>/message/<id>, a reply in a thread
 * #ada/<conversation>/<thread>/<id>. A link to share has no name in it, #/invite/<code>: its reader
 * chooses a user first.
 */

const NOWHERE = {
  ...{ conversationId: null, rootId: null, messageId: null },
  ...{ isDetails: false, elsewhere: null },
};

const LISTS = ["channels", "threads", "mentions", "moderation"];

export function placeFromAddress() {
  const [userId, first, second, third] = location.hash.slice(1).split("/").map(decoded);
  if (LISTS.includes(first)) return { ...NOWHERE, userId, elsewhere: first };
  if (first === "invite") return { ...NOWHERE, userId, elsewhere: "invite", code: second ?? "" };
  const isDetails = second === "details";
  const rootId = isDetails || second === "message" ? null : second || null;
  const place = { conversationId: first || null, rootId, messageId: third || null, isDetails };
  return { ...NOWHERE, userId, ...place };
}

export function addressOf(...parts) {
  return `#${parts.map(encodeURIComponent).join("/")}`;
}

/** The place of an address, as somebody. */
export function addressAs(userId, hash = location.hash) {
  const [, ...place] = hash.slice(1).split("/");
  return [addressOf(userId), ...place].join("/");
}

/** A place of this page that a link given to others leads to, as somebody; null: it leads away. */
export function addressOfLink(href, userId) {
  const { href: here } = new URL(addressOf(""), location.href);
  return href.startsWith(`${here}/`) ? addressAs(userId, new URL(href).hash) : null;
}

/** Where a message is, for others, complete. */
export function linkTo({ id, conversationId, threadRootMessageId, alsoSendToMain }) {
  const place = threadRootMessageId && !alsoSendToMain ? threadRootMessageId : "message";
  return new URL(addressOf("", conversationId, place, id), location.href).href;
}

/** Where a conversation is, for others, complete. */
export function linkToConversation(id) {
  return new URL(addressOf("", id), location.href).href;
}

/** The conversation that such a link leads to, as a whole; null: it leads elsewhere. */
export function conversationOfLink(href) {
  const before = linkToConversation("");
  const id = href.startsWith(before) ? href.slice(before.length) : "";
  return id && !id.includes("/") && !LISTS.includes(id) ? decoded(id) : null;
}

/** What an admin gives to others, complete. */
export function inviteLinkOf(code) {
  return new URL(addressOf("", "invite", code), location.href).href;
}

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
