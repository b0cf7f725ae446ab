/** What a message's buttons do. */

import { isInMain, threadIdOf } from "../messages.js";
import { Part } from "./part.js";

export class MessageTools extends Part {
  #changes;
  #needs;
  #acts;

  /**
   * `needs.find(messageId, rootId)` shows a message, `needs.composer(isThread)` is the composer; the
   * others are for MessageActs.
   */
  constructor(shell, changes, needs) {
    super(shell);
    this.#changes = changes;
    this.#needs = needs;
    const load = () => import("./message-acts.js");
    this.#acts = shell.late(load, ({ MessageActs }) => new MessageActs(shell, changes, needs));
  }

  /** Handlers for the rows of the main list, or of the thread. */
  forRows(isThread) {
    const composer = () => this.#needs.composer(isThread);
    const toggle = (message, emoji) => this.#toggleReaction(message, emoji, composer());
    return {
      ...{ shell: this.shell, isThread },
      complain: (error) => composer().complain(this.texts.problemOf(error)),
      toggleReaction: toggle,
      react: (message, button) =>
        this.#pick(button, this.say("message.react"), (emoji) => toggle(message, emoji)),
      reply: (message) => composer().reply(message),
      answerInThread: (message) => this.#openThread(message, threadIdOf(message)),
      openThread: (message) => this.#openThread(message, message.id),
      openOuterThread: (message) => this.#openThread(message, message.threadRootMessageId),
      // Of a deleted message there are former versions.
      hasMenu: ({ deletedAt }) => !deletedAt || this.people.isModerator,
      more: async (message, button) => (await this.#acts.get()).menu(button, message, composer),
      jump: (message) => this.#jump(message, isThread),
      look: async (message, attachment) => (await this.#acts.get()).look(message, attachment, isThread),
    };
  }

  pickEmoji(button, choose) {
    this.#pick(button, this.say("emoji.title"), choose);
  }

  /** Ask whether to delete a message. */
  async remove(message) {
    (await this.#acts.get()).remove(message);
  }

  /** One's own last message of a list, if it is there. */
  editLast(timeline) {
    const isMine = (message) => message.senderId === this.people.userId && !message.deletedAt;
    const last = timeline?.messages.findLast(isMine);
    if (last) this.#needs.composer(timeline.rootId !== null).edit(last);
  }

  show() {
    this.#acts.now?.show();
  }

  async #pick(button, label, choose) {
    const [acts] = await Promise.all([this.#acts.get(), this.shell.emoji.get()]);
    acts.pick(button, label, choose);
  }

  async #toggleReaction(message, emoji, composer) {
    const { conversationId, id } = message;
    composer.complain("");
    try {
      await this.#changes.toggleReaction(this.store.message(conversationId, id) ?? message, emoji);
    } catch (error) {
      composer.complain(this.texts.problemOf(error));
    }
  }

  #openThread({ conversationId }, rootId) {
    this.shell.places.go(conversationId, rootId);
  }

  /** Go to the quoted message: in the thread if it is there, else in the main list. */
  #jump({ replyToMessageId: id, conversationId, threadRootMessageId: rootId }, isThread) {
    const parent = this.store.message(conversationId, id);
    const isInThread = parent ? [parent.id, parent.threadRootMessageId].includes(rootId) : isThread;
    if (isThread && isInThread) this.#needs.find(id, rootId);
    else if (!parent || isInMain(parent)) this.#needs.find(id, null);
    else {
      this.#openThread(parent, parent.threadRootMessageId);
      this.#needs.find(id, parent.threadRootMessageId);
    }
  }
}
