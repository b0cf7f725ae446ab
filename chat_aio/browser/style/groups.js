/** Groups: their details, the channels, and the screen of an invite link. */

import { dress } from "./sheet.js";

dress("groups", `
.ending { display: flex; align-items: center; justify-content: end; gap: 0.5rem; }
.done { flex: 1; min-height: 1.45em; color: var(--muted); font-size: 0.875rem; }
.role { flex: none; padding: 0 0.5rem; border-radius: 1rem; background: var(--hover); color: var(--muted); font-size: 0.75rem; font-weight: 600; line-height: 1.5rem; }
.field :disabled { opacity: 0.6; }
textarea { resize: vertical; }

/* The details */

.details { flex: 1; overflow-y: auto; padding: 0 1rem max(1rem, env(safe-area-inset-bottom)); scrollbar-width: thin; }
.section { display: grid; gap: 0.625rem; padding-block: 1rem; }
.section:not([hidden]) ~ .section { border-block-start: 1px solid var(--line); }
.section-head { display: flex; align-items: center; justify-content: space-between; gap: 0.5rem; min-height: 2.125rem; }
.section h3:focus { outline: none; }
.section h3 { margin: 0; font-size: 0.9375rem; font-weight: 650; }
.section form { display: grid; gap: 0.75rem; }
.section > .small { justify-self: start; }
.section .hint { padding: 0.25rem 0; text-align: start; }
.section .avatar, .channel .avatar { width: 2.25rem; height: 2.25rem; font-size: 0.8125rem; }

.persons li, .person { display: flex; align-items: center; gap: 0.75rem; min-height: 2.5rem; }
.persons li { padding-block: 0.125rem; }
.persons .icon { flex: none; margin-inline-end: -0.625rem; }
.persons .icon svg { stroke-width: 2.6; }
.person-name { flex: 1; min-width: 0; overflow: hidden; font-weight: 500; text-overflow: ellipsis; white-space: nowrap; }

.links, .requests { display: grid; gap: 0.75rem; }
.links li, .requests li { display: grid; gap: 0.375rem; padding: 0.625rem; border: 1px solid var(--line); border-radius: 0.875rem; }
.link-line { display: flex; align-items: center; justify-content: space-between; gap: 0.5rem; }
.link-line .small { flex: none; min-width: 5rem; }
.links input { flex: 1; min-width: 0; padding: 0.25rem 0.5rem; border: 0; border-radius: 0.5rem; background: var(--hover); color: var(--ink); font-size: 0.8125rem; text-overflow: ellipsis; }
.links [data-spent] input { color: var(--muted); text-decoration: line-through; }
.terms { color: var(--muted); font-size: 0.8125rem; }
.request-note { padding: 0.375rem 0.625rem; border-radius: 0.5rem; background: var(--other); font-size: 0.875rem; overflow-wrap: anywhere; white-space: pre-wrap; }

/* Screens of their own */

.screen { display: flex; flex-direction: column; min-width: 0; min-height: 0; background: var(--surface); }
.inbox-item { display: flex; align-items: center; gap: 0.5rem; }
.inbox-item .row { flex: 1; min-width: 0; width: 100%; border: 0; background: none; text-align: start; }
.inbox-item .replies { color: var(--muted); font-size: 0.8125rem; }
.screen .headings { font-size: 1.0625rem; font-weight: 650; letter-spacing: -0.01em; }
.screen .headings:focus { outline: none; }
.screen .bar { border-bottom: 1px solid var(--line); }
.screen-body { flex: 1; overflow-y: auto; padding: 0.5rem max(1rem, (100% - 46rem) / 2) max(1rem, env(safe-area-inset-bottom)); scrollbar-width: thin; }
.screen-body .problem { padding: 0.5rem 0; }
.channel { display: grid; grid-template-columns: auto minmax(0, 1fr) auto; align-items: center; gap: 0.75rem; min-height: 3.5rem; padding: 0.5rem 0; border-block-end: 1px solid var(--line); }
.channel .row-title, .channel .row-preview { display: block; }
.channel .row-preview { white-space: normal; }

#invite-title:focus { outline: none; }
#invite form { display: grid; justify-items: center; gap: 0.75rem; width: min(24rem, 100% - 2rem); margin: auto; padding-block: 1rem 6rem; text-align: center; }
#invite .avatar { width: 4.5rem; height: 4.5rem; font-size: 1.5rem; }
#invite-title { font-size: 1.5rem; line-height: 1.25; overflow-wrap: anywhere; }
#invite p { color: var(--muted); }
#invite .problem { color: var(--danger); }
#invite p:empty { display: none; }
#invite .field { width: 100%; text-align: start; }
#invite .primary { min-width: 10rem; }
`);
