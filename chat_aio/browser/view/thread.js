/** The thread next to the conversation: its root, the replies, and a composer. */

import { element } from "../dom.js";
import { Composer } from "./composer.js";
import { Panel } from "./panel.js";
import { Part } from "./part.js";
import { TimelineView } from "./timeline.js";
import { draftsOf, threadRows } from "./timeline-rows.js";

export class ThreadPanel extends Part {
  #panel = new Panel(this.shell, "thread", {
    ...{ title: this.say("thread.title"), close: this.say("thread.close") },
  });
  #also = element("input", { id: "also", type: "checkbox" });
  #receipts;
  #needs;
  #view;
  #composer;
  node = this.#panel.node;
  #shownId = null;
  /** The threads whose next reply is also sent to the conversation. */
  #alsoIn = new Set();

  /** `tools` are for the rows; `needs` are a composer's. */
  constructor(shell, { tools, receipts, needs }) {
    super(shell);
    this.#receipts = receipts;
    this.#needs = needs;
    const log = { name: "thread-", label: this.say("thread.messages") };
    this.#view = new TimelineView(shell, log, () => this.#read(), tools);
    const field = { name: "thread-", label: this.say("thread.message") };
    const send = (written) => this.#send(written);
    this.#composer = new Composer(shell, field, { ...needs, send });
    this.#composer.takeFilesFrom(this.#view.node);
    const words = element("span", {}, this.say("thread.also"));
    this.#composer.node.append(element("label", { class: "check" }, this.#also, " ", words));
    this.node.append(this.#view.node, this.#composer.node);
    this.#also.addEventListener("change", () => {
      this.alsoSend(this.store.openRootId, this.#also.checked);
    });
  }

  get composer() {
    return this.#composer;
  }

  /** Whether the next reply of a thread is also sent to the conversation. */
  alsoSend(rootId, isAlso) {
    if (isAlso) this.#alsoIn.add(rootId);
    else this.#alsoIn.delete(rootId);
    this.#also.checked = this.#alsoIn.has(this.store.openRootId);
  }

  reveal(messageId) {
    this.#view.reveal(messageId);
  }

  show(composerOptions) {
    const { open, openThread } = this.store;
    this.#view.show();
    const { isClosed, placeholder } = composerOptions;
    const words = isClosed ? placeholder : this.say("thread.placeholder");
    const options = { ...composerOptions, placeholder: words };
    const rootId = openThread?.rootId ?? null;
    this.#composer.show(rootId, options);
    this.#also.checked = this.#alsoIn.has(rootId);
    const isOther = rootId !== this.#shownId;
    this.#shownId = rootId;
    if (!openThread) return;
    if (isOther && this.shell.mayTakeFocus) this.#composer.focus();
    this.#panel.show(open);
  }

  #read() {
    const { openThread } = this.store;
    if (!openThread) return null;
    const { timeline } = openThread;
    const rows = threadRows(this.texts, this.store, this.people, this.#receipts);
    return { timeline, rows, drafts: draftsOf(this.store, timeline.rootId), unread: 0 };
  }

  #send(written) {
    const { openRootId: threadRootMessageId } = this.store;
    const alsoSendToMain = this.#alsoIn.has(threadRootMessageId);
    this.alsoSend(threadRootMessageId, false);
    this.#needs.send({
      ...written,
      threadRootMessageId,
      ...(alsoSendToMain ? { alsoSendToMain } : {}),
    });
  }
}
