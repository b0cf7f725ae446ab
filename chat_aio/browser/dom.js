/** Building and updating elements. Text is inserted as text; markup cannot be inserted. */

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

/** Set an attribute; false, null and undefined remove it. */
export function setAttribute(target, name, value) {
  if (value === false || value === null || value === undefined) target.removeAttribute(name);
  else target.setAttribute(name, value === true ? "" : value);
}

/** Change text only when it differs: live regions announce every write, changed or not. */
export function setText(target, text) {
  if (target.textContent !== text) target.textContent = text;
}

/** Hide a part, or show it. The focus, if it is within, goes to `instead`. */
export function setHidden(target, isHidden, instead) {
  const hasFocus = target.contains(target.getRootNode().activeElement);
  if (isHidden && hasFocus) instead.focus({ preventScroll: true });
  target.hidden = isHidden;
}

/** Whether a key belongs to an input method, Enter at the end of a word as well. */
export function isComposing(event) {
  // Safari reports this Enter as outside of a composition.
  return event.isComposing || event.keyCode === 229;
}

export function avatar() {
  return element("span", { class: "avatar", "aria-hidden": "true" });
}

/** Show a picture ({initials, hue, shape, image}) in an avatar: the image, once it is loaded. */
export function setAvatar(target, { initials, hue, shape, image = null }) {
  setText(target, initials);
  target.dataset.shape = shape;
  target.style.setProperty("--hue", hue);
  const held = target.querySelector("img");
  if ((held?.getAttribute("src") ?? null) === image) return;
  held?.remove();
  if (image) target.append(imageAt(image));
}

/** Over the initials, which are visible until the image is loaded, or if that fails. */
function imageAt(src) {
  const made = element("img", { alt: "", decoding: "async", referrerpolicy: "no-referrer" });
  made.addEventListener("load", () => made.setAttribute("data-loaded", ""));
  setAttribute(made, "src", src);
  return made;
}

/**
 * The children of a list, kept in step with its data.
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
    const keepFocus = focusWithin(this.#parent);
    const wanted = new Map(rows.map((row) => [row.key, row]));
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
    keepFocus();
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

/**
 * Remember the focused element within a list. The returned function restores a lost focus, for
 * example after a row has moved up. If the element was removed, or is hidden, its row gets the
 * focus, or the list's container.
 */
function focusWithin(list) {
  // In a shadow tree the document knows its host only.
  const place = list.getRootNode();
  const { activeElement: focused } = place;
  if (!focused || focused === list || !list.contains(focused)) return () => {};
  const row = [...list.children].find((child) => child.contains(focused));
  const isLost = () => {
    const { activeElement: now } = place;
    return !now || now === document.body || now.getClientRects().length === 0;
  };
  return () => {
    // The reader stays where they look.
    for (const node of [focused, row, list.closest("[tabindex]")]) {
      if (isLost()) node?.focus({ preventScroll: true });
    }
  };
}

function isSame(before, after) {
  if (before === null) return false;
  return Object.keys(after).every((name) => Object.is(before[name], after[name]));
}
