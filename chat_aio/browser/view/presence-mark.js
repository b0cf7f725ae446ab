/** Whether somebody is here: a dot on their picture, and words. */

import { avatar, element } from "../dom.js";

/** An avatar, and the dot on it: both are nodes of `node`. */
export function picturedWithDot(online) {
  const picture = avatar();
  const words = element("span", { class: "unseen" }, online, " ");
  const fields = { class: "dot", title: online, hidden: true };
  const dot = element("span", fields, words);
  const node = element("span", { class: "pictured" }, picture, dot);
  return { node, picture, dot };
}

/** "Online", "Last seen 9:41 AM", or nothing where nothing is known. */
export function presenceWords(texts, { online, lastSeenAt }) {
  if (online) return texts.say("presence.online");
  return lastSeenAt ? texts.say("presence.lastSeen", { when: texts.agoOf(lastSeenAt) }) : "";
}
