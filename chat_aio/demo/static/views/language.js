/** The choice of the page's language: on the first screen, and next to the user's name. */

import { element } from "../../../browser/dom.js";
import { language, languagesToChoose, speak } from "../words.js";

export function showLanguages() {
  for (const choice of document.querySelectorAll(".language select")) {
    const options = languagesToChoose().map(({ code, name }) =>
      element("option", { value: code, lang: code, selected: code === language }, name),
    );
    choice.append(...options);
    choice.addEventListener("change", () => speak(choice.value));
  }
}
