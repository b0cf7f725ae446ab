/** The texts of a chat in a language, and numbers, lists and moments in it. No DOM. */

import { problemIn } from "./problems.js";
import { LANGUAGES } from "./texts/languages.js";
import { momentsIn } from "./times.js";

const USUAL = "en";
/** For browsers that do not know the direction of a language. */
const RIGHT_TO_LEFT = ["ar", "arc", "ckb", "dv", "fa", "he", "ks", "ps", "sd", "ug", "ur", "yi"];
const LETTER_FROM_RIGHT = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}]/u;
const PLACEHOLDER = /\{(\w+)\}/gu;

export class Texts {
  #texts;
  #given;
  #forms;
  #formsGiven;
  #numbers;

  /**
   * `lang` is a language tag, `texts` are those of its language. `given` are a host's texts, by
   * their names in texts/en: they replace those of the language, and have the forms of `lang`.
   */
  constructor(lang, given, texts) {
    this.language = languageOf(lang);
    this.locale = localeOf(lang || undefined);
    this.direction = directionOf(lang || this.language);
    this.#texts = texts;
    this.#given = given;
    this.#forms = new Intl.PluralRules(this.language);
    this.#formsGiven = new Intl.PluralRules(lang || this.language);
    this.#numbers = new Intl.NumberFormat(this.locale);
    const listed = (options) => {
      const format = new Intl.ListFormat(this.locale, options);
      return (names) => format.format(names);
    };
    /** Names within a sentence: "Ann and Bob". */
    this.listOf = listed({ type: "conjunction" });
    /** Names of whom one is enough: "Ann or Bob". */
    this.choiceOf = listed({ type: "disjunction" });
    /** A list of names: "Ann, Bob". */
    this.enumerationOf = listed({ type: "unit", style: "short" });
    this.problemOf = problemIn(this);
    Object.assign(this, momentsIn(this.locale, this.say));
  }

  /**
   * A text by its name. `values` go into its {placeholders}. Where it has forms, `values.isOwn`
   * chooses the one of what the reader has done, `values.count` one of the others.
   */
  say = (name, values = {}) => {
    const isGiven = Object.hasOwn(this.#given, name);
    const found = isGiven ? this.#given[name] : this.#texts[name];
    if (found === undefined) throw new Error(`no text is named ${name}`);
    const forms = isGiven ? this.#formsGiven : this.#forms;
    const text = typeof found === "string" ? found : formOf(found, forms, values);
    return text.replaceAll(PLACEHOLDER, (whole, key) => this.#written(values[key] ?? whole));
  };

  has(name) {
    return Object.hasOwn(this.#given, name) || Object.hasOwn(this.#texts, name);
  }

  numberOf(number, options = null) {
    const format = options ? new Intl.NumberFormat(this.locale, options) : this.#numbers;
    return format.format(number);
  }

  /** A name of the other direction of writing would turn its surroundings. */
  #written(value) {
    if (typeof value === "number") return this.numberOf(value);
    const turns = this.direction === "rtl" || LETTER_FROM_RIGHT.test(value);
    return turns ? `\u2068${value}\u2069` : value;
  }
}

/** Those of a language tag, or English ones; `given` are a host's. */
export async function textsIn(lang = "", given = {}) {
  return new Texts(lang, given, await LANGUAGES[languageOf(lang)]());
}

export function hasLanguage(code) {
  return Object.hasOwn(LANGUAGES, code);
}

/** Of "de-AT" it is "de". */
export function baseOf(tag) {
  return String(tag).toLowerCase().split("-")[0];
}

/** With the reader's region, if the browser reveals it: clocks have 12 or 24 hours. */
function localeOf(lang) {
  if (lang === undefined || lang.includes("-")) return lang;
  return navigator.languages.find((wanted) => baseOf(wanted) === lang.toLowerCase()) ?? lang;
}

function languageOf(lang) {
  const base = baseOf(lang);
  return hasLanguage(base) ? base : USUAL;
}

export function directionOf(code) {
  const tag = new Intl.Locale(code);
  const { direction: known } = tag.getTextInfo?.() ?? tag.textInfo ?? {};
  return known ?? (RIGHT_TO_LEFT.includes(tag.language) ? "rtl" : "ltr");
}

function formOf(found, forms, { isOwn = false, count = 0 }) {
  if (isOwn && found.own) return found.own;
  return found[forms.select(count)] ?? found.other;
}
