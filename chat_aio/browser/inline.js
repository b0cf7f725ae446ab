/**
 * The parts of a line of a message: links, code, bold, italics, mentions. No DOM.
 *
 * The pattern reads a text once, from left to right, and never starts again within the text it has
 * read: a hostile text takes no longer than any other.
 */

import { piecesOf } from "./mentions.js";

const CODE = /(?<fence>`{1,3})(?<code>[^`\n]+)\k<fence>/u;
/** Without characters that change the direction of writing: an address is shown as it is. */
const LINK =
  /(?:https?:\/\/|www\.(?=[\p{L}\p{N}-]+\.[\p{L}\p{N}]))[^\s<>"`\u202a-\u202e\u2066-\u2069]+/u;
/** It does not start within a word, and is bounded: a long text is not read again and again. */
const MAILBOX = /(?<![\p{L}\p{N}.+@-])[a-z0-9][a-z0-9.+_-]{0,63}/u;
const HOST = /(?:[a-z0-9-]{1,63}\.){1,4}[a-z]{2,63}(?![\p{L}\p{N}@-])/u;
const MAIL = new RegExp(`${MAILBOX.source}@${HOST.source}`, "u");
const STYLE = /(?<run>\*+|_+)/u;
const MARK = new RegExp(
  `${CODE.source}|(?<link>${LINK.source})|(?<mail>${MAIL.source})|${STYLE.source}|\\n`,
  "giu",
);
const STYLES = { "*": "isItalic", "**": "isBold", _: "isItalic" };
const WORD = /[\p{L}\p{N}]/u;
const SPACE = /\s/u;
const LOOSE_END = /[.,;:!?'*_~…]/u;
const BRACKETS = { ")": "(", "]": "[", "}": "{" };

/**
 * The pieces of a text: {text, isBold, isItalic}, and what else they may be: `isCode`, `href`, or
 * `userId` of one of `people` ({id, name}).
 */
export function inlineOf(text, people) {
  const pieces = [];
  const depth = { isBold: 0, isItalic: 0 };
  const add = (piece) =>
    pieces.push({ ...piece, isBold: depth.isBold > 0, isItalic: depth.isItalic > 0 });
  let end = 0;
  const addUpTo = (place) => {
    if (place > end) piecesOf(text.slice(end, place), people).forEach(add);
  };
  for (const mark of marksOf(text)) {
    addUpTo(mark.start);
    end = mark.end;
    if (mark.piece) add(mark.piece);
    else depth[mark.style] += mark.step;
  }
  addUpTo(text.length);
  return pieces;
}

/** Where code and links are, and where bold and italics begin and end. */
function marksOf(text) {
  const marks = [];
  let open = {};
  for (const { index: start, 0: written, groups } of text.matchAll(MARK)) {
    if (groups.code) {
      const piece = { text: groups.code, isCode: true };
      marks.push({ start, end: start + written.length, piece });
    } else if (groups.link) {
      const piece = linkOf(text, written, start);
      const end = start + (piece?.text.length ?? 0);
      if (piece) marks.push({ start, end, piece });
      // A link in bold: what ends that was read as the end of the address.
      const run = piece && /^[*_]+/u.exec(text.slice(end, start + written.length))?.[0];
      if (run) addStyles(marks, open, { text, run, start: end });
    } else if (groups.mail) {
      const piece = { text: written, href: `mailto:${written}` };
      marks.push({ start, end: start + written.length, piece });
    } else if (groups.run) {
      addStyles(marks, open, { text, run: groups.run, start });
    } else {
      open = {};
    }
  }
  return marks.sort((first, second) => first.start - second.start);
}

/** A run of stars or underscores starts or ends a style if it is at a word's edge. */
function addStyles(marks, open, { text, run, start }) {
  const before = text[start - 1] ?? " ";
  const after = text[start + run.length] ?? " ";
  const begins = !SPACE.test(after) && !WORD.test(before);
  const ends = !SPACE.test(before) && !WORD.test(after);
  let place = start;
  for (const name of namesIn(run, open)) {
    const mark = { start: place, end: place + name.length, style: STYLES[name] };
    const first = open[name];
    place = mark.end;
    if (ends && first && first.end < mark.start) {
      marks.push({ ...first, step: 1 }, { ...mark, step: -1 });
      for (const key of Object.keys(open)) if (open[key].start >= first.start) delete open[key];
    } else if (begins) {
      open[name] = mark;
    }
  }
}

/** Three stars are bold and italics: the last style to start ends first. */
function namesIn(run, open) {
  if (run !== "***") return run in STYLES ? [run] : [];
  const isItalicInner = (open["*"]?.start ?? -1) > (open["**"]?.start ?? -1);
  return isItalicInner ? ["*", "**"] : ["**", "*"];
}

/** A web address without the punctuation behind it; null for other text. */
function linkOf(text, written, start) {
  if (WORD.test(text[start - 1] ?? "")) return null;
  const unopened = unopenedIn(written);
  let end = written.length;
  for (; end > 0; end -= 1) {
    const last = written[end - 1];
    if (unopened[last] > 0) unopened[last] -= 1;
    else if (!LOOSE_END.test(last)) break;
  }
  const shown = written.slice(0, end);
  const href = /^www\./iu.test(shown) ? `https://${shown}` : shown;
  return URL.canParse(href) ? { text: shown, href } : null;
}

/** The number of closing brackets without an opening one, by bracket. */
function unopenedIn(text) {
  const counts = {};
  for (const [close, begin] of Object.entries(BRACKETS)) {
    counts[close] = text.split(close).length - text.split(begin).length;
  }
  return counts;
}
