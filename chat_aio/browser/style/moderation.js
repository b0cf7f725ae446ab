/** Blocking, muting, the screen of banned users, and the moderators' one. */

import { dress } from "./sheet.js";

dress("moderation", `
.blocked { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: 0.5rem 1rem; width: min(100% - 2rem, 48rem); margin: 0.5rem auto 0; padding-block: 0.5rem; padding-inline: 1rem 0.5rem; border-radius: 1rem; background: var(--hover); font-size: 0.875rem; }
.blocked .problem { width: 100%; }

/* The moderators' screen */

#moderation select { padding: 0.25rem 0.5rem; border: 1px solid var(--line); border-radius: 0.625rem; background: var(--surface); font-size: 0.875rem; }
.cases { display: grid; gap: 0.75rem; }
.cases li { display: grid; gap: 0.5rem; padding: 0.75rem; border: 1px solid var(--line); border-radius: 0.875rem; }
.case-reason { overflow-wrap: anywhere; white-space: pre-wrap; }
.cases .excerpt { display: block; white-space: pre-wrap; }
.cases .ending, dialog .ending { flex-wrap: wrap; }
/* What moderators look at */

.context { display: grid; gap: 0.5rem; margin: 0; padding: 0; list-style: none; }
.context li { padding: 0.375rem 0.625rem; border-inline-start: 3px solid var(--line); border-radius: 0.5rem; }
.context [aria-current] { border-color: var(--accent); background: var(--quoted-raised); }
.context [data-deleted] { color: var(--muted); font-style: italic; }
.context:empty { display: none; }
summary { width: fit-content; padding-block: 0.25rem; color: var(--muted); font-size: 0.875rem; cursor: pointer; }
.narrowing { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 13rem), 1fr)); gap: 0.5rem; margin: 0; padding: 0.25rem 0 0; border: 0; }
progress { width: 100%; accent-color: var(--accent); }

@container chat (max-width: 44rem) {
  .blocked { width: calc(100% - 1.25rem); }
}
`);
