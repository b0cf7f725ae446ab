/** A list in pages, which is fetched again when it may have changed. No DOM. */


const ITEMS_PER_PAGE = 20;
const MOST_AT_ONCE = 200;

export class Paged {
  items = [];
  nextCursor = null;
  isLoaded = false;
  isLoading = false;
  problem = null;

  #load;
  #keyOf;
  #changed;
  #asked = 0;
  /** Whether the running request reloads the list, and another one follows it. */
  #isAnew = false;
  #isMoreWanted = false;

  /**
   * `load({limit, cursor})` resolves to {items, nextCursor}, `keyOf(item)` identifies items, and
   * `changed()` is called when there is something new to show.
   */
  constructor({ load, keyOf, changed }) {
    this.#load = load;
    this.#keyOf = keyOf;
    this.#changed = changed;
  }

  /** From the start; the loaded part is shown until the answer arrives. */
  reload() {
    return this.#ask(null);
  }

  /** As far as it is shown; more that is on its way follows. */
  refresh() {
    this.#isMoreWanted ||= this.isLoading && !this.#isAnew;
    return this.#ask(null, Math.max(ITEMS_PER_PAGE, Math.min(this.items.length, MOST_AT_ONCE)));
  }

  /** Requested during a reload of the list, it follows that. */
  async more() {
    if (this.isLoading) this.#isMoreWanted ||= this.#isAnew;
    else if (this.nextCursor) await this.#ask(this.nextCursor);
  }

  /** Put an item first. */
  add(item) {
    this.#replaceAll([item, ...this.#others(item)]);
  }

  /** Take an item's new state. */
  replace(item) {
    const key = this.#keyOf(item);
    this.#replaceAll(this.items.map((shown) => (this.#keyOf(shown) === key ? item : shown)));
  }

  drop(item) {
    this.#replaceAll(this.#others(item));
  }

  /** An answer requested before the change may not contain it: fetch again. */
  #replaceAll(items) {
    this.#show({ items });
    if (this.isLoading) this.reload();
  }

  /** Answers may arrive out of order: only the one to the last request counts. */
  async #ask(cursor, limit = ITEMS_PER_PAGE) {
    this.#asked += 1;
    const asked = this.#asked;
    this.#isAnew = cursor === null;
    this.#show({ isLoading: true, problem: null });
    try {
      const { items, nextCursor } = await this.#load({ limit, cursor });
      if (asked !== this.#asked) return;
      const held = cursor ? this.items : [];
      this.#show({ items: this.#joined(held, items), nextCursor, isLoaded: true });
    } catch (error) {
      if (asked === this.#asked) this.#show({ problem: error });
    } finally {
      if (asked === this.#asked) this.#show({ isLoading: false });
    }
    if (asked !== this.#asked || !this.#isMoreWanted) return;
    this.#isMoreWanted = false;
    await this.more();
  }

  /** An item that has moved down in the meantime arrives again: it is shown once. */
  #joined(held, items) {
    const keys = new Set(held.map(this.#keyOf));
    return [...held, ...items.filter((item) => !keys.has(this.#keyOf(item)))];
  }

  #others(item) {
    const key = this.#keyOf(item);
    return this.items.filter((listed) => this.#keyOf(listed) !== key);
  }

  #show(fields) {
    Object.assign(this, fields);
    this.#changed();
  }
}
