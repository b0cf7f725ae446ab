/** Files that are to be sent with the next message of a place, and their way up. No DOM. */

import { problemOf } from "./problems.js";

const MOST = 10;

export class Uploads {
  #chat;
  #changed;
  /** By place, a conversation or a thread: {key, name, size, sent, problem, attachment}. */
  #files = new Map();
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

  remove(place, key) {
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
      const { name, size } = attachment;
      return { key: ++this.#count, name, size, sent: 1, attachment };
    });
    this.#set(place, [...this.in(place), ...files].slice(0, MOST));
  }

  async #upload(place, conversationId, file) {
    const key = ++this.#count;
    const { name, size } = file;
    this.#set(place, [...this.in(place), { key, name, size, sent: 0 }]);
    const put = (fields) => {
      const next = this.in(place).map((each) => (each.key === key ? { ...each, ...fields } : each));
      this.#set(place, next);
    };
    try {
      const onProgress = (sent) => put({ sent });
      const attachment = await this.#chat.attachments.upload(conversationId, file, { onProgress });
      put({ sent: 1, attachment });
    } catch (error) {
      put({ problem: problemOf(error) });
    }
  }

  #set(place, files) {
    this.#files.set(place, files);
    this.#changed();
  }
}
