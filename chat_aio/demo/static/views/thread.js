/** The thread beside the conversation: its root, the replies, and where one writes another. */

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

  /**
   * `tools` are for the rows; `needs` are a composer's, and `closeHref()`: where closing leads.
   * `uploads` are the files on their way.
   */
  constructor(store, people, { tools, receipts, uploads, needs }) {
    this.#store = store;
    this.#people = people;
    this.#receipts = receipts;
    this.#needs = needs;
    const [form, stage] = ["form", ".stage"].map((each) => this.#panel.querySelector(each));
    this.#view = new TimelineView(stage, () => this.#read(), tools);
    this.#files = new FilePicker(form, stage, uploads);
    this.#composer = new Composer(form, people, {
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
    this.#files.show(rootId, open?.id, { isClosed });
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
