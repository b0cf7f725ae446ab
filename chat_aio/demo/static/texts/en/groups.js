/** Words about groups: details, members, channels, invite links, who asks to be let in. */

export const groups = {
  "group.new": "New group",

  // Details
  "details.title": "Details",
  "details.close": "Close the details",

  // The public channels
  "channels.title": "Channels",
};
