/** Removing messages of somebody: counted, confirmed, and followed to the end. */

import { element, setText } from "../../../browser/dom.js";
import { Removals } from "../removals.js";
import { Narrowing } from "./narrowing.js";
import { Section, smallButton } from "./section.js";

export class RemovalsSection {
  #words = element("p", { class: "terms", role: "status" });
  #bar = element("progress", { "aria-label": "Messages removed" });
  #narrowing = new Narrowing(() => this.#removals?.forget());
  #count = smallButton("", () => this.#run(() => this.#removals.count(this.#narrowing.given)));
  #confirm = smallButton("", () => this.#run(() => this.#removals.remove()), {
    class: "primary danger small",
  });
  #stop = smallButton("Stop", () => this.stop());
  #section;
  #removals = null;
  #desk;

  constructor(desk) {
    this.#desk = desk;
    const buttons = element("div", { class: "ending" }, this.#stop, this.#count, this.#confirm);
    const content = [this.#narrowing.node, this.#words, this.#bar, buttons];
    this.#section = new Section("Messages", [], ...content);
    this.node = this.#section.node;
  }

  open(userId) {
    this.#section.complain("");
    this.#narrowing.clear();
    this.#removals = new Removals(this.#desk, userId, () => this.#show());
    this.#show();
  }

  /** The conversations that may be chosen, as {id, title}. */
  suggest(conversations) {
    this.#narrowing.suggest(conversations);
  }

  stop() {
    this.#removals?.stop();
  }

  async #run(act) {
    await this.#section.explain(() => {
      const isOver = act();
      this.#keepFocus();
      return isOver;
    });
    this.#keepFocus();
  }

  /** A button that is pressed is hidden then: the focus goes to what takes its place. */
  #keepFocus() {
    const { activeElement } = document;
    if (activeElement !== document.body && !this.node.contains(activeElement)) return;
    [this.#stop, this.#confirm, this.#count].find((each) => !each.hidden)?.focus();
  }

  #show() {
    const { state, counted, removed } = this.#removals;
    const isRunning = state === "counting" || state === "removing";
    const isNarrowed = Object.keys(this.#narrowing.given).length > 0;
    setText(this.#words, wordsOf(this.#removals));
    const which = isNarrowed ? "these" : "all";
    setText(this.#count, `Remove ${which} messages of this user`);
    this.#narrowing.lock(isRunning || state === "stopped");
    this.#bar.hidden = state !== "removing";
    this.#bar.max = Math.max(counted, removed, 1);
    this.#bar.value = removed;
    this.#stop.hidden = !isRunning;
    this.#count.hidden = isRunning || state === "counted" || state === "stopped";
    this.#confirm.hidden = !(state === "stopped" || (state === "counted" && counted > 0));
    setText(this.#confirm, state === "stopped" ? "Go on" : `Remove ${messages(counted)}`);
  }
}

function wordsOf({ state, counted, removed, isNarrowed }) {
  if (state === "counting") return `Counting… ${counted}`;
  if (state === "counted") {
    const where = isNarrowed ? "that fit" : "in all conversations";
    return counted > 0 ? `${messages(counted)} ${where}.` : "There are no messages.";
  }
  if (state === "removing") return `Removing… ${removed} of ${counted}`;
  if (state === "stopped") return `Stopped: ${removed} of ${counted} removed.`;
  return state === "done" ? `Done: ${messages(removed)} removed.` : "";
}

function messages(count) {
  return count === 1 ? "1 message" : `${count} messages`;
}
