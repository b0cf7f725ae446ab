/** The system's own notifications, for messages that come while the page is not looked at. */

import { briefOf } from "../brief.js";
import { element } from "../../../browser/dom.js";
import { icon } from "../icons.js";
import { direction, language, say } from "../words.js";

const MOST_LETTERS = 140;

export class SystemNotifications {
  #store;
  #people;
  #go;
  #button = element(
    "button",
    {
      ...{ type: "button", class: "icon", "aria-label": say("notifications.ask") },
      ...{ title: say("notifications.ask"), onclick: () => this.#ask() },
    },
    icon("bell"),
  );

  /** `go(message)` shows a message in its place. */
  constructor(store, people, go) {
    this.#store = store;
    this.#people = people;
    this.#go = go;
    document.querySelector("#sidebar .tools").prepend(this.#button);
    this.#show();
  }

  /** A message of somebody else has come. */
  receive(message) {
    const { conversationId, mentions = [], senderId } = message;
    const conversation = this.#store.conversation(conversationId);
    const isGranted = "Notification" in window && Notification.permission === "granted";
    if (!isGranted || document.visibilityState === "visible" || !conversation) return;
    const isMeant = mentions.includes(this.#store.userId);
    const isLoud = conversation.visibility === "public" && !isMeant;
    if (this.#store.mutedIds.has(conversationId) || isLoud) return;
    const title = this.#people.titleOf(conversation);
    const text = briefOf(message);
    const said = { name: this.#people.nameOf(senderId), text };
    const body = conversation.type === "direct" ? text : say("list.preview", said);
    // One for each conversation: its newest message takes the place of the one before.
    const shown = new Notification(title, {
      ...{ body: body.slice(0, MOST_LETTERS), tag: conversationId },
      ...{ lang: language, dir: direction },
    });
    shown.addEventListener("click", () => {
      window.focus();
      shown.close();
      this.#go(message);
    });
  }

  async #ask() {
    await Notification.requestPermission();
    this.#show();
  }

  /** The browser asks the user once, and keeps the answer. */
  #show() {
    this.#button.hidden = !("Notification" in window) || Notification.permission !== "default";
  }
}
