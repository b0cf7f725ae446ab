/** Finding emoji by their names, in the reader's language and in English. No DOM. */

import { german } from "./emoji/de.js";
import { english } from "./emoji/en.js";
import { language } from "./words.js";

/** A language without its own names has the English ones. */
const NAMES = { en: english, de: german };

/** As many as are seen without scrolling. */
const MOST_FOUND = 5;
/** One letter is a face of old, as in `:D`; a time, as in 10:30, begins no name. */
const BEGUN = /(?<![\p{L}\p{N}:]):([\p{L}\p{N}_+-]{2,30})$/u;
const WHOLE = /(?<![\p{L}\p{N}:]):([\p{L}\p{N}_+-]{2,30}):$/u;
/** Code, or a name. */
const NAMED = /(`[^`]*`)|(?<![\p{L}\p{N}:]):([\p{L}\p{N}_+-]{2,30}):/gu;
/** What most reactions are, until one has chosen others. */
const USUAL = ["👍", "❤️", "😂", "🎉", "😮", "😢", "🙏", "🔥", "👀", "✅", "🚀", "💯"];

/** All emoji: {emoji, name, names, words}, of which `name` is shown and `names` are understood. */
export const ALL_EMOJI = allEmoji();

/**
 * Those a query can mean: first the one with this name, then those with a name that begins so, the
 * shortest first, then those with such a word.
 */
export function matchingEmoji(query) {
  const wanted = query.trim().toLowerCase().replaceAll(" ", "_");
  const lengthOf = ({ emoji, names }) =>
    emoji === query.trim() ? 0 : shortestOf(names.filter((name) => name.startsWith(wanted)));
  const isMeant = ({ words }) =>
    words.some((word) => word.split("_").some((part) => part.startsWith(wanted)));
  const named = ALL_EMOJI.filter((entry) => lengthOf(entry) < Infinity);
  named.sort((first, second) => lengthOf(first) - lengthOf(second));
  return [...named, ...ALL_EMOJI.filter((entry) => isMeant(entry) && !named.includes(entry))];
}

/** A text with emoji in place of their names, `:name:`, but not in code. */
export function withEmoji(text) {
  return text.replace(NAMED, (written, code, name) => {
    if (code) return written;
    return ALL_EMOJI.find(({ names }) => names.includes(name.toLowerCase()))?.emoji ?? written;
  });
}

function shortestOf(names) {
  return Math.min(...names.map((name) => name.length));
}

/** The name that is being written in front of the caret: {start, found}, or null. */
export function emojiBegunAt(text, caret) {
  const begun = BEGUN.exec(text.slice(Math.max(0, caret - 40), caret));
  if (!begun) return null;
  const found = matchingEmoji(begun[1]).slice(0, MOST_FOUND);
  return { start: caret - begun[0].length, found };
}

/** The emoji whose whole name, `:name:`, ends at the caret: {start, emoji}, or null. */
export function emojiNamedAt(text, caret) {
  const written = WHOLE.exec(text.slice(Math.max(0, caret - 40), caret));
  const meant = written && ALL_EMOJI.find(({ names }) => names.includes(written[1].toLowerCase()));
  return meant ? { start: caret - written[0].length, emoji: meant.emoji } : null;
}

/** The emoji of a person that come first: those used last, then the usual ones. */
export class RecentEmoji {
  #kept;

  constructor(kept) {
    this.#kept = kept;
  }

  get all() {
    const used = this.#kept.get("emoji") ?? [];
    return [...new Set([...used, ...USUAL])].slice(0, USUAL.length);
  }

  use(emoji) {
    this.#kept.set("emoji", [...new Set([emoji, ...this.all])].slice(0, USUAL.length));
  }
}

function allEmoji() {
  const own = new Map(linesOf(NAMES[language] ?? english));
  return linesOf(english).map(([emoji, inEnglish]) => {
    const words = own.get(emoji) ?? inEnglish;
    const names = [words[0], inEnglish[0]];
    return { emoji, name: words[0], names, words: [...words, ...inEnglish] };
  });
}

function linesOf(text) {
  return text.trim().split("\n").map((line) => {
    const [emoji, ...words] = line.split(" ");
    return [emoji, words];
  });
}
