/** What the element says, and moments in the page's language. A host may give words of its own. */

export const WORDS = {
  conversations: "Conversations",
  messages: "Messages",
  message: "Message",
  send: "Send",
  back: "Back to the conversations",
  nobody: "Just you",
  none: "No conversations yet.",
  choose: "Choose a conversation.",
  closed: "This conversation is not open to you.",
  banned: "You cannot use this chat any more.",
  frozen: "Only admins write here.",
  loading: "Loading…",
  failed: "This could not be loaded.",
  again: "Try again",
  beginning: "This is the beginning.",
  unread: "{count} unread",
  news: "New messages",
  newest: "Go to the newest message",
  you: "You",
  deleted: "This message was deleted.",
  edited: "edited",
  pending: "Sending…",
  unsent: "Not sent. {problem}",
  retry: "Retry",
  discard: "Discard",
  reply: "Reply",
  replying: "Replying to {name}",
  cancel: "Cancel",
  react: "React with {emoji}",
  reacted: "{emoji} {count}: {names}",
  typing: "{names} …",
  offline: "No connection. Trying again…",
  more: "More conversations",
};

/** A function that says `name` of the words, with what belongs into it. */
export function sayingIn(words) {
  const all = { ...WORDS, ...words };
  return (name, given = {}) =>
    all[name].replace(/\{(\w+)\}/g, (whole, each) => String(given[each] ?? whole));
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

/** Same text, same day. */
export function dayKeyOf(iso) {
  return new Date(iso).toDateString();
}

function daysAgo(iso) {
  const midnight = (date) => new Date(date.getFullYear(), date.getMonth(), date.getDate());
  // Rounded, because a day of a clock change has 23 or 25 hours.
  const days = Math.round((midnight(new Date()) - midnight(new Date(iso))) / 86_400_000);
  // The clock of the service may be ahead.
  return Math.max(0, days);
}
