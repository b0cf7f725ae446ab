/** A message: its bubble, its quote, reactions, and its buttons. */

import { dress } from "./sheet.js";

dress("message", `
.message {
  position: relative;
  display: grid;
  grid-template: "avatar author" "avatar bubble" ". extras" ". meta" / auto minmax(0, auto);
  justify-content: start;
  justify-items: start;
  margin-top: 0.1875rem;
  padding-inline-end: 12%;
}
.message[data-place~="head"] { margin-top: 0.75rem; }
.message[data-from="me"] { justify-content: end; justify-items: end; padding-inline: 12% 0; }

.message .avatar { grid-area: avatar; align-self: end; width: 2rem; height: 2rem; margin-inline-end: 0.5rem; font-size: 0.8125rem; }
.message:not([data-place~="tail"]) .avatar { visibility: hidden; }
.message:not([data-named]) .avatar { display: none; }

.author { grid-area: author; padding-inline-start: 0.875rem; color: var(--muted); font-size: 0.8125rem; font-weight: 600; }
.message:not([data-named][data-place~="head"]) .author { position: absolute; clip-path: inset(50%); }

.bubble {
  --round: 1.125rem;
  --joint: 0.375rem;
  grid-area: bubble;
  position: relative;
  min-width: 0;
  max-width: 100%;
  padding: 0.4375rem 0.875rem;
  border-radius: var(--round);
  border-start-start-radius: var(--joint);
  border-end-start-radius: var(--joint);
  background: var(--other);
}
[data-place~="head"] .bubble { border-start-start-radius: var(--round); }
[data-place~="tail"] .bubble { border-end-start-radius: var(--round); }
[data-from="me"] .bubble { background: var(--own); border-radius: var(--round); border-start-end-radius: var(--joint); border-end-end-radius: var(--joint); }
[data-from="me"][data-place~="head"] .bubble { border-start-end-radius: var(--round); }
[data-from="me"][data-place~="tail"] .bubble { border-end-end-radius: var(--round); }

.body { white-space: pre-wrap; overflow-wrap: anywhere; }
.body > :is(ol, ul, pre, blockquote) { margin: 0; }
.body > * + :is(p, ol, ul, pre, blockquote) { margin-block-start: 0.5rem; }
.body ol, .body ul { padding: 0; padding-inline-start: 1.5rem; list-style: revert; }
.body blockquote { padding-inline-start: 0.625rem; border-inline-start: 3px solid var(--soft); color: var(--soft); }
.body code { padding: 0.0625rem 0.25rem; border-radius: 0.3125rem; background: var(--quoted); font: 0.875em/1.4 var(--mono); }
.body pre { padding: 0.5rem 0.75rem; border-radius: 0.5rem; background: var(--quoted); white-space: pre-wrap; text-align: start; }
.body pre code { padding: 0; background: none; }
.body strong { font-weight: 700; }
.body[data-large] { font-size: 2.5rem; line-height: 1.2; }
.body[data-folded] { max-height: 29em; overflow: hidden; mask-image: linear-gradient(#000 calc(100% - 3em), transparent); }
.fold { margin-block: 0.25rem 0.125rem; }
[data-state="deleted"] .bubble { background: none; box-shadow: inset 0 0 0 1px var(--line); }
[data-state="deleted"] .body { color: var(--muted); font-style: italic; }
[data-state="pending"] .bubble, [data-state="waiting"] .bubble, [data-state="held"] .bubble { opacity: 0.65; }
[data-state="failed"] .bubble { box-shadow: inset 0 0 0 1px var(--danger); }

.meta { grid-area: meta; display: flex; flex-wrap: wrap; gap: 0 0.5rem; padding: 0.125rem 0.875rem 0; color: var(--muted); font-size: 0.75rem; font-variant-numeric: tabular-nums; }
[data-from="me"] .meta { justify-content: end; }
.note:empty { display: none; }
[data-state="failed"] .note { color: var(--danger); }
.link { padding: 0; border: 0; background: none; color: var(--accent); font-weight: 600; text-decoration: underline; text-underline-offset: 0.2em; }
.failed-actions { display: inline-flex; gap: 0.75rem; }

/* Inside a group of messages the time stands beside the bubble, when one points at it. */
.message:not([data-place~="tail"], [data-state="failed"], [data-state="waiting"], [data-state="held"]) .meta {
  grid-area: bubble;
  align-self: center;
  justify-self: end;
  padding: 0 0.5rem;
  translate: calc(100% * var(--onward)) 0;
  white-space: nowrap;
  opacity: 0;
  transition: opacity 120ms;
}
[data-from="me"]:not([data-place~="tail"], [data-state="failed"], [data-state="waiting"], [data-state="held"]) .meta { justify-self: start; translate: calc(-100% * var(--onward)) 0; }
.message:hover .meta, .message:focus-within .meta { opacity: 1 !important; }

.message:focus-visible { border-radius: 0.75rem; outline-offset: 2px; }
.message[data-pointed] .bubble { animation: pointed 2s ease-out; }
@keyframes pointed { 0%, 40% { box-shadow: 0 0 0 3px var(--accent); } 100% { box-shadow: 0 0 0 3px transparent; } }

.edited { display: block; margin-top: 0.0625rem; color: var(--soft); font-size: 0.75rem; text-align: end; }
.mention { padding: 0 0.1875rem; margin: 0 -0.1875rem; border-radius: 0.375rem; color: var(--accent); font-weight: 600; }
.mention[data-me] { background: var(--accent); color: var(--on-accent); margin: 0; }
.message[data-mentions-me] .bubble { background: var(--noticed); box-shadow: inset 0.1875rem 0 0 var(--accent); }

.origin { margin-bottom: 0.125rem; color: var(--soft); font-size: 0.75rem; font-style: italic; }
.origin .link { font-style: normal; }

.quote {
  display: block;
  width: 100%;
  margin: 0.125rem 0 0.3125rem;
  padding: 0.25rem 0.625rem;
  border: 0;
  border-inline-start: 3px solid light-dark(oklch(0.38 0.09 var(--hue, 200)), oklch(0.9 0.06 var(--hue, 200)));
  border-radius: 0.375rem;
  background: var(--quoted);
  font-size: 0.8125rem;
  line-height: 1.35;
  text-align: start;
}
.quote:hover { filter: brightness(0.98); }
.quote-author { display: block; color: light-dark(oklch(0.38 0.09 var(--hue, 200)), oklch(0.9 0.06 var(--hue, 200))); font-weight: 650; }
.quote-author:empty { display: none; }
.quote-text { display: -webkit-box; overflow: hidden; overflow-wrap: anywhere; -webkit-box-orient: vertical; -webkit-line-clamp: 2; }
.quote[data-deleted] .quote-text { color: var(--soft); font-style: italic; }

/* Below the bubble */

.extras { grid-area: extras; display: flex; flex-wrap: wrap; align-items: center; gap: 0.25rem 0.5rem; max-width: 100%; }
.extras:has(> :not([hidden])) { padding: 0.25rem 0 0.125rem; }
[data-from="me"] .extras { justify-content: end; }
.chips { display: flex; flex-wrap: wrap; gap: 0.25rem; min-width: 0; }
[data-from="me"] .chips { justify-content: end; }
.chip {
  display: inline-flex;
  align-items: center;
  gap: 0.3125rem;
  max-width: 100%;
  padding: 0.0625rem 0.5rem;
  border: 1px solid var(--line);
  border-radius: 1rem;
  background: var(--raised);
  font-size: 0.8125rem;
  line-height: 1.5;
}
.chip:hover { border-color: var(--muted); }
.chip[aria-pressed="true"] { border-color: var(--accent); background: var(--chosen); color: var(--accent); font-weight: 650; }
.chip .emoji { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.chip .count { font-variant-numeric: tabular-nums; }
.thread-link { padding: 0.125rem 0.5rem; border: 0; border-radius: 1rem; background: none; color: var(--muted); font-size: 0.8125rem; text-align: start; }
.thread-link strong { color: var(--accent); font-weight: 650; }
.thread-link:hover { background: var(--hover); }

/*
 * It lies over the log, so that nothing moves when it comes, and at the far side of the row: at the
 * near one are the reactions and the thread of the message above.
 */
.toolbar {
  position: absolute;
  z-index: 2;
  grid-row: bubble;
  /* Further up it would cover the end of the message above. */
  inset-block-start: -0.5rem;
  inset-inline-end: 0;
  display: flex;
  visibility: hidden;
  border: 1px solid var(--line);
  border-radius: 0.75rem;
  background: var(--raised);
  box-shadow: 0 2px 8px rgb(0 0 0 / 10%);
}
[data-from="me"] .toolbar { inset-inline: 0 auto; }
.toolbar button { display: grid; place-items: center; width: 2rem; height: 1.875rem; padding: 0; border: 0; border-radius: 0.625rem; background: none; color: var(--muted); }
.toolbar button:hover { background: var(--hover); color: var(--ink); }
.toolbar button:focus-visible { outline-offset: -2px; }
.toolbar svg { width: 1.1875rem; height: 1.1875rem; }
.toolbar [aria-haspopup] svg { stroke-width: 2.6; }
/* One at a time. */
.message[data-active] .toolbar, [data-keys] .message[data-focused] .toolbar { visibility: visible; }
@media (hover: hover) { :not([data-keys], :has(> [data-active])) > .message:hover .toolbar { visibility: visible; } }
@media (hover: none) {
  .toolbar { inset-block-start: 0; }
  .toolbar button { width: 2.75rem; height: 2.5rem; }
}

@container chat (max-width: 44rem) {
  .message, .message[data-from="me"] { padding-inline: 0; }
  .message .bubble { max-width: calc(100cqi - 5.5rem); }
}

@media (prefers-reduced-motion: reduce) {
  .message[data-pointed] .bubble { animation: none; box-shadow: 0 0 0 3px var(--accent); }
}

/* Files */

.attachments { display: flex; flex-wrap: wrap; gap: 0.375rem; margin-block-start: 0.375rem; }
.picture { cursor: zoom-in; }
.picture img { display: block; max-width: 100%; height: auto; border-radius: 0.625rem; background: var(--hover); }
.file { display: inline-flex; gap: 0.5rem; align-items: baseline; padding: 0.375rem 0.75rem; border: 1px solid var(--line); border-radius: 0.625rem; }
.file-name { overflow-wrap: anywhere; }
.file-about { flex: none; color: var(--muted); font-size: 0.8125rem; }
.files { display: flex; flex-direction: column; gap: 0.25rem; margin: 0; padding: 0.5rem 1rem 0; list-style: none; }
.files li { display: flex; align-items: center; gap: 0.5rem; font-size: 0.875rem; }
.file-preview { flex: none; width: 2.5rem; height: 2.5rem; border-radius: 0.5rem; background: var(--hover); object-fit: cover; }
.files progress { flex: 1; min-width: 4rem; accent-color: var(--accent); }
.files .icon { margin-inline-start: auto; }
.files [data-state="failed"] .file-about { flex: 1; color: var(--danger); }
.files[hidden] { display: none; }

/* Above the messages, while files are held over them. */
.stage[data-dropping]::after {
  content: attr(data-drop-words);
  position: absolute;
  z-index: 3;
  inset: 0.5rem;
  display: grid;
  place-items: center;
  border: 2px dashed var(--accent);
  border-radius: 0.75rem;
  background: color-mix(in srgb, var(--raised) 88%, transparent);
  color: var(--accent);
  font-size: 1.125rem;
  font-weight: 650;
  pointer-events: none;
}

/* An image, large */

/*
 * In the whole window, dark in every colour scheme, and as large for each image, so that the next
 * press finds its button where the last one did.
 */
dialog.gallery {
  --raised: #15181a;
  --ink: #e5e8e6;
  --muted: #b9c2c2;
  --line: #454d51;
  --hover: #2c3235;
  --accent: #6fc8af;
  --danger: #f2938a;
  width: 100vw;
  max-width: none;
  height: 100dvh;
  max-height: none;
  border-radius: 0;
  background: var(--raised);
  color: var(--ink);
  color-scheme: dark;
}
.gallery form { grid-template: auto minmax(8rem, 1fr) / minmax(0, 1fr) auto; gap: 0.5rem; min-height: 100%; }
.gallery form > * { grid-column: 1 / -1; }
.gallery .side { position: absolute; z-index: 1; inset-block-start: calc(50% - 2.5rem); width: 3rem; height: 5rem; border-radius: 0.75rem; background: rgb(21 24 26 / 70%); color: var(--ink); }
.gallery .side:hover { background: var(--hover); }
.gallery .side:disabled { opacity: 0.25; }
.gallery .previous { inset-inline-start: 0.75rem; }
.gallery .next { inset-inline-end: 0.75rem; }
.gallery h2 { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.gallery-image { display: grid; grid-template: minmax(0, 1fr) / minmax(0, 1fr); place-items: center; min-height: 0; overflow: hidden; contain: size; }
.gallery-image[data-larger] { cursor: grab; touch-action: none; }
.gallery-image img { max-width: 100%; max-height: 100%; width: auto; height: auto; border-radius: 0.625rem; background: var(--hover); }
.gallery form > .ending { grid-column: 1; }
.gallery form > menu { grid-column: 2; align-self: end; }
`);
