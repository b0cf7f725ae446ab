/** The system's own notifications, for messages that come while the page is not looked at. */

import { rowTextOf } from "../brief.js";
import { iconButton } from "./icons.js";
import { Part } from "./part.js";

const MOST_LETTERS = 140;

export class SystemNotifications extends Part {
  /** It asks whether there may be any. */
  button = iconButton("bell", this.say("notifications.ask"), { onclick: () => this.#ask() });

  constructor(shell) {
    super(shell);
    this.#show();
  }

  /** A message of somebody else has come. */
  receive(message) {
    const { conversationId, mentions = [], senderId } = message;
    const conversation = this.store.conversation(conversationId);
    const isGranted = "Notification" in window && Notification.permission === "granted";
    if (!isGranted || document.visibilityState === "visible" || !conversation) return;
    const isMeant = mentions.includes(this.store.userId);
    const isLoud = conversation.visibility === "public" && !isMeant;
    if (this.store.mutedIds.has(conversationId) || isLoud) return;
    const title = this.people.titleOf(conversation);
    const body = rowTextOf(this.texts, this.people, conversation, message);
    // One for each conversation: its newest message takes the place of the one before.
    const shown = new Notification(title, {
      ...{ body: body.slice(0, MOST_LETTERS), tag: conversationId },
      ...{ lang: this.texts.language, dir: this.texts.direction },
    });
    shown.addEventListener("click", () => {
      window.focus();
      shown.close();
      this.shell.places.goToMessage(message);
    });
  }

  async #ask() {
    await Notification.requestPermission();
    this.#show();
  }

  /** The browser asks the user once, and keeps the answer. */
  #show() {
    this.button.hidden = !("Notification" in window) || Notification.permission !== "default";
  }
}
