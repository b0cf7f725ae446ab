/** Mentions in a text: `@` and a name. No DOM. */

const BEFORE = String.raw`(?<![\p{L}\p{N}_])`;
const BEHIND = String.raw`(?![\p{L}\p{N}_])`;
const MOST_BEGUN = 40;

/** By the array of people: a message is read in hundreds of pieces, and may mention 256. */
const PATTERNS = new WeakMap();

/** The mention that is being written in front of the caret, behind its `sign`: {start, query}, or
 * null. */
export function begunAt(text, caret, sign = "@") {
  const written = new RegExp(`${BEFORE}${sign}([^${sign}\\n]{0,${MOST_BEGUN}})$`, "u");
  const begun = written.exec(text.slice(0, caret));
  return begun && { start: begun.index, query: begun[1] };
}

/** The `people` ({id, name}) whose name, or a later word of it, starts with the given text. */
export function matching(people, query) {
  const wanted = folded(query);
  const isMeant = ({ name }) =>
    [name, ...name.split(/\s+/u)].some((word) => folded(word).startsWith(wanted));
  return people.filter(isMeant);
}

/**
 * The users whom a written name can mean: the `chosen` one, else the only one of `people` with it.
 * With the id null it means nobody: of several, none was chosen.
 */
export function nameable(chosen, people) {
  const byName = new Map();
  for (const { id, name } of people) {
    byName.set(folded(name), { id: byName.has(folded(name)) ? null : id, name });
  }
  for (const person of chosen) byName.set(folded(person.name), person);
  return [...byName.values()];
}

/** `text` in pieces {text, userId}: those with a user id mention one of `people`. */
export function piecesOf(text, people) {
  if (people.length === 0 || !text.includes("@")) return [{ text, userId: null }];
  if (!PATTERNS.has(people)) PATTERNS.set(people, patternOf(people));
  const { ids, written } = PATTERNS.get(people);
  const pieces = [];
  let end = 0;
  for (const { index, 0: found, 1: name } of text.matchAll(written)) {
    if (index > end) pieces.push({ text: text.slice(end, index), userId: null });
    pieces.push({ text: found, userId: ids.get(folded(name)) ?? null });
    end = index + found.length;
  }
  if (end < text.length) pieces.push({ text: text.slice(end), userId: null });
  return pieces;
}

function patternOf(people) {
  const ids = new Map(people.map(({ id, name }) => [folded(name), id]));
  // A name may be the beginning of another one.
  const names = people.map(({ name }) => name).sort((one, other) => other.length - one.length);
  const any = names.map(escaped).join("|");
  return { ids, written: new RegExp(`${BEFORE}@(${any})${BEHIND}`, "giu") };
}

/** The ids of those of `people` who are mentioned in `text`. */
export function mentionedIn(text, people) {
  const ids = piecesOf(text, people).map(({ userId }) => userId);
  return [...new Set(ids.filter((id) => id !== null))];
}

/** The ids of the `people` whom `text` does not name: after an edit they are still mentioned. */
export function unnamedIn(text, people) {
  const named = mentionedIn(text, people);
  return people.map(({ id }) => id).filter((id) => !named.includes(id));
}

function folded(text) {
  return text.normalize("NFKC").toLowerCase();
}

function escaped(name) {
  // No hyphen: escaped, it would be no pattern.
  return name.replace(/[\\^$.*+?()[\]{}|/]/gu, String.raw`\$&`);
}
