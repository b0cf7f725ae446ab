/** Moments in the language of the page. */

import { locale, say } from "./words.js";

const clock = new Intl.DateTimeFormat(locale, { hour: "numeric", minute: "2-digit" });
const weekday = new Intl.DateTimeFormat(locale, { weekday: "short" });
const shortDate = new Intl.DateTimeFormat(locale, { day: "numeric", month: "short" });
const longDate = new Intl.DateTimeFormat(locale, {
  ...{ weekday: "long", day: "numeric", month: "long" },
});
const withYear = new Intl.DateTimeFormat(locale, { dateStyle: "long" });
const short = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short" });
const complete = new Intl.DateTimeFormat(locale, { dateStyle: "full", timeStyle: "short" });

export function timeOf(iso) {
  return clock.format(new Date(iso));
}

export function momentOf(iso) {
  return complete.format(new Date(iso));
}

/** The same, where there is less room. */
export function shortMomentOf(iso) {
  return short.format(new Date(iso));
}

/** Same text, same day. */
export function dayKeyOf(iso) {
  return new Date(iso).toDateString();
}

/** The words of a day separator. */
export function dayOf(iso, now = new Date()) {
  const then = new Date(iso);
  const days = daysBetween(then, now);
  if (days === 0) return say("day.today");
  if (days === 1) return say("day.yesterday");
  return (then.getFullYear() === now.getFullYear() ? longDate : withYear).format(then);
}

/** As short as a row in a list has room for. */
export function agoOf(iso, now = new Date()) {
  const then = new Date(iso);
  const days = daysBetween(then, now);
  if (days === 0) return clock.format(then);
  return (days > 0 && days < 7 ? weekday : shortDate).format(then);
}

function daysBetween(then, now) {
  const midnight = (date) => new Date(date.getFullYear(), date.getMonth(), date.getDate());
  // Rounded, because a day of a clock change has 23 or 25 hours.
  return Math.round((midnight(now) - midnight(then)) / 86_400_000);
}
