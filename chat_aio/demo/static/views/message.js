/** One message in the log. */

import { avatar, element, setAttribute, setAvatar, setText } from "../dom.js";

export class MessageRow {
  #avatar = avatar();
  #author = element("span", { class: "author" });
  #body = element("p", { class: "body", dir: "auto" });
  #time = element("time");
  #note = element("span", { class: "note" });
  #actions = element("span", { class: "failed-actions" });
  #clientMessageId = null;
  node = element(
    "div",
    { class: "message" },
    this.#avatar,
    this.#author,
    element("div", { class: "bubble" }, this.#body),
    element("div", { class: "meta" }, this.#time, this.#note, this.#actions),
  );

  constructor({ retry, discard }) {
    const about = (act) => () => act(this.#clientMessageId);
    this.#actions.append(
      element("button", { type: "button", class: "link", onclick: about(retry) }, "Retry"),
      element("button", { type: "button", class: "link", onclick: about(discard) }, "Discard"),
    );
  }

  show(state) {
    this.#clientMessageId = state.clientMessageId;
    const { dataset } = this.node;
    dataset.from = state.isOwn ? "me" : "other";
    dataset.place = `${state.isHead ? "head" : ""} ${state.isTail ? "tail" : ""}`.trim();
    dataset.state = state.isDeleted ? "deleted" : (state.sending ?? "sent");
    setAttribute(this.node, "data-named", state.isNamed);
    setAvatar(this.#avatar, { initials: state.initials, hue: state.hue, shape: "round" });
    setText(this.#author, state.isOwn ? "You" : state.author);
    setText(this.#body, state.isDeleted ? "This message was deleted" : state.body);
    setText(this.#time, state.time);
    setAttribute(this.#time, "datetime", state.createdAt);
    setAttribute(this.#time, "title", state.moment);
    setText(this.#note, noteOf(state));
    this.#actions.hidden = state.sending !== "failed";
  }
}

function noteOf({ sending, problem, isEdited }) {
  if (sending === "pending") return "Sending…";
  if (sending === "failed") return `Not sent. ${problem}`;
  return isEdited ? "edited" : "";
}
