/** For fingers: targets have 44 pixels, within a message 32 and more. */

import { dress } from "./sheet.js";

dress("touch", `
@media (pointer: coarse) {
  .icon, .about .icon, .search-box .icon, .send { width: 2.75rem; height: 2.75rem; }
  .primary, .quiet, .shortcut, .menu button, .check, .completion li, .choice, .person { min-height: 2.75rem; }
  .field input, .field select, .links input, .picker input, #moderation select, .search-box input { min-height: 2.75rem; }
  a.quiet { display: inline-flex; align-items: center; }
  .small { padding-inline: 0.875rem; }
  #search-here { margin-inline-start: -0.75rem; }
  .composer { border-radius: 1.75rem; }
  .composer textarea { padding-block: 0.6875rem; }
  .to-newest { padding: 0.6875rem; }
  .toolbar button { width: 2.75rem; height: 2.75rem; }
  .chip { min-height: 2rem; padding-inline: 0.75rem; }
  .thread-link, .message .link { min-height: 2rem; }
  .acts a { display: inline-flex; align-items: center; min-height: 2.75rem; }
  .banner { height: 3.25rem; }
}

/* High contrast: colours of the ground are gone, so what they say is said by lines. */
@media (forced-colors: active) {
  .bubble, .badge, .dialog, .chip, .send { border: 1px solid CanvasText; }
  [data-from="me"] .bubble { border-width: 2px; }
  .row[aria-current], .shortcut[aria-current], [aria-selected="true"] { outline: 2px solid Highlight; outline-offset: -2px; }
  .chip[aria-pressed="true"], .unread-mark span { outline: 2px solid Highlight; }
  .dot { border: 2px solid CanvasText; forced-color-adjust: none; }
  .mention { text-decoration: underline; }
}
`);
