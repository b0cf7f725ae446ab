/** Next to, before or above the conversation: the thread, results of a search, small panels. */

import { dress } from "./sheet.js";

dress("panels", `
/* The thread */

.conversation.beside { display: none; border-inline-start: 1px solid var(--line); }
.beside .bar h2 { font-size: 1.0625rem; font-weight: 650; letter-spacing: -0.01em; }
.beside .headings p { overflow: hidden; color: var(--muted); font-size: 0.8125rem; text-overflow: ellipsis; white-space: nowrap; }
#thread .timeline { padding-inline: 1rem; }
#thread .timeline > :first-child { margin-top: 0; }
#thread .timeline > :last-child { margin-bottom: auto; }
#thread .history { display: flex; align-items: center; gap: 0.75rem; padding: 0.75rem 0 0; font-size: 0.75rem; font-weight: 600; }
#thread .history::after { content: ""; flex: 1; height: 1px; background: var(--line); }
#thread .message { padding-inline-end: 0; }
#thread .composer { width: calc(100% - 1.5rem); }
[data-screen="conversation"][data-beside="thread"] #thread { display: flex; }
[data-screen="conversation"][data-beside="details"] #details { display: flex; }
[data-screen="conversation"][data-beside] { grid-template-columns: minmax(17rem, 20rem) minmax(0, 1fr) minmax(20rem, 26rem); }
[data-single][data-screen="conversation"][data-beside] { grid-template-columns: minmax(0, 1fr) minmax(18rem, 26rem); }

/* The search */

#results .row { width: 100%; align-items: start; border: 0; background: none; text-align: start; }
#results .row:hover { background: var(--hover); }
#results .row .avatar { width: 2.25rem; height: 2.25rem; font-size: 0.8125rem; }
.palette-dialog { width: min(36rem, calc(100vw - 2rem)); max-height: min(34rem, 80vh); margin-block-start: 12vh; padding: 0.75rem; overflow: hidden; }
.palette-dialog[open] { display: flex; flex-direction: column; gap: 0.5rem; }
.palette-dialog input { width: 100%; padding: 0.625rem 0.75rem; border: 1px solid var(--line); border-radius: 0.875rem; background: var(--surface); color: var(--ink); font-size: 1rem; }
.palette-dialog ul { overflow-y: auto; }
.palette-dialog .row { cursor: pointer; }
.palette-dialog .row-title, .palette-dialog .row-preview { display: block; }
.palette-dialog [aria-selected="true"] { background: var(--chosen); }
.found { display: -webkit-box; overflow: hidden; overflow-wrap: anywhere; color: var(--muted); font-size: 0.875rem; -webkit-box-orient: vertical; -webkit-line-clamp: 3; }
.found strong { font-weight: 550; }
.found-body { color: var(--ink); }
mark { border-radius: 0.25rem; background: var(--marked); color: inherit; box-shadow: 0 0 0 0.0625rem var(--marked); }
.more { display: block; margin: 0.5rem auto; }

/* Small panels */

.popover { position: fixed; inset: auto; margin: 0; padding: 0.375rem; border: 1px solid var(--line); border-radius: 1rem; background: var(--raised); color: var(--ink); box-shadow: var(--shadow); }
.menu { min-width: 10rem; }
.menu button { display: flex; align-items: center; gap: 0.75rem; width: 100%; padding: 0.5rem 0.75rem; border: 0; border-radius: 0.75rem; background: none; text-align: start; }
.menu button:hover { background: var(--hover); }
.menu button:focus-visible { outline-offset: -2px; }
.menu svg { flex: none; width: 1.25rem; height: 1.25rem; color: var(--muted); }
.menu [data-name="delete"], .menu [data-name="delete"] svg { color: var(--danger); }

.picker { width: min(19rem, calc(100vw - 1rem)); }
.palette { display: grid; grid-template-columns: repeat(6, minmax(0, 1fr)); align-content: start; height: min(17rem, 50dvh); overflow-y: auto; }
.palette [data-first] { box-shadow: inset 0 0 0 2px var(--accent); }
.palette .hint { grid-column: 1 / -1; padding: 0.75rem; }
.palette button { aspect-ratio: 1; padding: 0; border: 0; border-radius: 0.75rem; background: none; font-size: 1.375rem; line-height: 1; }
.palette button:hover { background: var(--hover); }
.picker form { display: flex; gap: 0.375rem; padding: 0.25rem 0.25rem 0.375rem; }
.picker input { flex: 1; min-width: 0; padding: 0.375rem 0.75rem; border: 1px solid var(--line); border-radius: 0.75rem; background: var(--surface); font-size: 1rem; }
.picker .primary { padding: 0.375rem 0.75rem; }

/* It is always there, so that what it says is read out. */
.toast:not(:empty) {
  position: fixed;
  z-index: 4;
  inset-block-end: 6rem;
  inset-inline: 0;
  width: fit-content;
  margin-inline: auto;
  padding: 0.5rem 1rem;
  border-radius: 1rem;
  background: var(--ink);
  color: var(--paper);
  font-size: 0.875rem;
  pointer-events: none;
}

/* Dialogs about a message */

.excerpt { display: -webkit-box; overflow: hidden; overflow-wrap: anywhere; padding: 0.5rem 0.75rem; border-inline-start: 3px solid var(--accent); border-radius: 0.5rem; background: var(--quoted-raised); font-size: 0.875rem; -webkit-box-orient: vertical; -webkit-line-clamp: 3; }
.targets { max-height: 18rem; min-height: 6rem; overflow-y: auto; margin-inline: -0.5rem; padding-inline: 0.5rem; scrollbar-width: thin; }
.choice-title { min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.primary.danger { background: var(--danger); color: var(--raised); }

/* Without room for three, what stands beside covers the conversation, which stays laid out beneath. */

@container chat (max-width: 64rem) {
  :not([data-single])[data-screen="conversation"][data-beside] { grid-template-columns: minmax(17rem, 22rem) minmax(0, 1fr); }
  :not([data-single])[data-beside] .conversation { grid-area: 1 / 2; }
  :not([data-single])[data-beside] .conversation:not(.beside) { visibility: hidden; }
  :not([data-single]) > .conversation.beside { z-index: 1; border: 0; }
}

@container chat (max-width: 44rem) {
  .app[data-screen="conversation"][data-beside] { grid-template-columns: minmax(0, 1fr); }
  .app[data-beside] .conversation { grid-area: 1 / 1; }
  .app[data-beside] .conversation:not(.beside) { visibility: hidden; }
  .app > .conversation.beside { z-index: 1; border: 0; }
  [data-screen="conversation"][data-searching] .sidebar { display: flex; z-index: 2; grid-area: 1 / 1; background: var(--paper); }
  [data-searching] .conversation { grid-area: 1 / 1; }
  [data-searching] .conversation, [data-searching] .conversation.beside { visibility: hidden; }
}
`);
