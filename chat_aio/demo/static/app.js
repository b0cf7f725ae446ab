/**
 * The page: the address contains the user and the open conversation; its behaviour is
 * handed to the session, and what the session knows is shown by the views.
 */

import { placeFromAddress } from "./address.js";
import { Page } from "./page.js";
import { People } from "./people.js";
import { showLanguages } from "./views/language.js";
import { showWelcome } from "./views/welcome.js";
import { translatePage } from "./words.js";

async function main() {
  translatePage();
  showLanguages();
  const answer = await fetch("/people");
  const place = placeFromAddress();
  const people = new People(await answer.json(), place.userId);
  const isKnown = people.all.some((person) => person.id === place.userId);
  if (isKnown) {
    const page = new Page(people);
    page.start();
    page.goTo(place);
    addEventListener("hashchange", () => {
      const next = placeFromAddress();
      // Another person is another page: nothing of the one before can be left over.
      if (next.userId === place.userId) page.goTo(next);
      else location.reload();
    });
  } else {
    showWelcome(people);
    addEventListener("hashchange", () => location.reload());
  }
}

main();
