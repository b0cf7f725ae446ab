/** Removing all messages of somebody: counted, confirmed, and followed to the end. */

import { element, setText } from "../dom.js";
import { Removals } from "../removals.js";
import { Section, smallButton } from "./section.js";

export class RemovalsSection {
  #words = element("p", { class: "terms", role: "status" });
  #bar = element("progress", { "aria-label": "Messages removed" });
  #count = smallButton("Remove all messages of this user", () => this.#run("count"));
  #confirm = smallButton("", () => this.#run("remove"), { class: "primary danger small" });
  #stop = smallButton("Stop", () => this.stop());
  #section;
  #removals = null;
  #desk;

  constructor(desk) {
    this.#desk = desk;
    const buttons = element("div", { class: "ending" }, this.#stop, this.#count, this.#confirm);
    this.#section = new Section("Messages", [], this.#words, this.#bar, buttons);
    this.node = this.#section.node;
  }

  open(userId) {
    this.#section.complain("");
    this.#removals = new Removals(this.#desk, userId, () => this.#show());
    this.#show();
  }

  stop() {
    this.#removals?.stop();
  }

  async #run(act) {
    const removals = this.#removals;
    await this.#section.explain(() => {
      const isOver = removals[act]();
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
    setText(this.#words, wordsOf(this.#removals));
    this.#bar.hidden = state !== "removing";
    this.#bar.max = Math.max(counted, removed, 1);
    this.#bar.value = removed;
    this.#stop.hidden = !isRunning;
    this.#count.hidden = isRunning || state === "counted" || state === "stopped";
    this.#confirm.hidden = !(state === "stopped" || (state === "counted" && counted > 0));
    setText(this.#confirm, state === "stopped" ? "Go on" : `Remove ${messages(counted)}`);
  }
}

function wordsOf({ state, counted, removed }) {
  if (state === "counting") return `Counting… ${counted}`;
  if (state === "counted") {
    return counted > 0 ? `${messages(counted)} in all conversations.` : "There are no messages.";
  }
  if (state === "removing") return `Removing… ${removed} of ${counted}`;
  if (state === "stopped") return `Stopped: ${removed} of ${counted} removed.`;
  return state === "done" ? `Done: ${messages(removed)} removed.` : "";
}

function messages(count) {
  return count === 1 ? "1 message" : `${count} messages`;
}
