/** The moderators' screen: what was reported, and who is banned. */

import { BansSection } from "./bans.js";
import { ReportsSection } from "./reports.js";

export class ModerationScreen {
  #screen = document.querySelector("#moderation");
  #reports;
  #bans;
  #casework;
  #store;

  constructor(casework, store, people) {
    this.#casework = casework;
    this.#store = store;
    this.#reports = new ReportsSection(casework, people);
    this.#bans = new BansSection(casework, people);
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
    if (this.#store.elsewhere !== "moderation") return;
    this.#reports.show();
    this.#bans.show();
  }
}
