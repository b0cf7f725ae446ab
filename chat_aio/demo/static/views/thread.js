/** The thread next to the conversation: its root, the replies, and a composer. */

import { setAttribute, setText } from "../../../browser/dom.js";
import { say } from "../words.js";
import { Composer } from "./composer.js";
import { FilePicker } from "./file-picker.js";
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
  #files;
  #shownId = null;
  /** The threads whose next reply is also sent to the conversation. */
  #alsoIn = new Set();

  /**
   * `tools` are for the rows; `needs` are a composer's, and `closeHref()`: where closing leads.
   * `uploads` are the files on their way.
   */
  constructor(store, people, { tools, receipts, uploads, needs }) {
    this.#store = store;
    this.#people = people;
    this.#receipts = receipts;
    this.#needs = needs;
    const [form, stage] = ["form", ".stage"].map((selector) => this.#panel.querySelector(selector));
    this.#view = new TimelineView(stage, () => this.#read(), tools);
    this.#files = new FilePicker(form, stage, uploads);
    this.#composer = new Composer(form, people, {
      ...needs,
      send: (written) => this.#send(written),
    });
    this.#also.addEventListener("change", () => {
      this.alsoSend(this.#store.openRootId, this.#also.checked);
    });
    this.#panel.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && !event.defaultPrevented) location.hash = needs.closeHref();
    });
  }

  get composer() {
    return this.#composer;
  }

  /** Whether the next reply of a thread is also sent to the conversation. */
  alsoSend(rootId, isAlso) {
    if (isAlso) this.#alsoIn.add(rootId);
    else this.#alsoIn.delete(rootId);
    this.#also.checked = this.#alsoIn.has(this.#store.openRootId);
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
    this.#files.show(rootId, open?.id, { isClosed });
    this.#also.checked = this.#alsoIn.has(rootId);
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
    const { openRootId: threadRootMessageId } = this.#store;
    const alsoSendToMain = this.#alsoIn.has(threadRootMessageId);
    this.alsoSend(threadRootMessageId, false);
    this.#needs.send({
      ...written,
      threadRootMessageId,
      ...(alsoSendToMain ? { alsoSendToMain } : {}),
    });
  }
}
