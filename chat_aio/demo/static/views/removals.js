/** Removing messages of somebody: counted, confirmed, and followed to the end. */

import { element, setText } from "../../../browser/dom.js";
import { Removals } from "../removals.js";
import { say } from "../words.js";
import { Narrowing } from "./narrowing.js";
import { Section, smallButton } from "./section.js";

export class RemovalsSection {
  #words = element("p", { class: "terms", role: "status" });
  #bar = element("progress", { "aria-label": say("removals.progress") });
  #narrowing = new Narrowing(() => this.#removals?.forget());
  #count = smallButton("", () => this.#run(() => this.#removals.count(this.#narrowing.given)));
  #confirm = smallButton("", () => this.#run(() => this.#removals.remove()), {
    class: "primary danger small",
  });
  #stop = smallButton(say("removals.stop"), () => this.stop());
  #section;
  #removals = null;
  #desk;

  constructor(desk) {
    this.#desk = desk;
    const buttons = element("div", { class: "ending" }, this.#stop, this.#count, this.#confirm);
    const content = [this.#narrowing.node, this.#words, this.#bar, buttons];
    this.#section = new Section(say("removals.title"), [], ...content);
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
    [this.#stop, this.#confirm, this.#count].find((button) => !button.hidden)?.focus();
  }

  #show() {
    const { state, counted, removed } = this.#removals;
    const isRunning = state === "counting" || state === "removing";
    const isNarrowed = Object.keys(this.#narrowing.given).length > 0;
    setText(this.#words, wordsOf(this.#removals));
    setText(this.#count, isNarrowed ? say("removals.someOf") : say("removals.allOf"));
    this.#narrowing.lock(isRunning || state === "stopped");
    this.#bar.hidden = state !== "removing";
    this.#bar.max = Math.max(counted, removed, 1);
    this.#bar.value = removed;
    this.#stop.hidden = !isRunning;
    this.#count.hidden = isRunning || state === "counted" || state === "stopped";
    this.#confirm.hidden = !(state === "stopped" || (state === "counted" && counted > 0));
    const confirm = say("removals.remove", { count: counted });
    setText(this.#confirm, state === "stopped" ? say("removals.goOn") : confirm);
  }
}

function wordsOf({ state, counted, removed, isNarrowed }) {
  if (state === "counting") return say("removals.counting", { counted });
  if (state === "counted") return countedIn(counted, isNarrowed);
  if (state === "removing") return say("removals.removing", { removed, counted });
  if (state === "stopped") return say("removals.stopped", { removed, counted });
  return state === "done" ? say("removals.done", { count: removed }) : "";
}

function countedIn(count, isNarrowed) {
  if (count === 0) return say("removals.none");
  return isNarrowed ? say("removals.someFit", { count }) : say("removals.inAll", { count });
}
