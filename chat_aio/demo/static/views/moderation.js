/** The moderators' screen: reports, held messages and bans. */

import { setText } from "../../../browser/dom.js";
import { numberOf } from "../words.js";
import { BanDialog, BansSection } from "./bans.js";
import { ContextDialog } from "./context.js";
import { HeldSection } from "./held.js";
import { ReportsSection } from "./reports.js";
import { StandingDialog } from "./standing.js";

export class ModerationScreen {
  #screen = document.querySelector("#moderation");
  #badge = document.querySelector("#waiting");
  #reports;
  #held;
  #bans;
  #casework;
  #store;

  constructor(casework, desk, store, people) {
    this.#casework = casework;
    this.#store = store;
    const ban = (userId) => banning.open(userId);
    const standing = new StandingDialog(desk, people, { ban });
    const look = (userId) => standing.open(userId);
    const context = new ContextDialog(desk, people, look);
    const banning = new BanDialog(people, async (given) => {
      await casework.ban(given);
      standing.load();
    });
    this.#reports = new ReportsSection(casework, people, {
      context: (messageId) => context.open(messageId),
      standing: look,
    });
    this.#held = new HeldSection(casework, store, people, look);
    this.#bans = new BansSection(casework, people, ban);
    for (const { node } of [this.#reports, this.#held, this.#bans]) {
      node.querySelector("h3").ariaLevel = "2";
      this.#screen.querySelector(".screen-body").append(node);
    }
    this.#screen.querySelector(".refresh").addEventListener("click", () => this.open());
  }

  open() {
    for (const list of [this.#reports, this.#held, this.#bans]) list.complain("");
    this.#casework.reload();
  }

  focus() {
    this.#screen.querySelector("h1").focus();
  }

  show() {
    const { count, hasMore } = this.#casework.open;
    this.#badge.hidden = count === 0;
    setText(this.#badge.firstElementChild, `${numberOf(count)}${hasMore ? "+" : ""}`);
    if (this.#store.elsewhere !== "moderation") return;
    for (const list of [this.#reports, this.#held, this.#bans]) list.show();
  }
}
