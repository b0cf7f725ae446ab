/** Drawings, 24 by 24, and the buttons and links that have one in place of words. */

import { element } from "../dom.js";

const SVG = "http://www.w3.org/2000/svg";

const PATHS = {
  back: "M14.5 5.5L8 12l6.5 6.5",
  channels: "M9.5 4L7.5 20 M16.5 4l-2 16 M4.5 9h16 M3.5 15h16",
  details: "M20.5 12a8.5 8.5 0 1 1-17 0 8.5 8.5 0 0 1 17 0z M12 11.5V16 M12 8v.1",
  down: "M12 5v14 M6 13l6 6 6-6",
  mentions: "M15.5 12a3.5 3.5 0 1 1-7 0 3.5 3.5 0 0 1 7 0z M15.5 8.500V13c0 3 4.500 2.500 4.500-1a8 8 0 1 0-3 6.200",
  moderation: "M12 3.5l7 2.5v5.5c0 4.3-2.8 7.4-7 9-4.2-1.6-7-4.7-7-9V6z",
  archived: "M4 5h16v4H4z M5.5 9v10h13V9 M10 12.5h4",
  favourite: "M12 4l2.400 5 5.600.7-4.100 3.800 1.100 5.500-5-2.700-5 2.700 1.100-5.500L4 9.700 9.600 9z",
  search: "M17.5 11a6.5 6.5 0 1 1-13 0 6.5 6.5 0 0 1 13 0z M16 16l4.5 4.5",
  send: "M12 19V5 M5.5 11.5L12 5l6.5 6.5",
  threads: "M4.5 5.5h15v9h-8l-4 4v-4h-3z M8 9h8 M8 11.5h5",
  react: "M12 20.5a8.5 8.5 0 1 0 0-17 8.5 8.5 0 0 0 0 17z M8.5 14.2c.8 1.3 2 2 3.5 2s2.7-.7 3.5-2 M9.2 9.7v.1 M14.8 9.7v.1",
  reply: "M9.5 6L4 11.5l5.5 5.5 M4.5 11.5H14c3.5 0 6 2.2 6 6",
  thread: "M5 5.5h14a1 1 0 0 1 1 1v8a1 1 0 0 1-1 1h-7l-4.5 3.5v-3.5H5a1 1 0 0 1-1-1v-8a1 1 0 0 1 1-1z M8 9h8 M8 12h5",
  more: "M6 12v.1 M12 12v.1 M18 12v.1",
  unread: "M4.5 7h15v11h-15z M4.500 7.500l7.500 6 7.500-6",
  pin: "M9 3.5h6 M10 3.5v6L7 13.5h10l-3-4v-6 M12 13.5V20.5",
  forward: "M14.5 6l5.5 5.5-5.5 5.5 M19.5 11.5H10c-3.5 0-6 2.2-6 6",
  copy: "M9 8.5h9a1 1 0 0 1 1 1v9a1 1 0 0 1-1 1H9a1 1 0 0 1-1-1v-9a1 1 0 0 1 1-1z M5 15.5v-10a1 1 0 0 1 1-1h10",
  versions: "M4.5 12a7.5 7.5 0 1 1 2.2 5.300 M4.5 19v-4.500h4.500 M12 8v4.200l3 1.800",
  link: "M10 14a4 4 0 0 0 6 .4l2.6-2.6a4 4 0 0 0-5.7-5.7L11.5 7.5 M14 10a4 4 0 0 0-6-.4l-2.6 2.6a4 4 0 0 0 5.7 5.7l1.400-1.400",
  previous: "M14.5 5.5L8 12l6.5 6.5",
  next: "M9.5 5.5L16 12l-6.5 6.5",
  file: "M19 11.5l-7.3 7.3a4.5 4.5 0 0 1-6.4-6.4l7.8-7.8a3 3 0 0 1 4.3 4.3L9.7 16.6a1.5 1.5 0 0 1-2.1-2.1l6.9-6.9",
  bell: "M6.5 17v-6a5.5 5.5 0 0 1 11 0v6l1.5 1.5H5z M10.5 21h3",
  cross: "M6.5 6.5l11 11 M17.5 6.5l-11 11",
  edit: "M4 20l1-4.5L16.5 4a2 2 0 0 1 2.9 0l.6.6a2 2 0 0 1 0 2.9L8.5 19z M14.5 6l3.5 3.5",
  admin: "M12 3.5l7 2.5v5.5c0 4.3-2.8 7.4-7 9-4.2-1.6-7-4.7-7-9V6z M9 12l2.2 2.2 4-4.4",
  member: "M12 12a3.75 3.75 0 1 0 0-7.5 3.75 3.75 0 0 0 0 7.5z M5 20c0-3.6 3.1-6 7-6s7 2.4 7 6",
  join: "M9.5 11.5a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7z M3 19.5c0-3.3 2.9-5.5 6.5-5.5s6.5 2.2 6.5 5.5 M18.5 8v6 M15.5 11h6",
  remove: "M9.5 11.5a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7z M3 19.5c0-3.3 2.9-5.5 6.5-5.5s6.5 2.2 6.5 5.5 M16 10.5h5.5",
  ban: "M12 20.5a8.5 8.5 0 1 0 0-17 8.5 8.5 0 0 0 0 17z M6 6l12 12",
  muted: "M6.5 17v-6a5.5 5.5 0 0 1 11 0v6l1.5 1.5H5z M10.5 21h3 M4 4l16 16",
  delivered: "M5.5 12.5l4.5 4.5 9-10",
  read: "M2.5 12.5L7 17l9-10 M11.5 15l2 2 8.5-10",
  report: "M6 21V4 M6 5h11.5l-2.5 4 2.5 4H6",
  delete: "M4.5 7h15 M9 7V4.5h6V7 M6.5 7l.8 12.5h9.4L17.5 7 M10 10.5v5.5 M14 10.5v5.5",
};

/** They point to where the text goes, or comes from. */
const POINTING = ["back", "forward", "next", "previous", "reply"];

export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  if (POINTING.includes(name)) svg.classList.add("pointing");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", PATHS[name]);
  svg.append(path);
  return svg;
}

/** `words` are its name. */
export function iconButton(name, words, fields = {}) {
  const common = { type: "button", class: "icon", "aria-label": words, title: words };
  return element("button", { ...common, ...fields }, icon(name));
}

export function iconLink(name, words, fields = {}) {
  return element("a", { class: "icon", "aria-label": words, title: words, ...fields }, icon(name));
}
