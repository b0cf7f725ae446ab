/** Moments in a language. */

/** Functions that write a moment; `say` has the texts of "today". */
export function momentsIn(locale, say) {
  const format = (options) => new Intl.DateTimeFormat(locale, options);
  const clock = format({ hour: "numeric", minute: "2-digit" });
  const weekday = format({ weekday: "short" });
  const shortDate = format({ day: "numeric", month: "short" });
  const longDate = format({ weekday: "long", day: "numeric", month: "long" });
  const withYear = format({ dateStyle: "long" });
  const short = format({ dateStyle: "medium", timeStyle: "short" });
  const complete = format({ dateStyle: "full", timeStyle: "short" });
  return {
    timeOf: (iso) => clock.format(new Date(iso)),
    momentOf: (iso) => complete.format(new Date(iso)),
    /** The same, where there is less room. */
    shortMomentOf: (iso) => short.format(new Date(iso)),
    /** The words of a day separator. */
    dayOf(iso, now = new Date()) {
      const then = new Date(iso);
      const days = daysBetween(then, now);
      // The clock of the service may be ahead.
      if (days <= 0) return say("day.today");
      if (days === 1) return say("day.yesterday");
      return (then.getFullYear() === now.getFullYear() ? longDate : withYear).format(then);
    },
    /** As short as a row in a list has room for. */
    agoOf(iso, now = new Date()) {
      const then = new Date(iso);
      const days = daysBetween(then, now);
      if (days === 0) return clock.format(then);
      return (days > 0 && days < 7 ? weekday : shortDate).format(then);
    },
  };
}

/** Same text, same day. */
export function dayKeyOf(iso) {
  return new Date(iso).toDateString();
}

function daysBetween(then, now) {
  const midnight = (date) => new Date(date.getFullYear(), date.getMonth(), date.getDate());
  // Rounded, because a day of a clock change has 23 or 25 hours.
  return Math.round((midnight(now) - midnight(then)) / 86_400_000);
}
