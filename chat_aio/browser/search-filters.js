/** The filters in the text of a search: `from:ada in:kernel before:2026-03-01 has:file moth`. No DOM. */

const FILTER = /(?<!\S)(\p{L}+):("[^"]*"|\S+)/gu;
const DAY = /^(\d{4})-(\d{1,2})-(\d{1,2})$/u;

/**
 * {words, filters}: `filters` are those of `searchMessages`, `words` the rest of the text. A filter
 * that means nothing stays a word.
 *
 * `known.names` are the names of the filters, by their kinds ("from", "in", "before", "since",
 * "has"); `known.personOf(name)` and `known.placeOf(name)` are the ids of those with a name, or null.
 */
export function filtersIn(text, known) {
  const filters = {};
  const words = text.replace(FILTER, (written, name, value) => {
    const found = meaningOf(name.toLowerCase(), value.replaceAll('"', ""), known);
    Object.assign(filters, found);
    return found ? "" : written;
  });
  return { words, filters };
}

function meaningOf(name, value, { names, personOf, placeOf }) {
  const kind = Object.keys(names).find((key) => names[key].includes(name));
  const found = {
    from: () => ({ senderId: personOf(value) }),
    in: () => ({ conversationId: placeOf(value) }),
    before: () => ({ until: dayOf(value) }),
    since: () => ({ since: dayOf(value) }),
    has: () => ({ hasAttachments: value === "" ? null : true }),
  }[kind]?.();
  return found && Object.values(found)[0] !== null ? found : null;
}

/** When a day of the reader begins, as ISO; null for another text. */
function dayOf(text) {
  const [, year, month, day] = (DAY.exec(text) ?? []).map(Number);
  const begin = new Date(year, month - 1, day);
  const isThere = begin.getMonth() === month - 1 && begin.getDate() === day;
  return isThere ? begin.toISOString() : null;
}
