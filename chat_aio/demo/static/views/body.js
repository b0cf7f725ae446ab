/** The text of a message, with its markup. A long one is folded; a few emoji alone are large. */

import { addressOfLink, conversationOfLink } from "../address.js";
import { element, setAttribute, setText } from "../../../browser/dom.js";
import { inlineOf } from "../../../browser/inline.js";
import { blocksOf } from "../../../browser/markup.js";
import { say } from "../words.js";

const MOST_LINES = 20;
const MOST_CHARACTERS = 2000;
const MOST_LARGE = 64;
const EMOJI = String.raw`\p{Extended_Pictographic}[\uFE0F\p{Emoji_Modifier}]?`;
const FLAG = String.raw`\p{Regional_Indicator}{2}`;
const FEW_EMOJI = new RegExp(`^(?:(?:${FLAG}|${EMOJI}(?:\\u200D${EMOJI})*)\\s?){1,3}$`, "u");

/** The elements of a text to `people`; `mentioned` are {id, name}. */
export function markedUp(text, mentioned, people) {
  const lines = (written) => inlineOf(written, mentioned).map((piece) => pieceNode(piece, people));
  const [first, ...others] = blocksOf(text);
  // Unchanged: a plain text has no element around it.
  if (others.length === 0 && first?.kind === "text") return lines(first.text);
  return [first, ...others].filter(Boolean).map((block) => blockNode(block, lines));
}

export class MessageBody {
  #text = element("div", { class: "body", dir: "auto" });
  #toggle = element("button", { type: "button", class: "link fold" });
  #people;
  #shown = null;
  #isOpen = false;
  #isLong = false;
  node = element("div", {}, this.#text, this.#toggle);

  constructor(people) {
    this.#people = people;
    this.#toggle.addEventListener("click", () => {
      this.#fold(!this.#isOpen);
      if (!this.#isOpen) this.node.scrollIntoView({ block: "nearest" });
    });
    // What the keyboard reaches is seen.
    this.#text.addEventListener("focusin", () => this.#isLong && this.#fold(true));
  }

  show({ body, mentions, isDeleted }) {
    const text = isDeleted ? say("message.deleted") : body;
    const named = (id) => ({ id, name: this.#people.nameOf(id) });
    const mentioned = isDeleted ? [] : mentions.map(named);
    // The selection and the focus in it are kept when reactions change.
    const shown = JSON.stringify([text, mentioned]);
    if (shown === this.#shown) return;
    this.#shown = shown;
    this.#text.replaceChildren(...markedUp(text, mentioned, this.#people));
    const isLarge = text.length <= MOST_LARGE && FEW_EMOJI.test(text.trim());
    setAttribute(this.#text, "data-large", isLarge);
    this.#isLong = text.length > MOST_CHARACTERS || text.split("\n").length > MOST_LINES;
    this.#fold(this.#isOpen);
  }

  #fold(isOpen) {
    this.#isOpen = isOpen;
    setAttribute(this.#text, "data-folded", this.#isLong && !isOpen);
    this.#toggle.hidden = !this.#isLong;
    setText(this.#toggle, isOpen ? say("message.showLess") : say("message.showAll"));
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

function pieceNode(piece, people) {
  const plain = plainNode(piece, people);
  const slanted = piece.isItalic ? element("em", {}, plain) : plain;
  return piece.isBold ? element("strong", {}, slanted) : slanted;
}

function plainNode({ text, href, isCode, userId }, people) {
  if (isCode) return element("code", {}, text);
  if (userId) return element("span", { class: "mention", "data-me": userId === people.userId }, text);
  if (!href) return text;
  const place = addressOfLink(href, people.userId);
  if (place) return element("a", { href: place, dir: "auto" }, channelName(href, people) ?? text);
  return element("a", { href, target: "_blank", rel: "noopener noreferrer nofollow" }, text);
}

/** The name of the conversation that a link leads to, if the reader knows it. */
function channelName(href, people) {
  const id = conversationOfLink(href);
  const name = id && people.conversation(id)?.name;
  return name ? `#${name}` : null;
}
