/** The element's look. A page changes it by custom properties and parts (docs/guides/pages.md). */

const CSS = `
:host {
  display: block;
  block-size: 34rem;
  min-block-size: 12rem;
  --paper: var(--chat-aio-background, light-dark(#fdfcfa, #1b1f21));
  --ink: var(--chat-aio-color, light-dark(#20262a, #e5e8e6));
  --muted: var(--chat-aio-muted, light-dark(#5c656b, #a4adaf));
  --border: var(--chat-aio-border, light-dark(#d8d3c8, #33393c));
  --accent: var(--chat-aio-accent, light-dark(#1d6b59, #6fc8af));
  --on-accent: var(--chat-aio-on-accent, light-dark(#fff, #0d2a22));
  --own: var(--chat-aio-own, light-dark(#d9eae2, #1f4a3e));
  --other: var(--chat-aio-other, light-dark(#f0ede6, #282e31));
  --chosen: var(--chat-aio-chosen, light-dark(#e4ece7, #23352f));
  --danger: var(--chat-aio-danger, light-dark(#a8322a, #f2938a));
  --radius: var(--chat-aio-radius, 0.75rem);
  font: var(--chat-aio-font, 0.9375rem / 1.45 system-ui, sans-serif);
  color: var(--ink);
}
:host([hidden]), [hidden] { display: none !important; }
*, *::before, *::after { box-sizing: border-box; }
ul, p, h2, blockquote, dialog { margin: 0; padding: 0; list-style: none; font: inherit; }
button, textarea { font: inherit; color: inherit; background: none; border: 0; margin: 0; }
button { cursor: pointer; padding: 0.25rem 0.5rem; border-radius: 0.5rem; min-block-size: 1.75rem; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.log:focus-visible, .list button:focus-visible { outline-offset: -2px; }
a, .link { color: var(--accent); text-decoration: underline; }
.unseen {
  position: absolute; inline-size: 1px; block-size: 1px; overflow: hidden;
  clip-path: inset(50%); white-space: nowrap;
}
.root { container-type: inline-size; block-size: 100%; background: var(--paper); overflow: hidden;
  border: 1px solid var(--border); border-radius: var(--radius); }
.panes { display: grid; grid-template-columns: minmax(13rem, 1fr) 2.4fr; block-size: 100%; }
.panes[data-single] { grid-template-columns: 1fr; }
.panes[data-single] > .list, .panes[data-single] .back { display: none; }
.list { overflow-y: auto; border-inline-end: 1px solid var(--border); padding: 0.5rem; }
.list li > button { display: grid; grid-template-columns: 1fr auto; gap: 0 0.5rem;
  inline-size: 100%; padding: 0.5rem; text-align: start; }
.list li > button:hover, .list [aria-current] { background: var(--chosen); }
.title { font-weight: 600; }
.title, .preview { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
time, .preview, .note, .edited, .hint, .line, .replying, .typing { color: var(--muted);
  font-size: 0.8125rem; }
.badge { justify-self: end; background: var(--accent); color: var(--on-accent); border-radius: 1rem;
  padding: 0 0.5rem; font-size: 0.8125rem; font-weight: 600; }
.hint { padding: 1rem; text-align: center; }
.talk, .thread { display: flex; flex-direction: column; min-block-size: 0; min-inline-size: 0; }
.talk, .thread { grid-column: 2; grid-row: 1; }
.panes[data-single] > :is(.talk, .thread) { grid-column: 1; }
.thread { border-inline-start: 1px solid var(--border); background: var(--paper); }
.panes[data-thread] > .talk { visibility: hidden; }
:is(.talk, .thread) > header { display: flex; gap: 0.5rem; align-items: center;
  padding: 0.5rem 1rem; min-block-size: 3.75rem; border-block-end: 1px solid var(--border); }
:is(.talk, .thread) h2 { font-weight: 600; overflow: hidden; text-overflow: ellipsis;
  white-space: nowrap; }
.back { display: none; min-inline-size: 2.75rem; min-block-size: 2.75rem; }
.close { margin-inline-start: auto; min-inline-size: 2.75rem; min-block-size: 2.75rem; }
.banner { background: var(--chosen); padding: 0.25rem 1rem; }
.stage { position: relative; flex: 1; min-block-size: 0; }
.log { block-size: 100%; overflow-y: auto; overflow-anchor: none; padding: 0.5rem 1rem;
  display: flex; flex-direction: column; gap: 0.375rem; position: relative; }
.line { text-align: center; padding: 0.25rem; }
.line.day span { display: inline-block; }
.line.day span::first-letter { text-transform: uppercase; }
.talk .line.edge { margin-block-start: auto; }
.line.unread { color: var(--accent); border-block-end: 1px solid; }
.message { align-self: flex-start; max-inline-size: min(85%, 36rem); position: relative; }
.message[data-from="me"] { align-self: flex-end; }
.bubble { background: var(--other); border-radius: var(--radius); padding: 0.375rem 0.75rem; }
.message[data-from="me"] .bubble { background: var(--own); }
.message[data-state="deleted"] .body { font-style: italic; }
.author { display: block; font-weight: 600; font-size: 0.8125rem; }
.body { white-space: pre-wrap; overflow-wrap: anywhere; }
.bubble :is(.edited, .quote) { color: inherit; opacity: 0.8; }
.quote { border-inline-start: 3px solid var(--accent); padding-inline-start: 0.5rem;
  font-size: 0.8125rem; overflow: hidden; display: -webkit-box; -webkit-line-clamp: 2;
  -webkit-box-orient: vertical; }
.mention { font-weight: 600; }
.mention[data-me] { background: var(--accent); color: var(--on-accent); border-radius: 0.25rem;
  padding-inline: 0.125rem; }
.meta { display: flex; flex-wrap: wrap; gap: 0.5rem; align-items: baseline; }
.message[data-from="me"] .meta { justify-content: flex-end; }
.message[data-state="failed"] .note, .problem, .danger { color: var(--danger); }
.problem { font-size: 0.8125rem; padding: 0 0.5rem 0.25rem; }
dialog { margin: auto; padding: 1rem; max-inline-size: 22rem; color: var(--ink);
  background: var(--paper); border: 1px solid var(--border); border-radius: var(--radius); }
dialog h2 { font-weight: 600; }
dialog::backdrop { background: rgb(0 0 0 / 0.4); }
.attachments { display: flex; flex-wrap: wrap; gap: 0.5rem; padding-block: 0.25rem; }
.picture img { display: block; max-inline-size: 15rem; block-size: auto; max-block-size: 15rem;
  object-fit: contain; border-radius: 0.5rem; }
.file { display: inline-block; padding: 0.25rem 0; min-block-size: 1.75rem; color: inherit; }
.file-name { overflow-wrap: anywhere; }
.file-about { font-size: 0.8125rem; opacity: 0.8; }
.files { padding: 0 0.5rem 0.25rem; }
.files li { display: flex; gap: 0.5rem; align-items: center; }
.files [data-state="failed"] .file-about { color: var(--danger); opacity: 1; }
.files .small { margin-inline-start: auto; min-inline-size: 2.75rem; min-block-size: 2.75rem; }
progress { inline-size: 6rem; accent-color: var(--accent); }
.add { min-inline-size: 2.75rem; min-block-size: 2.75rem; }
.choices { display: flex; gap: 0.5rem; justify-content: flex-end; margin-block-start: 1rem; }
.choice { border: 1px solid var(--border); min-block-size: 2.75rem; padding-inline: 1rem; }
.small { color: var(--accent); padding: 0.125rem 0.375rem; min-inline-size: 1.75rem; }
.thread-link { display: block; padding: 0.125rem 0.375rem; font-size: 0.8125rem; }
.message[data-from="me"] .thread-link { margin-inline-start: auto; }
.actions { position: absolute; inset-block-end: calc(100% - 0.25rem); inset-inline-start: 0;
  z-index: 1; display: flex; flex-wrap: wrap; inline-size: max-content; max-inline-size: 17rem;
  background: var(--paper); border: 1px solid var(--border); border-radius: 0.5rem; }
.message[data-from="me"] .actions { inset-inline: auto 0; }
.message:not(:hover, [data-focused]) .actions { visibility: hidden; }
@media (hover: none) {
  .actions { position: static; max-inline-size: 100%; }
  .message:not([data-focused]) .actions { display: none; }
  .actions .small { min-inline-size: 2.75rem; min-block-size: 2.75rem; }
}
.chips { display: flex; flex-wrap: wrap; gap: 0.25rem; margin-block-start: 0.25rem; }
.chip { border: 1px solid var(--border); padding: 0 0.5rem; border-radius: 1rem; }
.chip[aria-pressed="true"] { border-color: var(--accent); background: var(--chosen); }
.to-newest { position: absolute; inset-block-end: 0.5rem; inset-inline-end: 1rem;
  background: var(--accent); color: var(--on-accent); min-inline-size: 2.75rem;
  min-block-size: 2.75rem; }
.typing { padding: 0 1rem; min-block-size: 1.25rem; }
form { border-block-start: 1px solid var(--border); padding: 0.5rem; }
.replying { display: flex; justify-content: space-between; padding-inline: 0.5rem; }
.writing { display: flex; gap: 0.5rem; align-items: flex-end; }
textarea { flex: 1; resize: none; field-sizing: content; min-block-size: 2.75rem;
  max-block-size: 8rem; padding: 0.5rem 0.75rem; border: 1px solid var(--muted);
  border-radius: var(--radius); min-inline-size: 0; }
textarea::placeholder { color: var(--muted); opacity: 1; }
[part="send"] { background: var(--accent); color: var(--on-accent); font-weight: 600;
  min-block-size: 2.75rem; padding-inline: 1rem; }
:disabled, [aria-disabled="true"] { opacity: 0.6; cursor: default; }
@container (min-width: 58rem) {
  .panes[data-thread]:not([data-single]) {
    grid-template-columns: minmax(13rem, 1fr) minmax(0, 2fr) minmax(18rem, 1.5fr);
  }
  .panes[data-thread]:not([data-single]) > .talk { visibility: visible; }
  .panes[data-thread]:not([data-single]) > .thread { grid-column: 3; }
}
@container (min-width: 42rem) {
  .panes[data-single][data-thread] { grid-template-columns: minmax(0, 1.4fr) minmax(18rem, 1fr); }
  .panes[data-single][data-thread] > .talk { visibility: visible; }
  .panes[data-single][data-thread] > .thread { grid-column: 2; }
}
@container (max-width: 36rem) {
  .panes { grid-template-columns: 1fr; }
  .panes > :is(.talk, .thread) { grid-column: 1; }
  .thread { border: 0; }
  .panes[data-view="talk"] > .list, .panes[data-view="list"] > .talk { display: none; }
  .panes:not([data-single]) .back { display: inline-block; }
  .list { border: 0; }
  .list li > button { min-block-size: 3.5rem; }
  textarea { font-size: max(1rem, 16px); }
}
`;

/** Made by script: a page's Content-Security-Policy need not allow styles within HTML. */
export function makeSheet() {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(CSS);
  return sheet;
}
