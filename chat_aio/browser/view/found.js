/** A person, a conversation or a message that was found by what one typed. */

import { briefOf } from "../brief.js";
import { avatar, element, setAvatar, setText } from "../dom.js";

/** How it is shown: {title, about, picture}; `titleIn(conversationId)` names conversations. */
export function shownOf(texts, { kind, person, conversation, message }, people, titleIn) {
  if (kind === "person") {
    const picture = people.pictureOfPerson(person.id);
    return { title: person.name, about: texts.say("palette.person"), picture };
  }
  if (kind === "conversation") {
    const picture = people.pictureOf(conversation);
    return { title: people.titleOf(conversation), about: people.subtitleOf(conversation), picture };
  }
  const place = titleIn(message.conversationId);
  const names = new Set([people.nameOf(message.senderId), place].filter(Boolean));
  const picture = people.pictureOfPerson(message.senderId);
  return { title: [...names].join(" · "), about: briefOf(texts, message), picture };
}

/** Its picture, and two lines. */
export function foundParts({ title, about, picture }) {
  const image = avatar();
  setAvatar(image, picture);
  const lines = element(
    "span",
    {},
    element("span", { class: "row-title", dir: "auto" }, title),
    " ",
    element("span", { class: "row-preview", dir: "auto" }, about),
  );
  return [image, " ", lines];
}

/** A button that leads to a person or a conversation. */
export class FoundPlaceRow {
  #found = null;
  #button;
  node;

  constructor({ go }) {
    const onclick = () => go(this.#found);
    this.#button = element("button", { type: "button", class: "row", onclick });
    this.node = element("li", {}, this.#button);
  }

  show({ found, title, about, ...picture }) {
    this.#found = found;
    setText(this.#button, "");
    this.#button.append(...foundParts({ title, about, picture }));
  }
}
