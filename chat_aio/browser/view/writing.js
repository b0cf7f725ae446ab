/** Sends the messages of the composers of the conversation and the thread. */

import { isInMain } from "../messages.js";
import { closedIn, writingIn } from "./group-words.js";
import { SlowModeTimer } from "../slow-mode-timer.js";
import { Part } from "./part.js";

export class Writing extends Part {
  #waits = new SlowModeTimer(() => this.explain());
  #session;
  #needs;

  /**
   * `needs.composerOf(rootId)` is the conversation's composer (null) or the thread's,
   * `needs.uploads` has their files, null where there are none,
   * `needs.alsoSend(rootId, isAlso)` sets whether its next reply is also sent to the conversation.
   */
  constructor(shell, session, needs) {
    super(shell);
    this.#session = session;
    this.#needs = needs;
  }

  send(written) {
    const { openId, openThread } = this.store;
    if (written.threadRootMessageId) this.#goToEnd(openThread.timeline);
    if (isInMain(written)) this.#goToEnd(this.store.timeline(openId));
    this.#waits.end(openId);
    const attachments = this.#needs.uploads?.take(written.threadRootMessageId ?? openId) ?? [];
    this.#session.sender.send(openId, { ...written, attachments });
    this.#session.typing.stopped(openId);
  }

  /** A message that is too early for slow mode returns to its composer, unless that has a draft. */
  refused(draft, { code, retryAfter }) {
    if (code !== "SLOW_MODE" || !retryAfter) return;
    const { conversationId, threadRootMessageId: rootId = null, clientMessageId } = draft;
    this.#waits.begin(conversationId, retryAfter);
    if (!this.#needs.composerOf(rootId).isEmptyAt(rootId ?? conversationId)) return;
    this.rewrite(clientMessageId, { isAsked: false });
  }

  /** Put an unsent message back into its composer. */
  rewrite(clientMessageId, how = {}) {
    const draft = this.#session.sender.takeBack(clientMessageId);
    if (!draft) return;
    const { conversationId, threadRootMessageId: rootId = null } = draft;
    const place = rootId ?? conversationId;
    this.#needs.uploads?.putBack(place, draft.attachments ?? []);
    this.#needs.composerOf(rootId).takeBack(place, draft, how);
    if (draft.alsoSendToMain) this.#needs.alsoSend(rootId, true);
    const isElsewhere = rootId !== null && rootId !== this.store.openRootId;
    if (isElsewhere) this.shell.places.go(conversationId, rootId);
  }

  /** The placeholder of the composer, and whether it is closed. */
  now(open) {
    if (!open) return { placeholder: "" };
    const words = this.people.isAdminOf(open) ? null : writingIn(this.texts, open);
    const placeholder = words ?? this.say("composer.to", { title: this.people.titleOf(open) });
    return { placeholder, isClosed: words !== null && Boolean(open.frozen) };
  }

  /** Say why one cannot write just now; it changes by the second. */
  explain() {
    const { open, openRootId } = this.store;
    const isBound = open && !this.people.isAdminOf(open);
    const closed = isBound && open.frozen ? closedIn(this.texts, open, this.people) : null;
    const wait = isBound ? this.#waits.in(open) : { seconds: 0, isOver: false };
    for (const rootId of [null, openRootId ?? ""]) {
      this.#needs.composerOf(rootId).explain({ closed, wait });
    }
  }

  /** New messages are shown after the newest message. */
  #goToEnd(timeline) {
    timeline.unread.clear();
    if (timeline.newer !== null) this.#session.history.loadLatest(timeline);
  }
}
