/** Texts that are not sent, by place: a conversation or a thread. No DOM. */

export class UnsentTexts {
  #kept;
  /** A list asks for all of its conversations at every change. */
  #known = new Map();

  /** `kept` is the storage of the browser, which other tabs share, until `signal` ends that. */
  constructor(kept, { signal }) {
    this.#kept = kept;
    kept.onChange((name) => this.#known.delete(name), { signal });
  }

  /** {text, mentions, replyTo}, or null. */
  get(place) {
    const name = nameOf(place);
    if (!this.#known.has(name)) this.#known.set(name, this.#kept.get(name));
    return this.#known.get(name);
  }

  /** `written` is null if nothing is left. */
  set(place, written) {
    this.#known.set(nameOf(place), written);
    this.#kept.set(nameOf(place), written);
  }

  textIn(place) {
    return this.get(place)?.text.trim() ?? "";
  }
}

function nameOf(place) {
  return `unsent:${place}`;
}
