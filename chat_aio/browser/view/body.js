/** The text of a message, with its markup. A long one is folded; a few emoji alone are large. */

import { element, setAttribute, setText } from "../dom.js";
import { inlineOf } from "../inline.js";
import { blocksOf } from "../markup.js";
import { Part } from "./part.js";

const MOST_LINES = 20;
const MOST_CHARACTERS = 2000;
const MOST_LARGE = 64;
const EMOJI = String.raw`\p{Extended_Pictographic}[\uFE0F\p{Emoji_Modifier}]?`;
const FLAG = String.raw`\p{Regional_Indicator}{2}`;
const FEW_EMOJI = new RegExp(`^(?:(?:${FLAG}|${EMOJI}(?:\\u200D${EMOJI})*)\\s?){1,3}$`, "u");

/** The elements of a text; `mentioned` are {id, name}. */
export function markedUp(text, mentioned, shell) {
  const lines = (written) => inlineOf(written, mentioned).map((piece) => pieceNode(piece, shell));
  const [first, ...others] = blocksOf(text);
  // Unchanged: a plain text has no element around it.
  if (others.length === 0 && first?.kind === "text") return lines(first.text);
  return [first, ...others].filter(Boolean).map((block) => blockNode(block, lines));
}

export class MessageBody extends Part {
  #text = element("div", { class: "body", part: "body", dir: "auto" });
  #toggle = element("button", { type: "button", class: "link fold" });
  #shown = null;
  #isOpen = false;
  #isLong = false;
  node = element("div", {}, this.#text, this.#toggle);

  constructor(shell) {
    super(shell);
    this.#toggle.addEventListener("click", () => {
      this.#fold(!this.#isOpen);
      if (!this.#isOpen) this.node.scrollIntoView({ block: "nearest" });
    });
    // What the keyboard reaches is seen.
    this.#text.addEventListener("focusin", () => this.#isLong && this.#fold(true));
  }

  show({ body, mentions, isDeleted }) {
    const text = isDeleted ? this.say("message.deleted") : body;
    const named = (id) => ({ id, name: this.people.nameOf(id) });
    const mentioned = isDeleted ? [] : mentions.map(named);
    // The selection and the focus in it are kept when reactions change.
    const shown = JSON.stringify([text, mentioned]);
    if (shown === this.#shown) return;
    this.#shown = shown;
    this.#text.replaceChildren(...markedUp(text, mentioned, this.shell));
    const isLarge = text.length <= MOST_LARGE && FEW_EMOJI.test(text.trim());
    setAttribute(this.#text, "data-large", isLarge);
    this.#isLong = text.length > MOST_CHARACTERS || text.split("\n").length > MOST_LINES;
    this.#fold(this.#isOpen);
  }

  #fold(isOpen) {
    this.#isOpen = isOpen;
    setAttribute(this.#text, "data-folded", this.#isLong && !isOpen);
    this.#toggle.hidden = !this.#isLong;
    setText(this.#toggle, isOpen ? this.say("message.showLess") : this.say("message.showAll"));
    setAttribute(this.#toggle, "aria-expanded", String(isOpen));
  }
}

function blockNode({ kind, text, items }, lines) {
  if (kind === "text") return element("p", {}, ...lines(text));
  if (kind === "quote") return element("blockquote", { dir: "auto" }, ...lines(text));
  // Code is written from left to right in every language.
  if (kind === "code") return element("pre", { dir: "ltr" }, element("code", {}, text));
  const entries = items.map((item) => element("li", { value: item.number }, ...lines(item.text)));
  return element(items[0].number === null ? "ul" : "ol", { dir: "auto" }, ...entries);
}

function pieceNode(piece, shell) {
  const plain = plainNode(piece, shell);
  const slanted = piece.isItalic ? element("em", {}, plain) : plain;
  return piece.isBold ? element("strong", {}, slanted) : slanted;
}

function plainNode({ text, href, isCode, userId }, { people, places }) {
  if (isCode) return element("code", {}, text);
  if (userId) return element("span", { class: "mention", "data-me": userId === people.userId }, text);
  if (!href) return text;
  const place = places.placeOfLink(href);
  if (place) {
    return element("a", { href: place, dir: "auto" }, channelName(href, { people, places }) ?? text);
  }
  return element("a", { href, target: "_blank", rel: "noopener noreferrer nofollow" }, text);
}

/** The name of the conversation that a link leads to, if the reader knows it. */
function channelName(href, { people, places }) {
  const id = places.conversationOfLink(href);
  const name = id && people.conversation(id)?.name;
  return name ? `#${name}` : null;
}
