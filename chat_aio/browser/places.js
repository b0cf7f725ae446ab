/**
 * Where one is in a chat. A place is a list of parts: [conversation], [conversation, thread],
 * [conversation, "details"], ["channels"], ["threads"], ["mentions"], ["moderation"],
 * ["invite", code]. A message is [conversation, "message", id], a reply in a thread
 * [conversation, thread, id].
 */

const LISTS = ["channels", "threads", "mentions", "moderation"];
const NOWHERE = {
  ...{ conversationId: null, rootId: null, messageId: null },
  ...{ isDetails: false, elsewhere: null },
};

/** What a place is: {conversationId, rootId, messageId, isDetails, elsewhere, code}. */
function placeOf([first, second, third]) {
  if (LISTS.includes(first)) return { ...NOWHERE, elsewhere: first };
  if (first === "invite") return { ...NOWHERE, elsewhere: "invite", code: second ?? "" };
  const isDetails = second === "details";
  const rootId = isDetails || second === "message" ? null : second || null;
  return { ...NOWHERE, conversationId: first || null, rootId, messageId: third || null, isDetails };
}

function partsTo({ id, conversationId, threadRootMessageId, alsoSendToMain }) {
  const isReply = threadRootMessageId && !alsoSendToMain;
  return [conversationId, isReply ? threadRootMessageId : "message", id];
}

/** Places that only the chat knows: its page has its address for itself. */
export class InnerPlaces {
  #reached = () => {};

  /** Links to a place cannot be given to others. */
  hasLinks = false;

  /** Nothing is open at first. */
  present = null;

  /** `reached(place)` is called at each place. */
  start(reached) {
    this.#reached = reached;
  }

  close() {
    this.#reached = () => {};
  }

  hrefOf(...parts) {
    return `#/${parts.map(encodeURIComponent).join("/")}`;
  }

  go(...parts) {
    this.#reached(placeOf(parts));
  }

  goToMessage(message) {
    this.go(...partsTo(message));
  }

  /** Go there, without a way back. */
  replace(...parts) {
    this.go(...parts);
  }

  /** One has arrived where a message is: the same link leads to it again. */
  arrived() {}

  /** A link is followed here. */
  follow(event, link) {
    const href = link.getAttribute("href");
    if (!href?.startsWith("#/")) return;
    event.preventDefault();
    this.go(...href.slice(2).split("/").filter(Boolean).map(decoded));
  }

  placeOfLink() {
    return null;
  }

  conversationOfLink() {
    return null;
  }
}

/**
 * Places in the address of the page, behind "#" and a name: #ada/<conversation>. A link to share has
 * no name in it, #/<conversation>, for its reader's is another one.
 */
export class AddressPlaces {
  #name;
  #reached = () => {};
  #isOpen = false;
  #changed = () => this.#show();

  hasLinks = true;

  constructor(name = "") {
    this.#name = name;
  }

  /** `reached(place)` is called at each place, the present one included. */
  start(reached) {
    this.#reached = reached;
    this.#isOpen = true;
    addEventListener("hashchange", this.#changed);
    this.#show();
  }

  /** The place of the address; null where that leads to somebody else. */
  get present() {
    const { name, parts } = partsOfAddress();
    return name === this.#name ? placeOf(parts) : null;
  }

  /** Later answers of the service lead nowhere: another user may be there. */
  close() {
    this.#isOpen = false;
    removeEventListener("hashchange", this.#changed);
  }

  hrefOf(...parts) {
    return addressOf(this.#name, ...parts);
  }

  go(...parts) {
    if (this.#isOpen) location.hash = this.hrefOf(...parts);
  }

  goToMessage(message) {
    this.go(...partsTo(message));
  }

  replace(...parts) {
    if (this.#isOpen) location.replace(this.hrefOf(...parts));
  }

  arrived(...parts) {
    if (this.#isOpen) history.replaceState(null, "", this.hrefOf(...parts));
  }

  /** The browser does. */
  follow() {}

  /** A place of this page that a link given to others leads to; null: it leads away. */
  placeOfLink(href) {
    const { href: here } = new URL(addressOf(""), location.href);
    return href.startsWith(`${here}/`) ? addressAs(this.#name, new URL(href).hash) : null;
  }

  /** The conversation that such a link leads to, as a whole; null: it leads elsewhere. */
  conversationOfLink(href) {
    const before = this.linkTo("");
    const id = href.startsWith(before) ? href.slice(before.length) : "";
    return id && !id.includes("/") && !LISTS.includes(id) ? decoded(id) : null;
  }

  /** The complete address of a place, for others. */
  linkTo(...parts) {
    return new URL(addressOf("", ...parts), location.href).href;
  }

  linkToMessage(message) {
    return this.linkTo(...partsTo(message));
  }

  /** Where the address leads to somebody else, it is not for this chat. */
  #show() {
    const { present } = this;
    if (present) this.#reached(present);
  }
}

export function partsOfAddress() {
  const [name, ...parts] = location.hash.slice(1).split("/").map(decoded);
  return { name, parts };
}

/** The place of an address, as somebody. */
export function addressAs(name, hash = location.hash) {
  const [, ...place] = hash.slice(1).split("/");
  return [addressOf(name), ...place].join("/");
}

function addressOf(...parts) {
  return `#${parts.map(encodeURIComponent).join("/")}`;
}

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
