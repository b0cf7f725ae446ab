/** Presence, typing, receipts, and a lost connection. */

import { dress } from "./sheet.js";

dress("live", `
.pictured { position: relative; display: inline-grid; flex: none; }
.dot {
  position: absolute;
  inset-block-end: -0.125rem;
  inset-inline-end: -0.125rem;
  width: 0.875rem;
  height: 0.875rem;
  border: 0.125rem solid var(--surface);
  border-radius: 50%;
  background: var(--accent);
  forced-color-adjust: none;
}
.sidebar .dot { border-color: var(--paper); }

/* As high as a line also where it is empty: nothing moves when somebody begins to write. */
.typing {
  flex: none;
  width: min(100% - 2rem, 48rem);
  height: 1.375rem;
  margin: 0 auto;
  padding-inline: 1rem;
  overflow: hidden;
  color: var(--muted);
  font-size: 0.8125rem;
  line-height: 1.375rem;
  text-overflow: ellipsis;
  white-space: nowrap;
}
.typing ~ .composer { margin-block-start: 0.125rem; }

.ticks { display: inline-grid; align-content: center; }
.ticks svg { width: 1rem; height: 1rem; stroke-width: 2.2; }
.ticks[data-mark="read"] { color: var(--accent); }

.caret {
  display: inline-block;
  width: 0.5em;
  height: 1.05em;
  margin-inline-start: 0.125em;
  border-radius: 0.125em;
  background: currentcolor;
  vertical-align: text-bottom;
  animation: blink 1s steps(2, jump-none) infinite;
}
@keyframes blink { from { opacity: 0.8; } to { opacity: 0.15; } }
@media (prefers-reduced-motion: reduce) { .caret { animation: none; opacity: 0.6; } }

/* It is always there, so that what it says is read out. */
.banner:not([data-shown]) { position: absolute; }
.banner[data-shown] {
  display: flex;
  align-items: center;
  justify-content: center;
  gap: 0.75rem;
  flex: none;
  height: 2.75rem;
  padding-inline: 1rem;
  background: var(--hover);
  font-size: 0.8125rem;
}
.banner .quiet { border-color: var(--muted); }

@container chat (max-width: 44rem) {
  .typing { width: calc(100% - 1.25rem); }
}
`);
