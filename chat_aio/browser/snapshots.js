/** The visible state, as values that stay the same object while they do not change. No DOM. */

export class Snapshots {
  #named = new Map();
  /** By their data, as long as that exists. */
  #ofLists = new WeakMap();
  #turn = 0;

  /** From now on they are rebuilt when they are read. */
  outdate() {
    this.#turn += 1;
  }

  /**
   * The value under a key, a name or the list that it shows; `make()` makes it, and may leave out
   * nothing it had before.
   */
  get(key, make) {
    const values = typeof key === "string" ? this.#named : this.#ofLists;
    const held = values.get(key);
    if (held?.turn === this.#turn) return held.value;
    const value = held ? settled(held.value, make()) : frozen(make());
    values.set(key, { turn: this.#turn, value });
    return value;
  }

  /** Drop all values: nothing is shown any more. */
  clear() {
    this.#named = new Map();
    this.#ofLists = new WeakMap();
  }
}

/** The value before if the one after is equal; otherwise the new one, with the unchanged lists. */
function settled(before, after) {
  if (isSame(before, after)) return before;
  if (Array.isArray(after)) return frozen(after);
  const kept = Object.entries(after).map(([name, value]) => {
    return [name, isSame(before[name], value) ? before[name] : value];
  });
  return frozen(Object.fromEntries(kept));
}

function isSame(before, after) {
  if (Object.is(before, after)) return true;
  if (Array.isArray(before) && Array.isArray(after)) return areSame(before, after);
  if (!isPlain(before) || !isPlain(after)) return false;
  return areSame(Object.keys(before), Object.keys(after)) && haveSame(before, after);
}

function haveSame(before, after) {
  const areLists = (name) => Array.isArray(before[name]) && Array.isArray(after[name]);
  return Object.keys(after).every((name) =>
    areLists(name)
      ? areSame(before[name], after[name])
      : Object.is(before[name], after[name]),
  );
}

function areSame(before, after) {
  return before.length === after.length && after.every((part, at) => Object.is(part, before[at]));
}

function isPlain(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Shown values must not be changed. */
function frozen(value) {
  for (const part of Object.values(value)) if (Array.isArray(part)) Object.freeze(part);
  return Object.freeze(value);
}
