/** What a ChatStore is made of, for the views of the element. */

/** @typedef {{store: any, session: any, users: any}} Parts */

/** @type {WeakMap<object, Parts>} */
const held = new WeakMap();

/** @param {object} made @param {Parts} parts */
export function keepParts(made, parts) {
  held.set(made, parts);
}

/** @param {object} made @returns {Parts} */
export function partsOf(made) {
  return /** @type {Parts} */ (held.get(made));
}
