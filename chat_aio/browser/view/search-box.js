/** The search box above the list, and the key for the palette: both are there before the search. */

import { element, setText } from "../dom.js";
import { icon, iconButton } from "./icons.js";
import { Part } from "./part.js";

export class SearchBox extends Part {
  input = element("input", {
    ...{ id: "query", type: "search", dir: "auto", maxlength: 2048, autocomplete: "off" },
    ...{ "aria-label": this.say("search.label"), placeholder: this.say("search.label") },
    ...{ enterkeyhint: "search", title: this.say("search.filters") },
  });
  close = iconButton("cross", this.say("search.close"), { id: "search-close", hidden: true });
  scope = element("input", { id: "scope", type: "checkbox" });
  #scopeWords = element("span");
  #finding;
  /** The text since Ctrl+K, while the palette is being loaded. */
  #typed = null;
  #label = element(
    "label",
    { id: "scope-label", class: "check", hidden: true },
    ...[this.scope, " ", this.#scopeWords],
  );
  form;
  /** The results, in place of the list. */
  panel = element("section", {
    ...{ id: "results", class: "list", "aria-label": this.say("search.results"), hidden: true },
  });
  /** It begins a search in the open conversation. */
  opener;
  nodes;

  /** `finding` loads the search. */
  constructor(shell, finding) {
    super(shell);
    this.#finding = finding;
    const { signal } = shell;
    document.addEventListener("keydown", (event) => this.#pressedAnywhere(event), { signal });
    const box = element("div", { class: "search-box" }, icon("search"), this.input, this.close);
    const fields = { id: "search", class: "search", role: "search" };
    this.form = element("form", fields, box, this.#label);
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      finding.get();
    });
    const onclick = async () => (await finding.get()).search.open();
    this.opener = iconButton("search", this.say("search.here"), { id: "search-here", onclick });
    this.nodes = [this.form, this.panel];
  }

  /** Whether one can search in the open conversation alone. */
  showScope(isOffered) {
    const { open } = this.store;
    this.#label.hidden = !open || !isOffered;
    if (open) setText(this.#scopeWords, this.say("search.onlyIn", { title: this.people.titleOf(open) }));
  }

  /** Ctrl+K. */
  async #pressedAnywhere(event) {
    const isMeant = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k";
    if (!isMeant || event.altKey || event.shiftKey || !this.#isFor(event)) return this.#type(event);
    event.preventDefault();
    if (this.#typed !== null) return;
    this.#typed = "";
    await this.#finding.fetch();
    const typed = this.#typed;
    this.#typed = null;
    (await this.#finding.get()).palette.open(typed);
  }

  /** A key that is meant for the palette, if that is being loaded. */
  #type(event) {
    if (this.#typed === null) return;
    const { key, ctrlKey, metaKey, altKey } = event;
    if (ctrlKey || metaKey || altKey || (key.length > 1 && key !== "Backspace")) return;
    event.preventDefault();
    this.#typed = key === "Backspace" ? this.#typed.slice(0, -1) : this.#typed + key;
  }

  /** Of several chats in a page, the one with the focus is meant, or the first visible one. */
  #isFor(event) {
    const { root } = this.shell;
    const path = event.composedPath();
    const isInAnother = path.some((node) => node.localName === "chat-aio") && !path.includes(root);
    return !event.defaultPrevented && !isInAnother && root.checkVisibility();
  }
}
