/**
 * What this browser keeps for a person beyond the page. No DOM.
 *
 * A browser may refuse to keep anything, or have no room left: the page then goes on without.
 */
export class Kept {
  #userId;
  #storage;

  /** `storage()` is the browser's, of all tabs or of this one; refused, it throws. */
  constructor(userId, storage = () => localStorage) {
    this.#userId = userId;
    this.#storage = storage;
  }

  /** What was kept under a name; null if nothing was. */
  get(name) {
    try {
      return JSON.parse(this.#storage().getItem(this.#keyOf(name)));
    } catch {
      return null;
    }
  }

  /** `value` is anything that JSON can have; null takes away what was kept. */
  set(name, value) {
    try {
      if (value === null) this.#storage().removeItem(this.#keyOf(name));
      else this.#storage().setItem(this.#keyOf(name), JSON.stringify(value));
    } catch {
      // What cannot be kept is there until the page is left.
    }
  }

  #keyOf(name) {
    return `chat:${this.#userId}:${name}`;
  }
}
