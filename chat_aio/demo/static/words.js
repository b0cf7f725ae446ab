/**
 * The page's texts, in the reader's language. The texts themselves are in texts/.
 *
 * The language is chosen once, when the page is loaded: the one in the address, ?lang=de,
 * which is kept; the stored one; one that the browser prefers; English.
 */

import { setText } from "../../browser/dom.js";
import { UserStorage } from "./user-storage.js";
import { LANGUAGES } from "./texts/languages.js";

const USUAL = "en";
/** For browsers that do not know the direction of a language. */
const RIGHT_TO_LEFT = ["ar", "arc", "ckb", "dv", "fa", "he", "ks", "ps", "sd", "ug", "ur", "yi"];
const LETTER_FROM_RIGHT = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}]/u;
const PLACEHOLDER = /\{(\w+)\}/gu;
/** Texts in the page itself: `data-say-label` is the name of its `aria-label`. */
const ATTRIBUTES = { label: "aria-label", title: "title", placeholder: "placeholder" };

/** For all who use this browser. */
const kept = new UserStorage("");

export const language = chosenLanguage();
/** The same with the reader's region, if the browser reveals it: clocks have 12 or 24 hours. */
export const locale = navigator.languages.find((wanted) => baseOf(wanted) === language) ?? language;
export const direction = directionOf(language);

const texts = { ...LANGUAGES[USUAL], ...LANGUAGES[language] };
const forms = new Intl.PluralRules(language);
const numbers = new Intl.NumberFormat(locale);
const sentences = new Intl.ListFormat(locale, { type: "conjunction" });
const choices = new Intl.ListFormat(locale, { type: "disjunction" });
const enumerations = new Intl.ListFormat(locale, { type: "unit", style: "short" });

/**
 * A text by its name. `values` go into its {placeholders}. Where it has forms, `values.isOwn`
 * chooses the one of what the reader has done, `values.count` one of the others.
 */
export function say(name, values = {}) {
  const found = texts[name];
  if (found === undefined) throw new Error(`no text is named ${name}`);
  const text = typeof found === "string" ? found : formOf(found, values);
  return text.replaceAll(PLACEHOLDER, (_, key) => written(values[key]));
}

export function hasText(name) {
  return Object.hasOwn(texts, name);
}

export function numberOf(number, options = null) {
  return (options ? new Intl.NumberFormat(locale, options) : numbers).format(number);
}

/** Names within a sentence: "Ann and Bob". */
export function listOf(names) {
  return sentences.format(names);
}

/** Names of whom one is enough: "Ann or Bob". */
export function choiceOf(names) {
  return choices.format(names);
}

/** A list of names: "Ann, Bob". */
export function enumerationOf(names) {
  return enumerations.format(names);
}

/** Translate the page itself, and set its direction of writing. */
export function translatePage() {
  const { documentElement: root } = document;
  Object.assign(root, { lang: language, dir: direction });
  for (const node of root.querySelectorAll("[data-say]")) setText(node, say(node.dataset.say));
  for (const [name, attribute] of Object.entries(ATTRIBUTES)) {
    const place = `data-say-${name}`;
    for (const node of root.querySelectorAll(`[${place}]`)) {
      node.setAttribute(attribute, say(node.getAttribute(place)));
    }
  }
}

/** What can be chosen: {code, name}, each named in its own language. */
export function languagesToChoose() {
  return Object.keys(LANGUAGES).map((code) => {
    const name = new Intl.DisplayNames([code], { type: "language" }).of(code);
    return { code, name };
  });
}

/** The page is reloaded: its texts so far are in another language. */
export function speak(code) {
  const here = new URL(location.href);
  here.searchParams.set("lang", code);
  history.replaceState(history.state, "", here);
  location.reload();
}

function chosenLanguage() {
  const asked = new URLSearchParams(location.search).get("lang");
  if (isKnown(asked)) keepAsked(asked);
  const wanted = [asked, kept.get("language"), ...navigator.languages];
  return wanted.flatMap((tag) => [tag, baseOf(tag)]).find(isKnown) ?? USUAL;
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

function isKnown(code) {
  return Object.hasOwn(LANGUAGES, code);
}

/** Of "de-AT" it is "de". */
function baseOf(tag) {
  return String(tag).split("-")[0];
}

function directionOf(code) {
  const tag = new Intl.Locale(code);
  const { direction: known } = tag.getTextInfo?.() ?? tag.textInfo ?? {};
  return known ?? (RIGHT_TO_LEFT.includes(tag.language) ? "rtl" : "ltr");
}

function formOf(found, { isOwn = false, count = 0 }) {
  if (isOwn && found.own) return found.own;
  return found[forms.select(count)] ?? found.other;
}

/** A name of the other direction of writing would turn its surroundings. */
function written(value) {
  if (typeof value === "number") return numbers.format(value);
  const turns = direction === "rtl" || LETTER_FROM_RIGHT.test(value);
  return turns ? `\u2068${value}\u2069` : value;
}
