/**
 * The languages of the page, by their codes (BCP 47).
 *
 * To add one: copy en.js and en/ under its code, translate the texts, and name it here. Keys stay
 * as they are, and so do {placeholders}; where a text has plural forms, give those that the
 * language has, as Intl.PluralRules names them: zero, one, two, few, many, other. Tests compare the
 * languages. Missing texts are shown in English. The direction of writing, dates, numbers and
 * lists, and its own name come from the browser. The names of emoji are in ../emoji/.
 */

import { de } from "./de.js";
import { en } from "./en.js";

export const LANGUAGES = { en, de };
