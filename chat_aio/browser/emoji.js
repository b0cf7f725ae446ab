/** Finding emoji by their names, in the reader's language and in English. No DOM. */

import { english } from "./emoji/en.js";

/** A language without its own names has the English ones. */
const NAMES = { de: async () => (await import("./emoji/de.js")).german };

/** As many as are seen without scrolling. */
const MOST_FOUND = 5;
/** One letter is a face of old, as in `:D`; a time, as in 10:30, begins no name. */
const BEGUN = /(?<![\p{L}\p{N}:]):([\p{L}\p{N}_+-]{2,30})$/u;
const WHOLE = /(?<![\p{L}\p{N}:]):([\p{L}\p{N}_+-]{2,30}):$/u;
/** Code, or a name. */
const NAMED = /(`[^`]*`)|(?<![\p{L}\p{N}:]):([\p{L}\p{N}_+-]{2,30}):/gu;
/** What most reactions are, until one has chosen others. */
const USUAL = ["👍", "❤️", "😂", "🎉", "😮", "😢", "🙏", "🔥", "👀", "✅", "🚀", "💯"];

/** The emoji by their names in a language, which are understood besides the English ones. */
export class EmojiNames {
  /** All: {emoji, name, names, words}, of which `name` is shown and `names` are understood. */
  all;

  /** `own` are the names in the language. */
  constructor(own = english) {
    this.all = allEmoji(own);
  }

  /**
   * Those a query can mean: first the one with this name, then those with a name that begins so, the
   * shortest first, then those with such a word.
   */
  matching(query) {
    const wanted = query.trim().toLowerCase().replaceAll(" ", "_");
    const lengthOf = ({ emoji, names }) =>
      emoji === query.trim() ? 0 : shortestOf(names.filter((name) => name.startsWith(wanted)));
    const isMeant = ({ words }) =>
      words.some((word) => word.split("_").some((part) => part.startsWith(wanted)));
    const named = this.all.filter((entry) => lengthOf(entry) < Infinity);
    named.sort((first, second) => lengthOf(first) - lengthOf(second));
    return [...named, ...this.all.filter((entry) => isMeant(entry) && !named.includes(entry))];
  }

  /** A text with emoji in place of their names, `:name:`, but not in code. */
  written(text) {
    return text.replace(NAMED, (whole, code, name) => {
      if (code) return whole;
      return this.all.find(({ names }) => names.includes(name.toLowerCase()))?.emoji ?? whole;
    });
  }

  /** The name that is being written in front of the caret: {start, found}, or null. */
  begunAt(text, caret) {
    const begun = BEGUN.exec(text.slice(Math.max(0, caret - 40), caret));
    if (!begun) return null;
    const found = this.matching(begun[1]).slice(0, MOST_FOUND);
    return { start: caret - begun[0].length, found };
  }

  /** The emoji whose whole name, `:name:`, ends at the caret: {start, emoji}, or null. */
  namedAt(text, caret) {
    const written = WHOLE.exec(text.slice(Math.max(0, caret - 40), caret));
    const meant = written && this.all.find(({ names }) => names.includes(written[1].toLowerCase()));
    return meant ? { start: caret - written[0].length, emoji: meant.emoji } : null;
  }
}

export async function emojiIn(language) {
  return new EmojiNames(await NAMES[language]?.());
}

function shortestOf(names) {
  return Math.min(...names.map((name) => name.length));
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

function allEmoji(text) {
  const own = new Map(linesOf(text));
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
