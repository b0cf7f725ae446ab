/** The text of a message: its links lead somewhere, its markup is shown. */

import { element } from "../dom.js";
import { inlineOf } from "../inline.js";

/** `mentioned` are {id, name}. */
export function bodyOf(text, mentioned, ownId) {
  return inlineOf(text, mentioned).map((piece) => {
    const plain = plainNode(piece, ownId);
    const slanted = piece.isItalic ? element("em", {}, plain) : plain;
    return piece.isBold ? element("strong", {}, slanted) : slanted;
  });
}

function plainNode({ text, href, isCode, userId }, ownId) {
  if (isCode) return element("code", {}, text);
  if (userId) return element("span", { class: "mention", "data-me": userId === ownId }, text);
  if (!href) return text;
  return element("a", { href, target: "_blank", rel: "noopener noreferrer nofollow" }, text);
}
