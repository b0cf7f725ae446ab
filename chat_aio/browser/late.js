/** A part that is loaded when it is needed: `now` is null until then. No DOM. */

export class Late {
  now = null;
  #shell;
  #load;
  #make;
  #asked = null;

  /** `load()` imports the module, `make(module)` is called once. */
  constructor(shell, load, make) {
    this.#shell = shell;
    this.#load = load;
    this.#make = make;
  }

  /** Resolves when it is there: if it cannot be loaded, the user decides when to try again. */
  get() {
    this.#asked ??= this.#get();
    return this.#asked;
  }

  /** The same, but null if it cannot be loaded now. */
  async getIfPossible() {
    return (await this.fetch()) ? this.get() : null;
  }

  /** Load it, so that it is there when it is needed. Resolves to whether that was possible. */
  async fetch() {
    return this.#load().then(() => true, () => false);
  }

  async #get() {
    this.now = this.#make(await this.#shell.loading.part(this.#load));
    return this.now;
  }
}
