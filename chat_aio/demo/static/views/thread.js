/** The thread beside the conversation: its root, the replies, and where one writes another. */

import { setAttribute, setText } from "../../../browser/dom.js";
import { say } from "../words.js";
import { Composer } from "./composer.js";
import { TimelineView } from "./timeline.js";
import { draftsOf, threadRows } from "./timeline-rows.js";

export class ThreadPanel {
  #panel = document.querySelector("#thread");
  #also = document.querySelector("#also");
  #store;
  #people;
  #receipts;
  #needs;
  #view;
  #composer;
  #shownId = null;

  /** `tools` are for the rows; `needs` are a composer's, and `closeHref()`: where closing leads. */
  constructor(store, people, { tools, receipts, needs }) {
    this.#store = store;
    this.#people = people;
    this.#receipts = receipts;
    this.#needs = needs;
    this.#view = new TimelineView(this.#panel.querySelector(".stage"), () => this.#read(), tools);
    this.#composer = new Composer(document.querySelector("#thread-composer"), people, {
      ...needs,
      send: (written) => this.#send(written),
    });
    this.#panel.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && !event.defaultPrevented) location.hash = needs.closeHref();
    });
  }

  get composer() {
    return this.#composer;
  }

  reveal(messageId) {
    this.#view.reveal(messageId);
  }

  show(composerOptions) {
    const { open, openThread } = this.#store;
    this.#view.show();
    const { isClosed, placeholder } = composerOptions;
    const words = isClosed ? placeholder : say("thread.placeholder");
    const options = { ...composerOptions, placeholder: words };
    const rootId = openThread?.rootId ?? null;
    this.#composer.show(rootId, options);
    const isOther = rootId !== this.#shownId;
    this.#shownId = rootId;
    if (!openThread) return;
    if (isOther) this.#composer.focus();
    setText(document.querySelector("#thread-subtitle"), this.#people.titleOf(open));
    setAttribute(document.querySelector("#thread-close"), "href", this.#needs.closeHref());
  }

  #read() {
    const { openThread } = this.#store;
    if (!openThread) return null;
    const { timeline } = openThread;
    const rows = threadRows(this.#store, this.#people, this.#receipts);
    return { timeline, rows, drafts: draftsOf(this.#store, timeline.rootId), unread: 0 };
  }

  #send(written) {
    const alsoSendToMain = this.#also.checked;
    this.#also.checked = false;
    this.#needs.send({
      ...written,
      threadRootMessageId: this.#store.openRootId,
      ...(alsoSendToMain ? { alsoSendToMain } : {}),
    });
  }
}
