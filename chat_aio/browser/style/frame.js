/** Colours, buttons, the frame and the list. A page changes them by properties and parts. */

export const frame = `
:host {
  display: block;
  block-size: 34rem;
  min-block-size: 12rem;
  --radius: var(--chat-aio-radius, 0.75rem);
  --onward: 1;
  --paper: var(--chat-aio-side, light-dark(#f4f2ed, #15181a));
  --surface: var(--chat-aio-background, light-dark(#fdfcfa, #1b1f21));
  --raised: light-dark(#fff, #24292c);
  --ink: var(--chat-aio-color, light-dark(#20262a, #e5e8e6));
  --muted: var(--chat-aio-muted, light-dark(#5c656b, #9ca6a8));
  --line: var(--chat-aio-border, light-dark(#e3dfd6, #2c3235));
  --hover: light-dark(#eae6dd, #202527);
  --chosen: var(--chat-aio-chosen, light-dark(#dfe9e3, #23352f));
  --accent: var(--chat-aio-accent, light-dark(#1d6b59, #6fc8af));
  --on-accent: var(--chat-aio-on-accent, light-dark(#fff, #0d2a22));
  --own: var(--chat-aio-own, light-dark(#d9eae2, #1f4a3e));
  --other: var(--chat-aio-other, light-dark(#f0ede6, #282e31));
  --soft: light-dark(#4b545a, #b9c2c2);
  --noticed: light-dark(#faeecb, #3d3722);
  --marked: light-dark(#f6dd8f, #6b5712);
  --quoted: light-dark(rgb(255 255 255 / 55%), rgb(0 0 0 / 18%));
  --quoted-raised: light-dark(#f4f2ed, #1b1f21);
  --danger: var(--chat-aio-danger, light-dark(#a8322a, #f2938a));
  --waiting: light-dark(#9a6510, #e0b468);
  --shadow: 0 1px 2px light-dark(rgb(32 38 42 / 8%), rgb(0 0 0 / 40%)), 0 12px 40px light-dark(rgb(32 38 42 / 16%), rgb(0 0 0 / 50%));
  --emoji: "Apple Color Emoji", "Segoe UI Emoji", "Noto Color Emoji";
  --font: Inter, system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif, var(--emoji);
  --mono: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace, var(--emoji);
  font: var(--chat-aio-font, 0.9375rem / 1.45 var(--font));
  color: var(--ink);
}
:host([hidden]) { display: none; }
:host([view="full"]) { block-size: 100dvh; }

.root {
  container: chat / inline-size;
  position: relative;
  display: flex;
  flex-direction: column;
  block-size: 100%;
  overflow: hidden;
  border: 1px solid var(--line);
  border-radius: var(--radius);
  background: var(--paper);
  -webkit-font-smoothing: antialiased;
}
:host([view="full"]) .root { border: 0; border-radius: 0; }

/* Where lines begin on the right, what stands behind something stands left of it, and arrows turn. */
.root:dir(rtl) { --onward: -1; }
.root:dir(rtl) .pointing { scale: -1 1; }
/* As long as nothing is written, what stands there is the page's. */
.root:dir(rtl) :placeholder-shown { direction: rtl; }
/* A name runs as it is written, and stands where the page's lines begin. */
.headings [dir="auto"], .row-title, .person-name, .choice-title { text-align: -webkit-match-parent; text-align: match-parent; }

*, *::before, *::after { box-sizing: border-box; }

/* Stronger than any display below: hidden means hidden. */
[hidden] { display: none !important; }

h1, h2, p, ul, menu, fieldset { margin: 0; padding: 0; border: 0; }
ul, menu { list-style: none; }
button, input, select, textarea { font: inherit; color: inherit; }
button { cursor: pointer; }
a { color: var(--accent); text-underline-offset: 0.2em; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }

svg { fill: none; stroke: currentcolor; stroke-width: 1.8; stroke-linecap: round; stroke-linejoin: round; }

/* For those who listen only. */
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }

/* Controls */

.icon {
  display: inline-grid;
  place-items: center;
  width: 2.5rem;
  height: 2.5rem;
  border: 0;
  border-radius: 0.75rem;
  background: none;
  color: var(--muted);
}
.icon svg { width: 1.375rem; height: 1.375rem; }
.icon:hover { background: var(--hover); color: var(--ink); }

.primary, .quiet { padding: 0.5rem 1rem; border: 1px solid transparent; border-radius: 0.75rem; font-weight: 600; }
.primary { background: var(--accent); color: var(--on-accent); }
.primary:hover { filter: brightness(1.08); }
.quiet { background: none; border-color: var(--line); color: var(--ink); }
.quiet:hover { background: var(--hover); }

/* The frame */

.app { display: grid; grid-template-columns: minmax(17rem, 22rem) minmax(0, 1fr); flex: 1; min-height: 0; --layout: wide; }
.app[data-single] { grid-template-columns: minmax(0, 1fr); }
@container chat (max-width: 64rem) { .app { --layout: narrow; } }
@container chat (max-width: 44rem) { .app { --layout: phone; } }

.sidebar { display: flex; flex-direction: column; min-height: 0; border-inline-end: 1px solid var(--line); }
.sidebar > .icon { flex: none; align-self: end; margin-inline-end: 0.5rem; }

.bar {
  display: flex;
  align-items: center;
  gap: 0.75rem;
  flex: none;
  min-height: 4.25rem;
  padding: 0.75rem max(1rem, env(safe-area-inset-right)) 0.75rem max(1rem, env(safe-area-inset-left));
}
.headings { flex: 1; min-width: 0; line-height: 1.3; }
.me strong { font-weight: 650; }
.tools { display: flex; margin-inline-end: -0.5rem; }

.status { display: flex; align-items: center; gap: 0.4rem; color: var(--muted); font-size: 0.8125rem; }
.status::before { content: ""; width: 0.5rem; height: 0.5rem; border-radius: 50%; background: var(--waiting); }
[data-status="live"] .status::before { background: var(--accent); }

.notice:not(:empty) { margin: 0 1rem 0.5rem; padding: 0.5rem 0.75rem; border-radius: 0.75rem; background: var(--hover); color: var(--danger); }
.notice[data-done] { color: inherit; }

/* The list */

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

/* Dialogs */

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
`;
