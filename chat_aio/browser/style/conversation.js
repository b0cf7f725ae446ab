/** The open conversation: its head, the log, the composer; and its place without one. */

import { dress } from "./sheet.js";

dress("conversation", `
.conversation { display: flex; flex-direction: column; min-width: 0; min-height: 0; background: var(--surface); }
.conversation .bar { border-bottom: 1px solid var(--line); }
#title { font-size: 1.0625rem; font-weight: 650; letter-spacing: -0.01em; }
#title, #subtitle { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
#subtitle { color: var(--muted); font-size: 0.8125rem; }
#search-here { margin-inline-start: -0.5rem; }
.back { display: none; }
#to-details { position: relative; }
#to-details[data-waiting]::after { content: ""; position: absolute; inset-block-start: 0.375rem; inset-inline-end: 0.375rem; width: 0.5rem; height: 0.5rem; border-radius: 50%; background: var(--accent); }

.nothing { display: grid; place-content: center; justify-items: center; gap: 0.5rem; padding: 2rem; background: var(--surface); text-align: center; }
.app:not([data-screen="conversation"]) .conversation, .app:not([data-screen="list"]) .nothing { display: none; }

/* The log */

.stage { position: relative; flex: 1; min-height: 0; display: flex; }

.timeline {
  --column: 46rem;
  position: relative;
  flex: 1;
  display: flex;
  flex-direction: column;
  padding: 1rem max(1rem, (100% - var(--column)) / 2);
  overflow-y: auto;
  /* The view keeps the place itself: browsers do not do it at the very top. */
  overflow-anchor: none;
  overscroll-behavior: contain;
  scrollbar-width: thin;
}
.timeline:focus-visible { outline-offset: -3px; }
.timeline > * { flex: none; }
.timeline > :first-child { margin-top: auto; }

.history { padding: 1rem; color: var(--muted); font-size: 0.875rem; text-align: center; }
.history button { margin-inline-start: 0.75rem; }

.day { display: flex; align-items: center; gap: 0.75rem; margin: 1.25rem 0 0.5rem; color: var(--muted); font-size: 0.75rem; font-weight: 600; }
.day::before, .day::after { content: ""; flex: 1; height: 1px; background: var(--line); }
.happening { margin: 0.5rem 0; color: var(--muted); font-size: 0.8125rem; text-align: center; overflow-wrap: anywhere; }
.unread-mark { scroll-margin-top: 1rem; color: var(--danger); }
.unread-mark::before, .unread-mark::after { background: currentcolor; opacity: 0.4; }

.to-newest {
  position: absolute;
  inset-block-end: 0.75rem;
  inset-inline: 0;
  display: flex;
  align-items: center;
  gap: 0.25rem;
  width: fit-content;
  margin-inline: auto;
  padding: 0.5rem;
  border: 1px solid var(--line);
  border-radius: 2rem;
  background: var(--raised);
  box-shadow: 0 2px 12px rgb(0 0 0 / 14%);
  font-size: 0.8125rem;
  font-weight: 650;
}
.to-newest svg { width: 1.25rem; height: 1.25rem; }
.to-newest:not([data-count=""])::after { content: attr(data-words); padding-inline-end: 0.375rem; color: var(--accent); }

/* The composer */

.composer {
  position: relative;
  width: min(100% - 2rem, 48rem);
  margin: 0.5rem auto max(1rem, env(safe-area-inset-bottom));
  border: 1px solid var(--line);
  border-radius: 1.5rem;
  background: var(--raised);
}
.composer:focus-within { border-color: var(--accent); box-shadow: 0 0 0 1px var(--accent); }
.writing { display: flex; align-items: end; gap: 0.5rem; padding-block: 0.3125rem; padding-inline: 1rem 0.3125rem; }
.composer textarea {
  flex: 1;
  min-width: 0;
  padding: 0.375rem 0;
  border: 0;
  outline: none;
  background: none;
  resize: none;
  /* Below 16 pixels phones zoom in. */
  font-size: 1rem;
  line-height: 1.4;
  scrollbar-width: thin;
}
.composer textarea::placeholder { color: var(--muted); opacity: 1; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.send { display: grid; place-items: center; flex: none; width: 2.25rem; height: 2.25rem; border: 0; border-radius: 50%; background: var(--accent); color: var(--on-accent); transition: background-color 120ms; }
.send svg { width: 1.25rem; height: 1.25rem; stroke-width: 2.2; }
[data-empty="true"] .send { background: var(--hover); color: var(--muted); }
.pick-emoji { flex: none; width: 2.25rem; height: 2.25rem; margin-inline-end: -0.25rem; }
.completion .emoji { width: 1.75rem; font-size: 1.25rem; text-align: center; }
.composer-note { padding: 0 1rem; color: var(--muted); font-size: 0.875rem; }
.composer-note :first-child:not(:empty) { padding-block-start: 0.5rem; }
.composer-note [role="timer"] { color: var(--ink); font-variant-numeric: tabular-nums; font-weight: 600; }
.composer .problem { padding: 0.5rem 1rem 0; font-size: 0.875rem; }
.composer .check { padding: 0 1rem 0.625rem; font-size: 0.8125rem; }

.about { display: flex; align-items: center; gap: 0.5rem; padding-block: 0.375rem 0; padding-inline: 1rem 0.375rem; }
.about p { flex: 1; min-width: 0; padding-inline-start: 0.625rem; border-inline-start: 3px solid var(--accent); font-size: 0.8125rem; line-height: 1.4; }
.about-title { display: block; color: var(--accent); font-weight: 650; }
.about-text { display: block; overflow: hidden; color: var(--muted); text-overflow: ellipsis; white-space: nowrap; }
.about .icon { flex: none; width: 2.25rem; height: 2.25rem; }
.about .icon svg { width: 1.125rem; height: 1.125rem; }

.completion {
  position: absolute;
  z-index: 3;
  inset-block-end: calc(100% + 0.375rem);
  inset-inline: 0;
  max-width: 20rem;
  max-height: 15rem;
  overflow-y: auto;
  padding: 0.375rem;
  border: 1px solid var(--line);
  border-radius: 1rem;
  background: var(--raised);
  box-shadow: var(--shadow);
}
.completion li { display: flex; align-items: center; gap: 0.625rem; padding: 0.375rem 0.5rem; border-radius: 0.75rem; font-weight: 500; cursor: pointer; }
.completion li:hover { background: var(--hover); }
.completion [aria-selected="true"] { background: var(--chosen); }
.completion .avatar { width: 1.75rem; height: 1.75rem; font-size: 0.75rem; }

/* Phones: the list and the conversation are two screens */

@container chat (max-width: 44rem) {
  .app { grid-template-columns: minmax(0, 1fr); }
  .sidebar { border: 0; }
  .app:not([data-single]) .nothing, .app:not([data-screen="list"]) .sidebar { display: none; }
  .back { display: inline-grid; margin-inline: -0.625rem -0.375rem; }
  .composer { width: calc(100% - 1.25rem); margin-bottom: max(0.625rem, env(safe-area-inset-bottom)); }
}

@media (prefers-reduced-motion: reduce) {
  * { transition: none !important; }
}
`);
