/** Which messages of somebody are meant: of one conversation, of a span of time, with some words. */

import { element } from "../dom.js";
import { field } from "./dialog.js";
import { Part } from "./part.js";

const MOST_WORDS = 200;
const SUGGESTIONS = "narrowing-conversations";

export class Narrowing extends Part {
  #suggestions = element("datalist", { id: SUGGESTIONS });
  #conversation = element("input", { list: SUGGESTIONS, autocomplete: "off", maxlength: 256 });
  #since = element("input", { type: "datetime-local" });
  #until = element("input", { type: "datetime-local" });
  #contains = element("input", { maxlength: MOST_WORDS });
  #fields = element("fieldset", { class: "narrowing" });

  /** `changed()` is called when something else is meant. */
  constructor(shell, changed) {
    super(shell);
    this.#fields.append(
      field(this.say("narrowing.conversation"), this.#conversation),
      field(this.say("narrowing.contains"), this.#contains),
      field(this.say("narrowing.since"), this.#since),
      field(this.say("bans.until"), this.#until),
    );
    this.#fields.addEventListener("input", changed);
    const summary = element("summary", {}, this.say("narrowing.title"));
    this.node = element("details", {}, summary, this.#fields, this.#suggestions);
  }

  /** As the service expects it; times are in the user's time zone. */
  get given() {
    const given = {
      conversationId: this.#conversation.value.trim(),
      contains: this.#contains.value.trim(),
      since: momentFrom(this.#since),
      until: momentFrom(this.#until),
    };
    return Object.fromEntries(Object.entries(given).filter(([, value]) => value));
  }

  clear() {
    this.node.open = false;
    for (const input of this.#fields.querySelectorAll("input")) input.value = "";
    this.suggest([]);
  }

  /** While messages are counted or removed, it stays which. */
  lock(isLocked) {
    this.#fields.disabled = isLocked;
  }

  /** `conversations` are {id, title}; any other id may be typed, of one that was left. */
  suggest(conversations) {
    const options = conversations.map(({ id, title }) => element("option", { value: id }, title));
    this.#suggestions.replaceChildren(...options);
  }
}

function momentFrom({ value }) {
  return value ? new Date(value).toISOString() : "";
}
