/** Words about groups: details, members, channels, invite links, who asks to be let in. */

export const groups = {
  "group.new": "Neue Gruppe",

  // Details
  "details.title": "Details",
  "details.close": "Details schließen",

  // The public channels
  "channels.title": "Kanäle",
};
