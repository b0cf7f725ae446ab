/** Pictures, and choices of people: in a chat, and on a page with a choice of its users. */

import { dress } from "./sheet.js";

dress("people", `
.avatar {
  position: relative;
  display: inline-grid;
  place-items: center;
  flex: none;
  width: 2.5rem;
  height: 2.5rem;
  border-radius: 50%;
  /* The hue is the person's. */
  background: light-dark(oklch(0.885 0.048 var(--hue, 200)), oklch(0.37 0.06 var(--hue, 200)));
  color: light-dark(oklch(0.38 0.09 var(--hue, 200)), oklch(0.9 0.06 var(--hue, 200)));
  font-size: 0.9375rem;
  font-weight: 600;
  letter-spacing: 0.01em;
  user-select: none;
}
.avatar[data-shape="square"] { border-radius: 32%; }
.avatar img { position: absolute; inset: 0; width: 100%; height: 100%; border-radius: inherit; object-fit: cover; opacity: 0; }
.avatar img[data-loaded] { opacity: 1; }

.choices { display: grid; gap: 0.25rem; }
.choice {
  display: flex;
  align-items: center;
  gap: 0.75rem;
  width: 100%;
  padding: 0.5rem 0.75rem;
  border: 0;
  border-radius: 0.875rem;
  background: none;
  color: var(--ink);
  font-weight: 500;
  text-align: start;
  text-decoration: none;
  cursor: pointer;
}
.choice:hover { background: var(--hover); }
.choice:has(:checked) { background: var(--chosen); }
.choice input { width: 1.125rem; height: 1.125rem; margin: 0; accent-color: var(--accent); }

/* The choice itself, and what a banned user sees */

.welcome { max-width: 24rem; margin: auto; padding: 2rem 1.5rem; display: grid; align-content: center; gap: 1rem; }
.welcome h1, .welcome h2 { font-size: 1.75rem; font-weight: 650; letter-spacing: -0.02em; line-height: 1.2; }
.welcome p { color: var(--muted); }
`);
