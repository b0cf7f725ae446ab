/**
 * Where an element of the page gets the files of messages from: their own addresses, or, where
 * headers identify the user, addresses of their bytes, which the browser keeps until they are
 * revoked. No DOM.
 */

/** The time in which a browser must start to store the file. */
const TAKEN_MS = 60_000;

export class FileSources {
  #chat;
  /** Addresses of thumbnails, by id: promises. */
  #thumbnails = new Map();
  #held = new Set();
  /** The callbacks of failed requests. */
  #waiting = new Set();

  constructor(chat) {
    this.#chat = chat;
  }

  /** The address of a thumbnail; null if it cannot be fetched now. */
  async thumbnail(id) {
    if (!this.#thumbnails.has(id)) this.#thumbnails.set(id, this.#thumbnail(id).catch(() => null));
    const asked = this.#thumbnails.get(id);
    const address = await asked;
    const isKept = this.#thumbnails.get(id) === asked;
    if (address === null && isKept) this.#thumbnails.delete(id);
    return address;
  }

  /** `ask()` is called once, when missing data may be available. */
  whenAgain(ask) {
    this.#waiting.add(ask);
  }

  /** Call this when the service answers again, or the user has logged in. */
  tryAgain() {
    const asking = [...this.#waiting];
    this.#waiting.clear();
    for (const ask of asking) ask();
  }

  /** The address of a file; null if an element cannot fetch it. */
  async address(id) {
    const { attachments } = this.#chat;
    return (await attachments.needsHeaders()) ? null : attachments.url(id);
  }

  /** The address of its bytes, for a moment. */
  async bytes(id) {
    const address = this.#hold(await this.#chat.attachments.get(id));
    setTimeout(() => this.#revoke(address), TAKEN_MS);
    this.tryAgain();
    return address;
  }

  /** Revoke all addresses. */
  clear() {
    for (const url of [...this.#held]) this.#revoke(url);
    this.#thumbnails.clear();
    this.#waiting.clear();
  }

  async #thumbnail(id) {
    const address = await this.address(id);
    if (address !== null) {
      const url = new URL(address);
      url.pathname += "/thumbnail";
      return url.href;
    }
    const blob = await this.#chat.attachments.getThumbnail(id);
    // It may have been cleared in the meantime.
    return this.#thumbnails.has(id) ? this.#hold(blob) : null;
  }

  #hold(blob) {
    const address = URL.createObjectURL(blob);
    this.#held.add(address);
    return address;
  }

  #revoke(address) {
    this.#held.delete(address);
    URL.revokeObjectURL(address);
  }
}
