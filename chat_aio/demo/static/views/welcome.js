/** The first screen: the choice of the user. */

import { addressAs } from "../address.js";
import { avatar, element, setAvatar } from "../../../browser/dom.js";

export function showWelcome(people) {
  const choices = people.all.filter((person) => !person.bot);
  const links = choices.map(({ id, name }) => {
    const picture = avatar();
    setAvatar(picture, people.pictureOfPerson(id));
    return element("li", {}, element("a", { class: "choice", href: addressAs(id) }, picture, name));
  });
  document.querySelector("#people").replaceChildren(...links);
  document.querySelector("#welcome").hidden = false;
}
