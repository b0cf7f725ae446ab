/** What one can do with messages, in a conversation and in a thread of it. */

import { mentionedIn, unnamedIn } from "../mentions.js";
import { momentsIn, problemIn, sayingIn, sizesIn } from "./words.js";

export class Acts {
  #store;
  #common;

  /**
   * `needs` are openThread(entry), remove(entry), moved(), which is called on scrolling, `sources`
   * of files, and `uploads`, null where none can be sent.
   */
  constructor(store, { words, lang }, needs) {
    this.#store = store;
    this.say = sayingIn(lang, words);
    this.problemOf = problemIn(this.say);
    this.#common = {
      ...{ store, say: this.say, problemOf: this.problemOf, moments: momentsIn(lang) },
      sizeOf: sizesIn(lang),
      nameOf: (id) => (id === store.userId ? this.say("you") : store.user(id).name),
      retry: (key) => store.retry(key),
      discard: (key) => store.discard(key),
      save: (entry, body) => this.#save(entry, body),
      delete: ({ id }) => store.delete(id),
      typed: (place, text) => store.typed(store.state().openId, text),
      ...needs,
    };
  }

  /** `composer()` is where one answers. */
  forMain(composer) {
    const store = this.#store;
    const openId = () => store.state().openId;
    return {
      ...this.#forMessages(composer, () => store.timeline(openId()).messages),
      isInThread: false,
      older: () => store.loadOlder(openId()),
      send: (id, written) => store.send(id, written),
    };
  }

  forThread(composer) {
    const store = this.#store;
    const openId = () => store.state().openId;
    return {
      ...this.#forMessages(composer, () => store.thread()?.messages ?? []),
      isInThread: true,
      older: () => store.loadOlderReplies(),
      send: (rootId, written) =>
        store.send(openId(), { ...written, threadRootMessageId: rootId }),
    };
  }

  #forMessages(composer, read) {
    const complain = (error) => composer().complain(this.problemOf(error));
    const isEditable = (entry) => entry.isOwn && entry.state === "sent" && !entry.deletedAt;
    return {
      ...this.#common,
      react: (entry, emoji) => this.#store.react(entry, emoji).catch(complain),
      complain,
      reply: (entry) => composer().reply(entry),
      edit: (entry) => composer().edit(entry),
      last: () => read().findLast(isEditable),
    };
  }

  /** Users named in the text are mentioned; earlier mentions without a name stay. */
  #save({ id, body: before, mentions }, body) {
    const people = mentions.map((userId) => this.#store.user(userId));
    const kept = [...unnamedIn(before, people), ...mentionedIn(body, people)];
    return this.#store.edit(id, body, kept);
  }
}
