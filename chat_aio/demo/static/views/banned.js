/** The page of a banned user. */

import { setText } from "../../../browser/dom.js";
import { say } from "../words.js";

export function showBanned(people) {
  const screen = document.querySelector("#banned");
  if (!screen.hidden) return;
  const name = people.nameOf(people.userId);
  for (const dialog of document.querySelectorAll("dialog[open]")) dialog.close();
  for (const popover of document.querySelectorAll(":popover-open")) popover.hidePopover();
  document.querySelector("#app").hidden = true;
  document.title = say("banned.window", { name });
  setText(screen.querySelector("#banned-words"), say("banned.words", { name }));
  screen.querySelector("button").addEventListener("click", () => location.reload());
  screen.hidden = false;
  screen.querySelector("h1").focus();
}
