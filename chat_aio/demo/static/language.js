/** The page's language: chosen here, kept in the browser, or the browser's own. */

import { element, setText } from "../../browser/dom.js";
import { baseOf, hasLanguage, textsIn } from "../../browser/texts.js";
import { LANGUAGES } from "../../browser/texts/languages.js";
import { UserStorage } from "../../browser/user-storage.js";

/** Texts in the page itself: `data-say-label` is the name of its `aria-label`. */
const ATTRIBUTES = { label: "aria-label", title: "title", placeholder: "placeholder" };

/** For all who use this browser. */
const kept = new UserStorage("");

/** The texts in the chosen language. */
export async function chosenTexts() {
  return textsIn(chosenLanguage());
}

/** Translate the page itself, and set its direction of writing. */
export function translatePage(texts) {
  const { documentElement: root } = document;
  Object.assign(root, { lang: texts.language, dir: texts.direction });
  for (const node of root.querySelectorAll("[data-say]")) {
    setText(node, texts.say(node.dataset.say));
  }
  for (const [name, attribute] of Object.entries(ATTRIBUTES)) {
    const place = `data-say-${name}`;
    for (const node of root.querySelectorAll(`[${place}]`)) {
      node.setAttribute(attribute, texts.say(node.getAttribute(place)));
    }
  }
}

/** On the first screen, and below the list. Each language is named in itself. */
export function showLanguages(texts) {
  for (const choice of document.querySelectorAll(".language select")) {
    const options = Object.keys(LANGUAGES).map((code) => {
      const name = new Intl.DisplayNames([code], { type: "language" }).of(code);
      const fields = { value: code, lang: code, selected: code === texts.language };
      return element("option", fields, name);
    });
    choice.append(...options);
    choice.addEventListener("change", () => speak(choice.value));
  }
}

/** The page is reloaded: its texts so far are in another language. */
function speak(code) {
  const here = new URL(location.href);
  here.searchParams.set("lang", code);
  history.replaceState(history.state, "", here);
  location.reload();
}

function chosenLanguage() {
  const asked = new URLSearchParams(location.search).get("lang");
  if (hasLanguage(asked)) keepAsked(asked);
  const wanted = [asked, kept.get("language"), ...navigator.languages];
  return wanted.flatMap((tag) => [tag, baseOf(tag)]).find(hasLanguage) ?? "en";
}

/**
 * It is then removed from the address: readers of a link keep their own language. In a
 * browser that keeps nothing it stays there.
 */
function keepAsked(asked) {
  kept.set("language", asked);
  if (kept.get("language") !== asked) return;
  const here = new URL(location.href);
  here.searchParams.delete("lang");
  history.replaceState(history.state, "", here);
}
