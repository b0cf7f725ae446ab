/** Where one is stands in the address: #ada, #ada/<conversation>, #ada/<conversation>/<thread>. */

export function placeFromAddress() {
  const [userId, conversationId, rootId] = location.hash.slice(1).split("/").map(decoded);
  return { userId, conversationId: conversationId || null, rootId: rootId || null };
}

export function addressOf(...parts) {
  return `#${parts.map(encodeURIComponent).join("/")}`;
}

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
