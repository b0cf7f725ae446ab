/** Readable file sizes. No DOM. */

const MOST_POWER = 3;

/** A size in bytes, in a few characters: a `value` of 1000 to the `power`, with `digits` digits. */
export function measured(bytes) {
  const power = Math.min(MOST_POWER, Math.floor(Math.log10(Math.max(bytes, 1)) / 3));
  const value = bytes / 1000 ** power;
  return { value, power, digits: value < 10 && power > 0 ? 1 : 0 };
}
