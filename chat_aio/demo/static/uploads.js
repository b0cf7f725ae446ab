/** Files that are to be sent with the next message of a place, and their way up. No DOM. */

import { problemOf } from "./problems.js";

const MOST = 10;

export class Uploads {
  #chat;
  #changed;
  /** By place, a conversation or a thread: {key, name, size, preview, sent, problem, attachment}. */
  #files = new Map();
  /** What ends an upload, by its key. */
  #running = new Map();
  /** The file behind an attachment, as long as its message may come back. */
  #sources = new WeakMap();
  #count = 0;

  /** `changed()` is called when a file is there, or has come further. */
  constructor(chat, changed) {
    this.#chat = chat;
    this.#changed = changed;
  }

  in(place) {
    return this.#files.get(place) ?? [];
  }

  /** Whether files of a place are still on their way. */
  isBusy(place) {
    return this.in(place).some((each) => !each.attachment && !each.problem);
  }

  /** Take files up, as many as a message may have. */
  add(place, conversationId, files) {
    const room = MOST - this.in(place).length;
    for (const file of [...files].slice(0, room)) this.#upload(place, conversationId, file);
  }

  /** What is still on its way goes no further. */
  remove(place, key) {
    this.#running.get(key)?.abort();
    this.#set(place, this.in(place).filter((each) => each.key !== key));
  }

  /** What has arrived, for the message that is sent now; what was refused goes, too. */
  take(place) {
    const arrived = this.in(place).map((each) => each.attachment).filter(Boolean);
    this.#set(place, []);
    return arrived;
  }

  /** What was to go with a message that did not go. */
  putBack(place, attachments) {
    const files = attachments.map((attachment) => {
      const source = this.#sources.get(attachment) ?? attachment;
      return { ...this.#shown(source), sent: 1, attachment };
    });
    this.#set(place, [...this.in(place), ...files].slice(0, MOST));
  }

  async #upload(place, conversationId, file) {
    const shown = this.#shown(file);
    const { key } = shown;
    const running = new AbortController();
    this.#running.set(key, running);
    this.#set(place, [...this.in(place), { ...shown, sent: 0 }]);
    const put = (fields) => {
      const next = this.in(place).map((each) => (each.key === key ? { ...each, ...fields } : each));
      this.#set(place, next);
    };
    try {
      const options = { onProgress: (sent) => put({ sent }), signal: running.signal };
      const attachment = await this.#chat.attachments.upload(conversationId, file, options);
      this.#sources.set(attachment, file);
      put({ sent: 1, attachment });
    } catch (error) {
      if (!running.signal.aborted) put({ problem: problemOf(error) });
    } finally {
      this.#running.delete(key);
    }
  }

  /** What is shown of a file; of an image the image itself, where the browser has it. */
  #shown(source) {
    const { name, size } = source;
    const isImage = source instanceof Blob && source.type.startsWith("image/");
    const preview = isImage ? URL.createObjectURL(source) : null;
    return { key: ++this.#count, name, size, preview };
  }

  /** The browser holds what has an address until that is revoked. */
  #set(place, files) {
    const left = new Set(files.map((each) => each.key));
    for (const { key, preview } of this.in(place)) {
      if (preview !== null && !left.has(key)) URL.revokeObjectURL(preview);
    }
    this.#files.set(place, files);
    this.#changed();
  }
}
