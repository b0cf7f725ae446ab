/**
 * The languages of the page, by their codes (BCP 47). One is loaded when it is needed.
 *
 * To add one: copy en.js and en/ under its code, translate the texts, and name it here. Keys stay
 * as they are, and so do {placeholders}; where a text has plural forms, give those that the
 * language has, as Intl.PluralRules names them: zero, one, two, few, many, other. Tests compare the
 * languages. The direction of writing, dates, numbers and lists, and its own name come from the
 * browser. The names of emoji are in ../emoji/.
 */

export const LANGUAGES = {
  en: async () => (await import("./en.js")).en,
  de: async () => (await import("./de.js")).de,
};
