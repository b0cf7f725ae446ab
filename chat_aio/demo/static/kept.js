/**
 * What this browser keeps for a person beyond the page. No DOM.
 *
 * A browser may refuse to keep anything, or have no room left: the page then goes on without.
 */
export class Kept {
  #userId;

  constructor(userId) {
    this.#userId = userId;
  }

  /** What was kept under a name; null if nothing was. */
  get(name) {
    try {
      return JSON.parse(localStorage.getItem(this.#keyOf(name)));
    } catch {
      return null;
    }
  }

  /** `value` is anything that JSON can have; null takes away what was kept. */
  set(name, value) {
    try {
      if (value === null) localStorage.removeItem(this.#keyOf(name));
      else localStorage.setItem(this.#keyOf(name), JSON.stringify(value));
    } catch {
      // What cannot be kept is there until the page is left.
    }
  }

  #keyOf(name) {
    return `chat:${this.#userId}:${name}`;
  }
}
