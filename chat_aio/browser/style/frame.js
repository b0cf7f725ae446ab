/** Colours, buttons and the frame. A page changes them by properties and parts. */

import { dress } from "./sheet.js";

dress("frame", `
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

/* Until it is loaded: neutral rows, as high as those of the list. */
.to-come { position: relative; }
.to-come::before {
  content: "";
  position: absolute;
  inset: 0.5rem 1.25rem;
  opacity: 0.5;
  background:
    radial-gradient(circle closest-side, var(--line) 100%, transparent) 0 0 / 2.75rem 4.125rem repeat-y,
    linear-gradient(transparent 35%, var(--line) 35% 65%, transparent 65%) 3.5rem 0 / 100% 4.125rem repeat-y;
  scale: var(--onward) 1;
}
.app[aria-hidden] > .nothing { background: var(--surface); }
@container chat (max-width: 44rem) { .app[aria-hidden] > .sidebar + .nothing { display: none; } }

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
`);
