/** The texts of the element, and of times, in a language. A host may replace texts. */

import { measured } from "../sizes.js";
import { german } from "./words-de.js";
import { english } from "./words-en.js";

const LANGUAGES = { en: english, de: german };
const USUAL = "en";
const UNITS = ["byte", "kilobyte", "megabyte", "gigabyte"];

/** The language of an element, by its `lang` or that of its nearest ancestor. */
export function languageAt(place) {
  const meant = place.closest("[lang]");
  if (meant) return isTag(meant.lang) ? meant.lang : "";
  const { host } = place.getRootNode();
  return host ? languageAt(host) : "";
}

/**
 * A function that returns the text `name` with its values; of several forms that for
 * its `count`. `words` replace those of the language, and have the forms of `lang`.
 */
export function sayingIn(lang, words) {
  const known = Object.hasOwn(LANGUAGES, baseOf(lang)) ? baseOf(lang) : USUAL;
  const [own, given] = [known, lang || known].map((language) => new Intl.PluralRules(language));
  return (name, values = {}) => {
    const isGiven = Object.hasOwn(words, name);
    const said = isGiven ? words[name] : LANGUAGES[known][name];
    const form = (isGiven ? given : own).select(values.count ?? 0);
    const text = said?.[form] ?? said?.other ?? said;
    return text?.replace(/\{(\w+)\}/g, (whole, key) => String(values[key] ?? whole));
  };
}

/** The text of an error, by its code; without one, the message of the service. */
export function problemIn(say) {
  return ({ code, message, retryAfter }) => {
    // The time to wait is only in the answer.
    const isVague = code === "SLOW_MODE" && !retryAfter;
    return (!isVague && say(`problem.${code}`, { count: retryAfter })) || message;
  };
}

/** A function that writes a size in bytes. */
export function sizesIn(lang) {
  return (bytes) => {
    const { value, power, digits } = measured(bytes);
    const shown = { minimumFractionDigits: digits, maximumFractionDigits: digits };
    const unit = { style: "unit", unit: UNITS[power], unitDisplay: power > 0 ? "short" : "narrow" };
    return new Intl.NumberFormat(lang || undefined, { ...unit, ...shown }).format(value);
  };
}

/** Functions that write a moment, in a language or the browser's own. */
export function momentsIn(lang) {
  const format = (options) => new Intl.DateTimeFormat(lang || undefined, options);
  const [clock, whole] = [
    format({ hour: "numeric", minute: "2-digit" }),
    format({ dateStyle: "full", timeStyle: "short" }),
  ];
  const [day, year] = [
    format({ weekday: "long", day: "numeric", month: "long" }),
    format({ dateStyle: "long" }),
  ];
  const date = format({ day: "numeric", month: "short" });
  const near = new Intl.RelativeTimeFormat(lang || undefined, { numeric: "auto" });
  const isThisYear = (then) => then.getFullYear() === new Date().getFullYear();
  return {
    time: (iso) => clock.format(new Date(iso)),
    whole: (iso) => whole.format(new Date(iso)),
    day: (iso) => {
      const [then, ago] = [new Date(iso), daysAgo(iso)];
      if (ago < 2) return near.format(-ago, "day");
      return (isThisYear(then) ? day : year).format(then);
    },
    short: (iso) => (daysAgo(iso) === 0 ? clock : date).format(new Date(iso)),
  };
}

/** A page may name a language as no browser knows it. */
function isTag(lang) {
  try {
    return Intl.getCanonicalLocales(lang).length > 0;
  } catch {
    return false;
  }
}

/** Of "de-AT" it is "de". */
function baseOf(lang) {
  return lang.toLowerCase().split("-")[0];
}

/** Same text, same day. */
export function dayKeyOf(iso) {
  return new Date(iso).toDateString();
}

/** The text of a time depends on it. */
export function today() {
  return dayKeyOf(Date.now());
}

function daysAgo(iso) {
  const midnight = (date) => new Date(date.getFullYear(), date.getMonth(), date.getDate());
  // Rounded, because a day of a clock change has 23 or 25 hours.
  const days = Math.round((midnight(new Date()) - midnight(new Date(iso))) / 86_400_000);
  // The clock of the service may be ahead.
  return Math.max(0, days);
}
