/** Marks around a selected text, as Ctrl+B and Ctrl+I put them there and take them away. No DOM. */

const MARKS = { b: "**", i: "*" };

/** The mark that a key puts around the selection; null for another key. */
export function markOf({ key, ctrlKey, metaKey, altKey, shiftKey }) {
  return (ctrlKey || metaKey) && !altKey && !shiftKey ? (MARKS[key.toLowerCase()] ?? null) : null;
}

/** {text, start, end}: `text` takes the place of the range from `start` to `end`; `selection` is
 * the selected range then. */
export function marked(text, [from, to], mark) {
  const chosen = text.slice(from, to);
  const [before, after] = [text.slice(0, from), text.slice(to)];
  if (endsWith(before, mark) && startsWith(after, mark)) {
    const start = from - mark.length;
    const selection = [start, start + chosen.length];
    return { text: chosen, start, end: to + mark.length, selection };
  }
  const selection = [from + mark.length, to + mark.length];
  return { text: `${mark}${chosen}${mark}`, start: from, end: to, selection };
}

function endsWith(text, mark) {
  return hasMark(/\*+$/u.exec(text)?.[0].length ?? 0, mark);
}

function startsWith(text, mark) {
  return hasMark(/^\*+/u.exec(text)?.[0].length ?? 0, mark);
}

/** Three stars are both marks. */
function hasMark(stars, mark) {
  return mark === MARKS.b ? stars >= 2 : stars === 1 || stars >= 3;
}
