/** Whether somebody is here: a dot on their picture, and words. */

import { avatar, element } from "../../../browser/dom.js";
import { agoOf } from "../times.js";
import { say } from "../words.js";

/** An avatar, and the dot on it: both are nodes of `node`. */
export function picturedWithDot() {
  const picture = avatar();
  const words = element("span", { class: "unseen" }, say("presence.online"), " ");
  const fields = { class: "dot", title: say("presence.online"), hidden: true };
  const dot = element("span", fields, words);
  const node = element("span", { class: "pictured" }, picture, dot);
  return { node, picture, dot };
}

/** "Online", "Last seen 9:41 AM", or nothing where nothing is known. */
export function presenceWords({ online, lastSeenAt }) {
  if (online) return say("presence.online");
  return lastSeenAt ? say("presence.lastSeen", { when: agoOf(lastSeenAt) }) : "";
}
