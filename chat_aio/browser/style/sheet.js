/**
 * The look of a chat, as sheets that all chats of a page share. They are in their final order from
 * the start; a module of a style fills its own when it is imported.
 */

const NAMES = [
  ...["people", "frame", "list", "dialogs", "conversation", "message", "panels", "groups"],
  ...["moderation", "live", "touch"],
];

export const sheets = Object.fromEntries(NAMES.map((name) => [name, new CSSStyleSheet()]));

export function dress(name, style) {
  sheets[name].replaceSync(style);
}
