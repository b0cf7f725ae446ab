/** What is written in the composers of the conversation and the thread, on its way to the service. */

import { isInMain } from "../../../browser/messages.js";
import { say } from "../words.js";
import { closedIn, writingIn } from "./group-words.js";
import { SlowModeTimer } from "../../../browser/slow-mode-timer.js";

export class Writing {
  #waits = new SlowModeTimer(() => this.explain());
  #store;
  #session;
  #people;
  #needs;

  /**
   * `needs.composerOf(rootId)` is the conversation's composer (null) or the thread's,
   * `needs.uploads` what is added to each, `needs.go(conversationId, rootId)` opens a thread,
   * `needs.alsoSend(rootId, isAlso)` says that its next reply is to stand in the conversation, too.
   */
  constructor(store, session, people, needs) {
    this.#store = store;
    this.#session = session;
    this.#people = people;
    this.#needs = needs;
  }

  send(written) {
    const { openId, openThread } = this.#store;
    if (written.threadRootMessageId) this.#goToEnd(openThread.timeline);
    if (isInMain(written)) this.#goToEnd(this.#store.timeline(openId));
    this.#waits.end(openId);
    const attachments = this.#needs.uploads.take(written.threadRootMessageId ?? openId);
    this.#session.sender.send(openId, { ...written, attachments });
    this.#session.typing.stopped(openId);
  }

  /** What comes too soon waits where it was written, if nothing else has been begun there. */
  refused(draft, { code, retryAfter }) {
    if (code !== "SLOW_MODE" || !retryAfter) return;
    const { conversationId, threadRootMessageId: rootId = null, clientMessageId } = draft;
    this.#waits.begin(conversationId, retryAfter);
    if (!this.#needs.composerOf(rootId).isEmptyAt(rootId ?? conversationId)) return;
    this.rewrite(clientMessageId, { isAsked: false });
  }

  /** What was not sent goes back to where it was written. */
  rewrite(clientMessageId, how = {}) {
    const draft = this.#session.sender.takeBack(clientMessageId);
    if (!draft) return;
    const { conversationId, threadRootMessageId: rootId = null } = draft;
    const place = rootId ?? conversationId;
    this.#needs.uploads.putBack(place, draft.attachments ?? []);
    this.#needs.composerOf(rootId).takeBack(place, draft, how);
    if (draft.alsoSendToMain) this.#needs.alsoSend(rootId, true);
    const isElsewhere = rootId !== null && rootId !== this.#store.openRootId;
    if (isElsewhere) this.#needs.go(conversationId, rootId);
  }

  /** What stands where one writes, and whether one cannot. */
  now(open) {
    if (!open) return { placeholder: "" };
    const words = this.#people.isAdminOf(open) ? null : writingIn(open);
    const placeholder = words ?? say("composer.to", { title: this.#people.titleOf(open) });
    return { placeholder, isClosed: words !== null && Boolean(open.frozen) };
  }

  /** Say why one cannot write just now; it changes by the second. */
  explain() {
    const { open, openRootId } = this.#store;
    const isBound = open && !this.#people.isAdminOf(open);
    const closed = isBound && open.frozen ? closedIn(open, this.#people) : null;
    const wait = isBound ? this.#waits.in(open) : { seconds: 0, isOver: false };
    for (const rootId of [null, openRootId ?? ""]) {
      this.#needs.composerOf(rootId).explain({ closed, wait });
    }
  }

  /** What one writes stands behind the newest message. */
  #goToEnd(timeline) {
    timeline.unread.clear();
    if (timeline.newer !== null) this.#session.history.loadLatest(timeline);
  }
}
