/** Building and updating elements. Text goes in as text; there is no way to put in markup. */

/** An element; `on…` fields are listeners, others attributes (true: present, false: absent). */
export function element(tag, fields = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(fields)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else setAttribute(made, name, value);
  }
  made.append(...children);
  return made;
}

/** Set an attribute, or take it away for false, null and undefined. */
export function setAttribute(target, name, value) {
  if (value === false || value === null || value === undefined) target.removeAttribute(name);
  else target.setAttribute(name, value === true ? "" : value);
}

/** Change text only when it differs: live regions announce what is written, changed or not. */
export function setText(target, text) {
  if (target.textContent !== text) target.textContent = text;
}

export function avatar() {
  return element("span", { class: "avatar", "aria-hidden": "true" });
}

/** Show a picture ({initials, hue, shape, image}) in an avatar: the image, once it has come. */
export function setAvatar(target, { initials, hue, shape, image = null }) {
  setText(target, initials);
  target.dataset.shape = shape;
  target.style.setProperty("--hue", hue);
  const held = target.querySelector("img");
  if ((held?.getAttribute("src") ?? null) === image) return;
  held?.remove();
  if (image) target.append(imageAt(image));
}

/** Over the initials: they are seen until it is there, and if it never comes. */
function imageAt(src) {
  const made = element("img", { alt: "", decoding: "async", referrerpolicy: "no-referrer" });
  made.addEventListener("load", () => made.setAttribute("data-loaded", ""));
  setAttribute(made, "src", src);
  return made;
}

/**
 * The children of a list, kept in step with what they show.
 *
 * A row is {key, Row, state}: `new Row(tools)` has a `node`, and `show(state)`, which is called
 * when a field of the state has changed. Nodes are kept, so focus and scroll position are too.
 */
export class Rows {
  #parent;
  #tools;
  #held = new Map();

  constructor(parent, tools) {
    this.#parent = parent;
    this.#tools = tools;
  }

  show(rows) {
    // In a shadow tree the document knows its host only.
    const place = this.#parent.getRootNode();
    const focused = place.activeElement;
    const wanted = new Map(rows.map((each) => [each.key, each]));
    for (const [key, { view }] of this.#held) {
      if (!wanted.has(key)) {
        view.node.remove();
        this.#held.delete(key);
      }
    }
    let next = this.#parent.firstElementChild;
    for (const row of rows) {
      const { node } = this.#rowFor(row);
      if (node === next) next = next.nextElementSibling;
      else this.#parent.insertBefore(node, next);
    }
    // A row that has moved up has lost the focus. The reader stays where they look.
    const isLost = focused !== place.activeElement && this.#parent.contains(focused);
    if (isLost) focused.focus({ preventScroll: true });
  }

  nodeOf(key) {
    return this.#held.get(key)?.view.node ?? null;
  }

  #rowFor({ key, Row, state }) {
    const held = this.#held.get(key) ?? { view: new Row(this.#tools), state: null };
    if (!isSame(held.state, state)) held.view.show(state);
    this.#held.set(key, { view: held.view, state });
    return held.view;
  }
}

function isSame(before, after) {
  if (before === null) return false;
  return Object.keys(after).every((name) => Object.is(before[name], after[name]));
}
