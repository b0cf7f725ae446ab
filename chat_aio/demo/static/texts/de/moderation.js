/** Words about moderation: blocking, reports, bans, held messages, removing. */

export const moderation = {
  "moderation.title": "Moderation",
  "moderation.waiting": "offen",
  "blocked.end": "Freigeben",
};
