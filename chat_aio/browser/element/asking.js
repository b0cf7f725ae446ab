/** Whether one means it: a dialog over the page before a message is deleted. */

import { element, setText } from "../dom.js";

export class DeleteDialog {
  #tools;
  #entry = null;
  #from = null;
  #isBusy = false;
  #problem = element("p", { class: "problem", role: "alert" });
  node;

  /** `tools` are {say, problemOf, complain}, and delete(entry), which rejects if it is refused. */
  constructor(tools) {
    this.#tools = tools;
    const { say } = tools;
    const title = element("h2", { id: "deleting" }, say("deleting"));
    const about = element("p", {}, say("forAll"));
    const onclick = () => this.node.close();
    const cancel = element("button", { type: "button", class: "choice", onclick }, say("cancel"));
    const act = { type: "button", class: "choice danger", onclick: () => this.#act() };
    const remove = element("button", act, say("delete"));
    const acts = element("div", { class: "choices" }, cancel, remove);
    const fields = { part: "dialog", "aria-labelledby": "deleting" };
    this.node = element("dialog", fields, title, about, this.#problem, acts);
  }

  open(entry) {
    this.#entry = entry;
    this.#isBusy = false;
    this.#from = this.node.getRootNode().activeElement?.closest(".message");
    setText(this.#problem, "");
    this.node.showModal();
  }

  async #act() {
    if (this.#isBusy) return;
    this.#isBusy = true;
    const entry = this.#entry;
    const isAbout = () => this.node.open && this.#entry.id === entry.id;
    try {
      await this.#tools.delete(entry);
      if (isAbout()) this.#end();
    } catch (error) {
      if (isAbout()) this.#complain(error);
      else this.#tools.complain(error);
    }
  }

  /** Where one pressed there is nothing to press any more: the focus stays with the message. */
  #end() {
    this.node.close();
    this.#from?.focus();
  }

  #complain(error) {
    this.#isBusy = false;
    setText(this.#problem, this.#tools.problemOf(error));
  }
}
