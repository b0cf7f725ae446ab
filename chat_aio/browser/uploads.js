/** Files of the next message of a place, and their uploads. No DOM. */

import { namesOf } from "./messages.js";

const MOST = 10;

export class Uploads {
  #chat;
  #changed;
  #hasPreviews;
  /**
   * By place, a conversation or a thread: {key, name, size, preview, sent, problem, attachment},
   * `problem` with its error.
   */
  #files = new Map();
  /** The functions that end uploads, by key. */
  #running = new Map();
  /** The files of attachments, as long as their message may return to the composer. */
  #sources = new WeakMap();
  #count = 0;

  /**
   * `changed()` is called when a file was added, or its upload has progressed. `hasPreviews`:
   * whether images have an address to be shown by, which the page's policy has to allow (`img-src
   * blob:`).
   */
  constructor(chat, changed, { hasPreviews = true } = {}) {
    this.#chat = chat;
    this.#changed = changed;
    this.#hasPreviews = hasPreviews;
  }

  in(place) {
    return this.#files.get(place) ?? [];
  }

  /** Whether files of a place are still on their way. */
  isBusy(place) {
    return this.in(place).some((upload) => !upload.attachment && !upload.problem);
  }

  /** Whether files wait to be sent anywhere; refused ones do not. */
  get hasAny() {
    return [...this.#files.values()].flat().some((upload) => !upload.problem);
  }

  /** A message needs text: if none is written, the names of its files are the text. */
  textFor(place, text) {
    if (text.trim() !== "") return text;
    return namesOf(this.in(place).map((upload) => upload.attachment).filter(Boolean));
  }

  /** Add files, up to the maximum number of a message. */
  add(place, conversationId, files) {
    const taken = [...files].slice(0, this.#roomIn(place));
    for (const file of taken) this.#upload(place, conversationId, file);
  }

  /** Running uploads are aborted. */
  remove(place, key) {
    this.#running.get(key)?.abort();
    this.#set(place, this.in(place).filter((upload) => upload.key !== key));
  }

  /** Complete uploads, for the message that is sent now; refused ones stay visible. */
  take(place) {
    const arrived = this.in(place).map((upload) => upload.attachment).filter(Boolean);
    this.#set(place, this.in(place).filter((upload) => upload.problem));
    return arrived;
  }

  /** Abort all uploads, and free the browser's memory. */
  close() {
    for (const running of this.#running.values()) running.abort();
    for (const place of [...this.#files.keys()]) this.#set(place, []);
  }

  /** The files of a message that was not sent. */
  putBack(place, attachments) {
    const files = attachments.map((attachment) => {
      const source = this.#sources.get(attachment) ?? attachment;
      return { ...this.#shown(source), sent: 1, attachment };
    });
    this.#set(place, [...this.in(place), ...files.slice(0, this.#roomIn(place))]);
  }

  /** The number of files that can still be added; refused ones do not count. */
  #roomIn(place) {
    return MOST - this.in(place).filter((upload) => !upload.problem).length;
  }

  async #upload(place, conversationId, file) {
    const shown = this.#shown(file);
    const { key } = shown;
    const running = new AbortController();
    this.#running.set(key, running);
    this.#set(place, [...this.in(place), { ...shown, sent: 0 }]);
    const put = (fields) => {
      const next = this.in(place).map((upload) =>
        upload.key === key ? { ...upload, ...fields } : upload,
      );
      this.#set(place, next);
    };
    try {
      const options = { onProgress: (sent) => put({ sent }), signal: running.signal };
      const attachment = await this.#chat.attachments.upload(conversationId, file, options);
      this.#sources.set(attachment, file);
      put({ sent: 1, attachment });
    } catch (error) {
      if (!running.signal.aborted) put({ problem: error });
    } finally {
      this.#running.delete(key);
    }
  }

  /** The preview of a file; of an image the image itself, if the browser has it. */
  #shown(source) {
    const { name, size } = source;
    const isImage = source instanceof Blob && source.type.startsWith("image/");
    const preview = isImage && this.#hasPreviews ? URL.createObjectURL(source) : null;
    return { key: ++this.#count, name, size, preview };
  }

  /** The browser keeps the bytes of an address until it is revoked. */
  #set(place, files) {
    const left = new Set(files.map((file) => file.key));
    for (const { key, preview } of this.in(place)) {
      if (preview !== null && !left.has(key)) URL.revokeObjectURL(preview);
    }
    this.#files.set(place, files);
    this.#changed();
  }
}
