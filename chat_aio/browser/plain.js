/** A message as one line of plain text, for all previews. No DOM. */

import { inlineOf } from "./inline.js";
import { blocksOf } from "./markup.js";

/** More than a preview has room for. */
const MOST_READ = 500;
const MOST_KEPT = 1_000;
/** A list shows many messages at each change. */
const known = new Map();

/** A text without its markup, in one line; only its beginning, unless `isWhole`. */
export function plainOf(body, { isWhole = false } = {}) {
  const text = isWhole || body.length <= MOST_READ ? body : `${body.slice(0, MOST_READ)}…`;
  if (isWhole) return made(text);
  if (known.size >= MOST_KEPT) known.clear();
  if (!known.has(text)) known.set(text, made(text));
  return known.get(text);
}

function made(text) {
  return blocksOf(text).map(wordsIn).join(" ").replace(/\s+/gu, " ").trim();
}

function wordsIn({ kind, text, items }) {
  if (kind === "code") return text;
  if (kind !== "list") return unmarked(text);
  return items.map((item) => `${numbered(item)}${unmarked(item.text)}`).join(" ");
}

function unmarked(text) {
  return inlineOf(text, []).map((piece) => piece.text).join("");
}

function numbered({ number }) {
  return number === null ? "" : `${number}. `;
}
