/** One message in a log. */

import { avatar, element, Rows, setAttribute, setAvatar, setText } from "../../../browser/dom.js";
import { isNamedAfterFiles } from "../../../browser/messages.js";
import { problemOf } from "../problems.js";
import { say } from "../words.js";
import { Attachments } from "./attachments.js";
import { MessageBody } from "./body.js";
import { Origin, Quote, ReactionChip, ThreadLink, Ticks } from "./message-parts.js";
import { Toolbar } from "./toolbar.js";

export class MessageRow {
  #tools;
  #message = null;
  #avatar = avatar();
  #author = element("span", { class: "author", dir: "auto" });
  #body;
  #attachments;
  #edited = element("span", { class: "edited" }, say("message.edited"));
  #time = element("time");
  #ticks = new Ticks();
  #note = element("span", { class: "note" });
  #actions = element("span", { class: "failed-actions" });
  #chips = element("div", {
    ...{ class: "chips", role: "group", "aria-label": say("message.reactions") },
  });
  #retry;
  #rewrite;
  #clientMessageId = null;
  #origin;
  #quote;
  #toolbar;
  #threadLink;
  #reactions;

  constructor(tools) {
    this.#tools = tools;
    const about = (act) => () => act(this.#clientMessageId);
    const link = (words, onclick) =>
      element("button", { type: "button", class: "link", onclick }, words);
    this.#retry = link(say("message.retry"), about(tools.retry));
    this.#rewrite = link(say("message.edit"), about(tools.rewrite));
    this.#actions.append(
      this.#retry,
      this.#rewrite,
      link(say("message.discard"), about(tools.discard)),
    );
    this.#body = new MessageBody(tools.people);
    const withMessage = (act) => (...given) => act(this.#message, ...given);
    this.#attachments = new Attachments(tools.urlOf, withMessage(tools.look));
    this.#origin = new Origin(tools.people, withMessage(tools.openOuterThread));
    this.#quote = new Quote(tools.people, withMessage(tools.jump));
    this.#toolbar = new Toolbar(tools, withMessage);
    this.#threadLink = new ThreadLink(withMessage(tools.openThread));
    const toggle = withMessage(tools.toggleReaction);
    this.#reactions = new Rows(this.#chips, { people: tools.people, toggle });
    this.node = this.#made();
    this.node.addEventListener("contextmenu", (event) => this.#openMenu(event));
  }

  /** In place of the browser's menu, which is for links, images and selected text. */
  #openMenu(event) {
    const isOthers = event.target.closest("a, img, textarea") || !getSelection().isCollapsed;
    if (!isOthers && this.#toolbar.openMenu()) event.preventDefault();
  }

  show(state) {
    const { message, isDeleted } = state;
    this.#message = message;
    this.#clientMessageId = state.clientMessageId;
    const { dataset } = this.node;
    dataset.from = state.isOwn ? "me" : "other";
    dataset.place = `${state.isHead ? "head" : ""} ${state.isTail ? "tail" : ""}`.trim();
    dataset.state = isDeleted ? "deleted" : (state.sending ?? "sent");
    setAttribute(this.node, "data-id", message?.id);
    setAttribute(this.node, "data-named", state.isNamed);
    setAttribute(this.node, "data-mentions-me", state.mentionsMe);
    setAvatar(this.#avatar, state);
    const author = state.isOwn ? say("message.you") : state.author;
    setText(this.#author, author);
    setAttribute(this.node, "aria-label", say("message.by", { author, time: state.time }));
    this.#body.show(state);
    this.#body.node.hidden = !isDeleted && isNamedAfterFiles(state);
    this.#attachments.show(isDeleted ? [] : state.attachments);
    this.#edited.hidden = !state.isEdited;
    this.#origin.show(state);
    this.#quote.show(isDeleted ? null : state.replyTo);
    this.#showReactions(isDeleted ? [] : state.reactions);
    this.#threadLink.show(state.threadSummary);
    const isHidden = message === null || (isDeleted && !this.#tools.hasMenu(message));
    this.#toolbar.show({ isHidden, isDeleted });
    this.#showMeta(state);
  }

  #made() {
    const bubble = element(
      "div",
      { class: "bubble" },
      ...[this.#origin.node, this.#quote.node, this.#body.node, this.#edited],
      this.#attachments.node,
    );
    return element(
      "div",
      { class: "message", role: "article", tabindex: "-1" },
      ...[this.#avatar, this.#author, bubble, this.#toolbar.node],
      element("div", { class: "extras" }, this.#chips, this.#threadLink.node),
      element("div", { class: "meta" }, this.#time, this.#ticks.node, this.#note, this.#actions),
    );
  }

  #showReactions(reactions) {
    const state = ({ emoji, userIds }) => ({ emoji, userIds });
    this.#reactions.show(
      reactions.map((reaction) => ({
        ...{ key: reaction.emoji, Row: ReactionChip },
        state: state(reaction),
      })),
    );
    this.#chips.hidden = reactions.length === 0;
  }

  #showMeta(state) {
    setText(this.#time, state.time);
    setAttribute(this.#time, "datetime", state.createdAt);
    setAttribute(this.#time, "title", state.moment);
    this.#ticks.show(state);
    setText(this.#note, noteOf(state));
    const { sending } = state;
    this.#actions.hidden = !["failed", "held", "waiting"].includes(sending);
    this.#retry.hidden = sending !== "failed";
    this.#rewrite.hidden = sending === "held";
  }
}

function noteOf({ sending, problem }) {
  if (sending === "pending") return say("message.sending");
  if (sending === "held") return `${say("message.held")} ${problemOf(problem)}`;
  if (sending === "waiting") return waitingNote(problem);
  return sending === "failed" ? `${say("message.notSent")} ${problemOf(problem)}` : "";
}

/** Kept from an earlier page, it has no problem. */
function waitingNote(problem) {
  const isOffline = !problem || problem.code === "UNREACHABLE";
  return isOffline ? say("message.offline") : `${say("message.waiting")} ${problemOf(problem)}`;
}
