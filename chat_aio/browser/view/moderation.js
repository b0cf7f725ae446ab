/** The moderators' screen: reports, held messages and bans. */

import { ModerationQueue } from "../moderation-queue.js";
import { BanDialog, BansSection } from "./bans.js";
import { ContextDialog } from "./context.js";
import { HeldSection } from "./held.js";
import { Part } from "./part.js";
import { ReportsSection } from "./reports.js";
import { Screen } from "./screen.js";
import { StandingDialog } from "./standing.js";

export class ModerationScreen extends Part {
  #screen = new Screen(this.shell, "moderation", {
    ...{ title: this.say("moderation.title"), refresh: () => this.open() },
  });
  node = this.#screen.node;
  #reports;
  #held;
  #bans;
  #casework;
  #badge;
  screens = { moderation: this };

  /** `badge(words)` is shown where one goes here. */
  constructor(shell, chat, badge) {
    super(shell);
    const desk = chat.moderationTools;
    const casework = new ModerationQueue(chat, this.store);
    this.#casework = casework;
    this.#badge = badge;
    const ban = (userId) => banning.open(userId);
    const standing = new StandingDialog(this.shell, desk, { ban });
    const look = (userId) => standing.open(userId);
    const context = new ContextDialog(this.shell, desk, look);
    const banning = new BanDialog(this.shell, async (given) => {
      await casework.ban(given);
      standing.load();
    });
    this.#reports = new ReportsSection(this.shell, casework, {
      context: (messageId) => context.open(messageId),
      standing: look,
    });
    this.#held = new HeldSection(this.shell, casework, look);
    this.#bans = new BansSection(this.shell, casework, ban);
    for (const { node } of [this.#reports, this.#held, this.#bans]) {
      node.querySelector("h3").ariaLevel = shell.isPage ? "2" : "3";
      this.#screen.append(node);
    }
    if (this.people.isModerator) this.outdated();
  }

  /** Whether a message is being released: errors may then be its sender's. */
  get isReleasing() {
    return this.#casework.isReleasing;
  }

  /** There may be new reports. */
  outdated() {
    this.#casework.outdated();
  }

  open() {
    for (const list of [this.#reports, this.#held, this.#bans]) list.complain("");
    this.#casework.reload();
  }

  focus() {
    this.#screen.focus();
  }

  show() {
    const { count, hasMore } = this.#casework.open;
    this.#badge(count === 0 ? "" : `${this.texts.numberOf(count)}${hasMore ? "+" : ""}`);
    if (this.store.elsewhere !== "moderation") return;
    for (const list of [this.#reports, this.#held, this.#bans]) list.show();
  }
}
