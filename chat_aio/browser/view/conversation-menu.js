/** The menu of a conversation in the list. */

import { OwnActs } from "./own-acts.js";
import { Part } from "./part.js";
import { Menu } from "./popovers.js";

export class ConversationMenu extends Part {
  #menu = new Menu(this.shell, "conversation-menu", this.say("list.menu"));
  #own;
  #complain;

  /** `session` makes changes; `complain(error)` is called when one fails. */
  constructor(shell, session, complain) {
    super(shell);
    this.#own = new OwnActs(shell, session);
    this.#complain = complain;
  }

  open(conversation, link) {
    const acts = this.#own.of(conversation);
    const items = acts.map(({ act, ...item }) => ({ ...item, act: () => act().catch(this.#complain) }));
    this.#menu.open(link, items);
  }
}
