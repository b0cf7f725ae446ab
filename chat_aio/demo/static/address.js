/**
 * Where one is stands in the address: #ada, #ada/<conversation>, #ada/<conversation>/<thread>,
 * #ada/<conversation>/details, #ada/channels, #ada/moderation, #ada/invite/<code>. A link that is
 * given to others has no name in it, #/invite/<code>: who opens it says first who that is.
 */

const NOWHERE = { conversationId: null, rootId: null, isDetails: false, elsewhere: null };

const LISTS = ["channels", "moderation"];

export function placeFromAddress() {
  const [userId, first, second] = location.hash.slice(1).split("/").map(decoded);
  if (LISTS.includes(first)) return { ...NOWHERE, userId, elsewhere: first };
  if (first === "invite") return { ...NOWHERE, userId, elsewhere: "invite", code: second ?? "" };
  const isDetails = second === "details";
  const rootId = isDetails ? null : second || null;
  return { ...NOWHERE, userId, conversationId: first || null, rootId, isDetails };
}

export function addressOf(...parts) {
  return `#${parts.map(encodeURIComponent).join("/")}`;
}

/** The place of the address, as somebody. */
export function addressAs(userId) {
  const [, ...place] = location.hash.slice(1).split("/");
  return [addressOf(userId), ...place].join("/");
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
