/** The page: a choice of a user, and the chat of the one that the address names. */

import { keepPage } from "../../browser/file-drops.js";
import { partsOfAddress } from "../../browser/places.js";
import { chosenTexts, showLanguages, translatePage } from "./language.js";
import { showWelcome } from "./welcome.js";

async function main() {
  keepPage();
  // The chat is what one goes on to.
  const chat = import("./chat.js");
  const [texts, people] = await Promise.all([chosenTexts(), fetchPeople()]);
  translatePage(texts);
  showLanguages(texts);
  const { name: userId } = partsOfAddress();
  const me = people.find((person) => person.id === userId);
  if (me) (await chat).showChat(texts, people, me);
  else showWelcome(texts, people);
  addEventListener("hashchange", () => {
    // Another person is another page: nothing of the one before can be left over.
    if (!me || partsOfAddress().name !== userId) location.reload();
  });
}

async function fetchPeople() {
  return (await fetch("/people")).json();
}

main();
