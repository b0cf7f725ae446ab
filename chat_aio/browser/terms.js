/** The search terms of a text, and their places in it. No DOM. */

const SCRIPTS = ["Han", "Hira", "Kana", "Hang", "Thai", "Lao", "Khmr"];
const UNSPACED = `[${SCRIPTS.map((script) => `\\p{scx=${script}}`).join("")}]`;
const RUN = `(?=${UNSPACED})[\\p{L}\\p{N}]`;
const WORD = `(?!${UNSPACED})[\\p{L}\\p{N}]`;
const TERM = new RegExp([RUN, WORD].map((unit) => `${unit}(?:${unit}|\\p{M})*`).join("|"), "gu");
const IN_RUN = new RegExp(`^${RUN}`, "u");
const CHARACTER = /\P{M}\p{M}*|\p{M}+/gu;
const SHORTEST_BEGINNING = 3;
const SHOWN_BEFORE = 60;

/** `text` in pieces {text, isFound}: found are the terms of `query`, as the service matches them
 * with `prefix`, and the starts of longer words. */
export function highlighted(text, query) {
  const asked = normal(query);
  const wanted = new Set(asked.match(TERM) ?? []);
  const { normalText, places } = normalised(text);
  const pieces = [];
  let end = 0;
  for (const [from, to] of rangesOf(normalText, wanted, typedIn(asked))) {
    const start = places[from];
    const stop = places[to];
    if (start < end) continue;
    if (start > end) pieces.push({ text: text.slice(end, start), isFound: false });
    pieces.push({ text: text.slice(start, stop), isFound: true });
    end = stop;
  }
  if (end < text.length) pieces.push({ text: text.slice(end), isFound: false });
  return pieces;
}

/** The same pieces, beginning shortly before the first that is found. */
export function excerpted(pieces) {
  const [first, ...others] = pieces;
  if (!first || first.isFound || first.text.length <= SHOWN_BEFORE || others.length === 0) {
    return pieces;
  }
  const kept = first.text.slice(-SHOWN_BEFORE).replace(/^\S*\s/u, "");
  return [{ text: `…${kept}`, isFound: false }, ...others];
}

/** The last word of a query, if it may go on. */
function typedIn(query) {
  const last = query.match(TERM)?.at(-1) ?? "";
  const mayGoOn = query.endsWith(last) && !IN_RUN.test(last);
  return mayGoOn && [...last].length >= SHORTEST_BEGINNING ? last : null;
}

/** The places of the wanted terms: whole words, runs without spaces also inside of others; and
 * where longer words begin with the one that is `typed`. */
function rangesOf(text, wanted, typed) {
  const ranges = [];
  for (const { index, 0: term } of text.matchAll(TERM)) {
    if (!IN_RUN.test(term)) {
      if (wanted.has(term)) ranges.push([index, index + term.length]);
      else if (typed && term.startsWith(typed)) ranges.push([index, index + typed.length]);
      continue;
    }
    for (const run of wanted) {
      for (let at = term.indexOf(run); at >= 0; at = term.indexOf(run, at + run.length)) {
        ranges.push([index + at, index + at + run.length]);
      }
    }
  }
  return ranges.sort(([first], [second]) => first - second);
}

/** The normal form of a text, and for each unit of it (and its end) the place it comes from. */
function normalised(text) {
  let normalText = "";
  const places = [];
  for (const { index, 0: character } of text.matchAll(CHARACTER)) {
    const form = normal(character);
    for (let unit = 0; unit < form.length; unit += 1) places.push(index);
    normalText += form;
  }
  return { normalText, places: [...places, text.length] };
}

function normal(text) {
  return text.normalize("NFKC").toLowerCase();
}
