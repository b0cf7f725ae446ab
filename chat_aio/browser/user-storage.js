/**
 * What this browser keeps for a person beyond the page. No DOM.
 *
 * A browser may refuse to keep anything, or have no room left: the page then goes on without.
 */
export class UserStorage {
  #userId;
  #storage;

  /** `storage()` is the browser's, of all tabs or of this one; refused, it throws. */
  constructor(userId, storage = () => localStorage) {
    this.#userId = userId;
    this.#storage = storage;
  }

  /** The stored value of a name; null if there is none. */
  get(name) {
    try {
      return JSON.parse(this.#storage().getItem(this.#keyOf(name)));
    } catch {
      return null;
    }
  }

  /** `value` is any JSON value; null removes the stored one. */
  set(name, value) {
    try {
      if (value === null) this.#storage().removeItem(this.#keyOf(name));
      else this.#storage().setItem(this.#keyOf(name), JSON.stringify(value));
    } catch {
      // Values that cannot be stored last until the page is closed.
    }
  }

  /** `act(name)` is called when another tab has changed the value of a name; `signal` ends that. */
  onChange(act, { signal }) {
    const before = this.#keyOf("");
    const changed = ({ key }) => key?.startsWith(before) && act(key.slice(before.length));
    addEventListener("storage", changed, { signal });
  }

  #keyOf(name) {
    return `chat:${this.#userId}:${name}`;
  }
}
