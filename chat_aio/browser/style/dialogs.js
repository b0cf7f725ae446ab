/** Dialogs, and the fields in them. */

import { dress } from "./sheet.js";

dress("dialogs", `
dialog {
  width: min(24rem, calc(100vw - 2rem));
  max-height: calc(100dvh - 2rem);
  padding: 0;
  border: 1px solid var(--line);
  border-radius: 1.25rem;
  background: var(--raised);
  color: var(--ink);
  box-shadow: var(--shadow);
}
dialog::backdrop { background: rgb(20 24 26 / 40%); }
/* Narrow windows, and a page that is enlarged: it scrolls inside, and downwards only. */
dialog form { display: grid; grid-template-columns: minmax(0, 1fr); gap: 1rem; padding: 1.25rem; }
dialog h2 { overflow-wrap: anywhere; font-size: 1.125rem; font-weight: 650; letter-spacing: -0.01em; }
dialog .choices { margin-inline: -0.5rem; }
dialog menu { display: flex; flex-wrap: wrap; justify-content: end; gap: 0.5rem; }
.field { display: grid; gap: 0.375rem; }
.field span, legend { color: var(--muted); font-size: 0.875rem; padding: 0; }
.field small { font-size: inherit; }
.field input, .field select, .field textarea { width: 100%; padding: 0.5rem 0.75rem; border: 1px solid var(--line); border-radius: 0.75rem; background: var(--surface); font-size: 1rem; }
legend { margin-bottom: 0.375rem; }
.problem { color: var(--danger); }
.problem:empty { display: none; }
`);
