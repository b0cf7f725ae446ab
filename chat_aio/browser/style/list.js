/** The list of conversations, and the box of the search above it. */

import { dress } from "./sheet.js";

dress("list", `
.list { position: relative; flex: 1; overflow-y: auto; overflow-anchor: none; padding: 0 0.5rem max(0.5rem, env(safe-area-inset-bottom)); scrollbar-width: thin; }
.sidebar:not(:has(> .bar, > .search)) > .list { padding-block-start: 0.5rem; }
/* All rows are of one height, margins included: the list counts on it. */
#conversations { position: relative; }
#conversations li { display: flow-root; }
/* One that has the focus, far from what is seen: it takes no room. */
#conversations li[data-apart] { position: absolute; inset-inline: 0; }
.hint { padding: 1rem; color: var(--muted); text-align: center; }

.row {
  display: grid;
  grid-template-columns: auto minmax(0, 1fr);
  gap: 0.75rem;
  align-items: center;
  margin-block: 0.0625rem;
  padding: 0.625rem 0.75rem;
  border-radius: 0.875rem;
  color: inherit;
  text-decoration: none;
}
.row-line { display: flex; gap: 0.5rem; align-items: center; justify-content: space-between; }
.row:hover { background: var(--hover); }
.row[aria-current] { background: var(--chosen); }
.row:focus-visible { outline-offset: -2px; }
.row .avatar { width: 2.75rem; height: 2.75rem; }
.row-title, .row-preview { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.row-title { font-weight: 550; }
.row-preview { min-height: 1.45em; color: var(--muted); font-size: 0.875rem; }
.row-time { flex: none; color: var(--muted); font-size: 0.75rem; font-variant-numeric: tabular-nums; }
.row[data-unread] .row-title { font-weight: 700; }
.row[data-unread] .row-preview { color: var(--ink); }
.row-preview[data-kind="draft"] { font-style: italic; }
.row-preview[data-kind="typing"] { color: var(--accent); }
.row[data-unread] .row-time { color: var(--accent); font-weight: 600; }

.waiting-mark { display: inline-flex; color: var(--accent); }
.waiting-mark[hidden] { display: none; }
.waiting-mark svg { width: 1rem; height: 1rem; }
.mention-mark { margin-inline-start: auto; color: var(--accent); font-weight: 700; }
.badge {
  flex: none;
  min-width: 1.25rem;
  padding: 0 0.375rem;
  border-radius: 1rem;
  background: var(--accent);
  color: var(--on-accent);
  font-size: 0.75rem;
  font-weight: 700;
  line-height: 1.25rem;
  text-align: center;
  font-variant-numeric: tabular-nums;
}

/* The box of the search */

.search { flex: none; display: grid; grid-template-columns: minmax(0, 1fr); gap: 0.5rem; padding: 0 1rem 0.625rem; }
.search-box { display: flex; align-items: center; padding-inline-start: 0.75rem; border: 1px solid var(--line); border-radius: 0.875rem; background: var(--raised); }
.search-box:focus-within { border-color: var(--accent); box-shadow: 0 0 0 1px var(--accent); }
.search-box > svg { flex: none; width: 1.125rem; height: 1.125rem; color: var(--muted); }
.search-box input { flex: 1; min-width: 0; height: 2.375rem; padding: 0 0.625rem; border: 0; outline: none; background: none; font-size: 1rem; appearance: none; }
.search-box input::-webkit-search-cancel-button { display: none; }
.search-box input::placeholder { color: var(--muted); opacity: 1; }
.search-box .icon { flex: none; width: 2.25rem; height: 2.25rem; }
.search-box .icon svg { width: 1rem; height: 1rem; }
.search .check { font-size: 0.8125rem; }

.check { display: flex; align-items: center; gap: 0.5rem; color: var(--muted); cursor: pointer; }
.check input { flex: none; width: 1rem; height: 1rem; margin: 0; accent-color: var(--accent); }
.check span { min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.small { padding: 0.25rem 0.75rem; border-radius: 0.625rem; font-size: 0.875rem; text-decoration: none; white-space: nowrap; }
.small:disabled { opacity: 0.5; cursor: default; filter: none; }

.acts { display: flex; flex-wrap: wrap; align-items: center; gap: 0.5rem; }

.muted-mark { flex: none; display: inline-grid; margin-inline: -0.125rem auto; color: var(--muted); }
.muted-mark svg { width: 1rem; height: 1rem; }
.row[data-muted] .badge { background: var(--muted); color: var(--surface); }

.shortcut { display: flex; align-items: center; gap: 0.75rem; margin-block: 0.125rem; padding: 0.5rem 0.75rem; border-radius: 0.875rem; color: inherit; font-weight: 550; text-decoration: none; }
.shortcut svg { width: 1.25rem; height: 1.25rem; margin-inline: 0.75rem; color: var(--muted); }
.shortcut:hover { background: var(--hover); }
.shortcut[aria-current] { background: var(--chosen); }
.shortcut:focus-visible { outline-offset: -2px; }

#banned-title:focus { outline: none; }
.shortcut .badge { margin-inline-start: auto; }
`);
