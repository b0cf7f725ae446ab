/** Removing messages of somebody: counted, confirmed, and followed to the end. */

import { element, setText } from "../dom.js";
import { Removals } from "../removals.js";
import { Narrowing } from "./narrowing.js";
import { Part } from "./part.js";
import { Section, smallButton } from "./section.js";

export class RemovalsSection extends Part {
  #words = element("p", { class: "terms", role: "status" });
  #bar = element("progress", { "aria-label": this.say("removals.progress") });
  #narrowing = new Narrowing(this.shell, () => this.#removals?.forget());
  #count = smallButton("", () => this.#run(() => this.#removals.count(this.#narrowing.given)));
  #confirm = smallButton("", () => this.#run(() => this.#removals.remove()), {
    class: "primary danger small",
  });
  #stop = smallButton(this.say("removals.stop"), () => this.stop());
  #section;
  #removals = null;
  #desk;

  constructor(shell, desk) {
    super(shell);
    this.#desk = desk;
    const buttons = element("div", { class: "ending" }, this.#stop, this.#count, this.#confirm);
    const content = [this.#narrowing.node, this.#words, this.#bar, buttons];
    this.#section = new Section(this.shell, this.say("removals.title"), [], ...content);
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
    const { focused, isFocusLost } = this.shell;
    if (!isFocusLost && !this.node.contains(focused)) return;
    [this.#stop, this.#confirm, this.#count].find((button) => !button.hidden)?.focus();
  }

  #show() {
    const { state, counted, removed } = this.#removals;
    const isRunning = state === "counting" || state === "removing";
    const isNarrowed = Object.keys(this.#narrowing.given).length > 0;
    setText(this.#words, wordsOf(this.texts, this.#removals));
    setText(this.#count, isNarrowed ? this.say("removals.someOf") : this.say("removals.allOf"));
    this.#narrowing.lock(isRunning || state === "stopped");
    this.#bar.hidden = state !== "removing";
    this.#bar.max = Math.max(counted, removed, 1);
    this.#bar.value = removed;
    this.#stop.hidden = !isRunning;
    this.#count.hidden = isRunning || state === "counted" || state === "stopped";
    this.#confirm.hidden = !(state === "stopped" || (state === "counted" && counted > 0));
    const confirm = this.say("removals.remove", { count: counted });
    setText(this.#confirm, state === "stopped" ? this.say("removals.goOn") : confirm);
  }
}

function wordsOf(texts, { state, counted, removed, isNarrowed }) {
  if (state === "counting") return texts.say("removals.counting", { counted });
  if (state === "counted") return countedIn(texts, counted, isNarrowed);
  if (state === "removing") return texts.say("removals.removing", { removed, counted });
  if (state === "stopped") return texts.say("removals.stopped", { removed, counted });
  return state === "done" ? texts.say("removals.done", { count: removed }) : "";
}

function countedIn(texts, count, isNarrowed) {
  if (count === 0) return texts.say("removals.none");
  return isNarrowed ? texts.say("removals.someFit", { count }) : texts.say("removals.inAll", { count });
}
