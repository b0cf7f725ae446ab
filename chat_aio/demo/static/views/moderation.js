/** The moderators' screen: what was reported, and who is banned. */

import { setText } from "../dom.js";
import { BanDialog, BansSection } from "./bans.js";
import { ContextDialog } from "./context.js";
import { ReportsSection } from "./reports.js";
import { StandingDialog } from "./standing.js";

export class ModerationScreen {
  #screen = document.querySelector("#moderation");
  #badge = document.querySelector("#waiting");
  #reports;
  #bans;
  #casework;
  #store;

  constructor(casework, desk, store, people) {
    this.#casework = casework;
    this.#store = store;
    const ban = (userId) => banning.open(userId);
    const standing = new StandingDialog(desk, people, { ban });
    const context = new ContextDialog(desk, people, (userId) => standing.open(userId));
    const banning = new BanDialog(people, async (given) => {
      await casework.ban(given);
      standing.load();
    });
    this.#reports = new ReportsSection(casework, people, {
      context: (messageId) => context.open(messageId),
      standing: (userId) => standing.open(userId),
    });
    this.#bans = new BansSection(casework, people, ban);
    for (const { node } of [this.#reports, this.#bans]) {
      node.querySelector("h3").ariaLevel = "2";
      this.#screen.querySelector(".screen-body").append(node);
    }
    this.#screen.querySelector(".refresh").addEventListener("click", () => this.open());
  }

  open() {
    this.#reports.complain("");
    this.#bans.complain("");
    this.#casework.reload();
  }

  focus() {
    this.#screen.querySelector("h1").focus();
  }

  show() {
    const { items, nextCursor } = this.#casework.waiting;
    this.#badge.hidden = items.length === 0;
    setText(this.#badge.firstElementChild, `${items.length}${nextCursor ? "+" : ""}`);
    if (this.#store.elsewhere !== "moderation") return;
    this.#reports.show();
    this.#bans.show();
  }
}
