/** The menu of a message, its dialogs, emoji and images. */

import { imagesIn, isInMain } from "../messages.js";
import { DeleteDialog, ForwardDialog } from "./dialogs.js";
import { EmojiPicker } from "./emoji-picker.js";
import { Gallery } from "./gallery.js";
import { Part } from "./part.js";
import { mayPinIn } from "./pins.js";
import { Menu } from "./popovers.js";
import { ReadersDialog } from "./readers.js";
import { Toast } from "./toast.js";
import { VersionsDialog } from "./versions.js";

export class MessageActs extends Part {
  #needs;
  #menu = new Menu(this.shell, "message-menu", this.say("message.more"));
  #picker;
  #toast = new Toast(this.shell);
  #deleting;
  #forwarding;
  #gallery;
  #readers;
  #versions;

  /**
   * `needs.reporting` loads the dialog, `needs.groups` pins, `needs.kept` is the storage of the
   * browser, `needs.readings` marks messages as unread, `needs.receipts` has the receipts of own
   * messages, `needs.desk` is the moderators'.
   */
  constructor(shell, changes, needs) {
    super(shell);
    this.#needs = needs;
    this.#picker = new EmojiPicker(this.shell, needs.kept);
    this.#gallery = new Gallery(this.shell);
    this.#readers = new ReadersDialog(this.shell, needs.receipts);
    this.#versions = new VersionsDialog(this.shell, needs.desk);
    this.#deleting = new DeleteDialog(this.shell, ({ id }) => changes.delete(id));
    this.#forwarding = new ForwardDialog(this.shell, {
      more: needs.moreConversations,
      forward: async ({ id }, conversationId, key) => {
        await changes.forward(id, conversationId, key);
        shell.places.go(conversationId);
      },
    });
  }

  menu(button, message, composer) {
    this.#menu.open(button, this.#items(message, composer));
  }

  /** `choose(emoji)` is called once, or not at all. */
  pick(button, label, choose) {
    this.#picker.open(button, label, choose);
  }

  look(message, attachment, isThread) {
    this.#gallery.open(message, attachment, () => imagesIn(this.#messages(isThread)));
  }

  /** Ask whether to delete a message. */
  remove(message) {
    this.#deleting.open(message);
  }

  show() {
    this.#forwarding.show();
    this.#gallery.show();
    this.#readers.show();
  }

  /** The loaded messages of the open conversation, or of its thread. */
  #messages(isThread) {
    const { openThread, openId } = this.store;
    if (!isThread) return openId === null ? [] : this.store.timeline(openId).messages;
    if (!openThread) return [];
    const { root, timeline } = openThread;
    return [...(root ? [root] : []), ...timeline.messages];
  }

  #items(message, composer) {
    if (message.deletedAt) return this.#looking(message);
    const edit = () => composer().edit(message);
    const remove = () => this.remove(message);
    const copy = (text) => this.#copy(text, composer());
    const items = this.#forward(message);
    const more = [
      { name: "copy", label: this.say("message.copyText"), act: () => copy(message.body) },
      ...this.#linking(message, copy),
      ...this.#unreading(message, composer),
      ...this.#pinning(message, composer),
      ...this.#looking(message),
    ];
    if (message.senderId !== this.people.userId) {
      return [...items, ...this.#report(message), ...more];
    }
    return [
      ...items,
      { name: "edit", label: this.say("message.edit"), act: edit },
      { name: "delete", label: this.say("message.delete"), act: remove },
      ...this.#reading(message),
      ...more,
    ];
  }

  #forward(message) {
    if (!this.shell.has("list")) return [];
    const act = () => this.#forwarding.open(message);
    return [{ name: "forward", label: this.say("message.forward"), act }];
  }

  #linking(message, copy) {
    const { places } = this.shell;
    if (!places.hasLinks) return [];
    const act = () => copy(places.linkToMessage(message));
    return [{ name: "link", label: this.say("message.copyLink"), act }];
  }

  #report(message) {
    if (!this.shell.has("reports")) return [];
    const act = async () => (await this.#needs.reporting.get()).openForMessage(message);
    return [{ name: "report", label: this.say("message.report"), act }];
  }

  /** Former versions, for moderators; other users do not see that there are any. */
  #looking(message) {
    const isChanged = message.editedAt || message.deletedAt;
    if (!this.people.isModerator || !isChanged) return [];
    const act = () => this.#versions.open(message);
    return [{ name: "versions", label: this.say("message.versions"), act }];
  }

  /** A reply that is only in its thread has that thread's read state. */
  #unreading(message, composer) {
    const isOpen = message.conversationId === this.store.openId;
    if (!this.shell.has("inbox") || !isInMain(message) || !isOpen) return [];
    const mark = () => this.#needs.readings.markUnread(message);
    const act = () => mark().catch((error) => composer().complain(this.texts.problemOf(error)));
    return [{ name: "unread", label: this.say("message.markUnread"), act }];
  }

  /** In a direct conversation the mark next to the time is enough. */
  #reading(message) {
    if (this.store.conversation(message.conversationId)?.type !== "group") return [];
    const act = () => this.#readers.open(message);
    return [{ name: "read", label: this.say("message.readers"), act }];
  }

  /** Pin or unpin, if the user has the right to it. */
  #pinning({ id, conversationId }, composer) {
    const conversation = this.store.conversation(conversationId);
    // Without them the service has no pins.
    if (!conversation?.pinnedMessageIds || !mayPinIn(conversation, this.people)) return [];
    const isPinned = conversation.pinnedMessageIds.includes(id);
    const { groups } = this.#needs;
    const change = () => (isPinned ? groups.unpin(conversation, id) : groups.pin(conversation, id));
    const act = () => change().catch((error) => composer().complain(this.texts.problemOf(error)));
    return [{ name: "pin", label: isPinned ? this.say("message.unpin") : this.say("message.pin"), act }];
  }

  /** Only a page that came over HTTPS, or from this machine, may write to the clipboard. */
  async #copy(text, composer) {
    try {
      await navigator.clipboard.writeText(text);
      this.#toast.show(this.say("message.copied"));
    } catch {
      composer.complain(this.say("message.notCopied"));
    }
  }
}
