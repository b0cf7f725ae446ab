/** The first screen: the choice of the user. */

import { avatar, element, setAvatar } from "../../browser/dom.js";
import { People } from "../../browser/people.js";
import { addressAs } from "../../browser/places.js";
import { sheets } from "../../browser/style/sheet.js";
import "../../browser/style/people.js";

const NOBODY = { userId: null };

export function showWelcome(texts, listed) {
  document.adoptedStyleSheets = [sheets.people];
  const people = new People(NOBODY, null, texts, { listed });
  const choices = people.all.filter((person) => !person.bot);
  const links = choices.map(({ id, name }) => {
    const picture = avatar();
    setAvatar(picture, people.pictureOfPerson(id));
    return element("li", {}, element("a", { class: "choice", href: addressAs(id) }, picture, name));
  });
  document.querySelector("#people").replaceChildren(...links);
  document.querySelector("#welcome").hidden = false;
}
