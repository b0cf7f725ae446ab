/** One message in a log. */

import { avatar, element, Rows, setAttribute, setAvatar, setText } from "../dom.js";
import { isNamedAfterFiles } from "../messages.js";
import { Attachments } from "./attachments.js";
import { MessageBody } from "./body.js";
import { Origin, Quote, ReactionChip, ThreadLink, Ticks } from "./message-parts.js";
import { Part } from "./part.js";
import { Toolbar } from "./toolbar.js";

export class MessageRow extends Part {
  #tools;
  #message = null;
  #avatar = avatar();
  #author = element("span", { class: "author", dir: "auto" });
  #body;
  #attachments;
  #edited = element("span", { class: "edited" }, this.say("message.edited"));
  #time = element("time");
  #ticks = new Ticks(this.shell);
  #note = element("span", { class: "note" });
  #actions = element("span", { class: "failed-actions" });
  #chips = element("div", {
    ...{ class: "chips", role: "group", "aria-label": this.say("message.reactions") },
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
    super(tools.shell);
    this.#tools = tools;
    const about = (act) => () => act(this.#clientMessageId);
    const link = (words, onclick) =>
      element("button", { type: "button", class: "link", onclick }, words);
    this.#retry = link(this.say("message.retry"), about(tools.retry));
    this.#rewrite = link(this.say("message.edit"), about(tools.rewrite));
    this.#actions.append(
      this.#retry,
      this.#rewrite,
      link(this.say("message.discard"), about(tools.discard)),
    );
    this.#body = new MessageBody(tools.shell);
    const withMessage = (act) => (...given) => act(this.#message, ...given);
    const look = withMessage(tools.look);
    this.#attachments = new Attachments(tools.shell, { look, complain: tools.complain });
    this.#origin = new Origin(this.shell, withMessage(tools.openOuterThread));
    this.#quote = new Quote(this.shell, withMessage(tools.jump));
    this.#toolbar = new Toolbar(this.shell, tools, withMessage);
    this.#threadLink = new ThreadLink(this.shell, withMessage(tools.openThread));
    const toggle = withMessage(tools.toggleReaction);
    this.#reactions = new Rows(this.#chips, { shell: this.shell, toggle });
    this.node = this.#made();
    this.node.addEventListener("contextmenu", (event) => this.#openMenu(event));
  }

  /** In place of the browser's menu, which is for links, images and selected text. */
  #openMenu(event) {
    const place = this.node.getRootNode();
    const selected = [getSelection(), place.getSelection?.() ?? ""].map(String);
    const isOthers = event.target.closest("a, img, textarea") || selected.join("") !== "";
    if (!isOthers && this.#toolbar.openMenu()) event.preventDefault();
  }

  show(state) {
    const { message, isDeleted } = state;
    this.#message = message;
    this.#clientMessageId = state.clientMessageId;
    const { dataset } = this.node;
    dataset.from = state.isOwn ? "me" : "other";
    setAttribute(this.node, "part", `message ${state.isOwn ? "own" : "other"}`);
    dataset.place = `${state.isHead ? "head" : ""} ${state.isTail ? "tail" : ""}`.trim();
    dataset.state = isDeleted ? "deleted" : (state.sending ?? "sent");
    setAttribute(this.node, "data-id", message?.id);
    setAttribute(this.node, "data-named", state.isNamed);
    setAttribute(this.node, "data-mentions-me", state.mentionsMe);
    setAvatar(this.#avatar, state);
    const author = state.isOwn ? this.say("message.you") : state.author;
    setText(this.#author, author);
    setAttribute(this.node, "aria-label", this.say("message.by", { author, time: state.time }));
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
      { class: "bubble", part: "bubble" },
      ...[this.#origin.node, this.#quote.node, this.#body.node, this.#edited],
      this.#attachments.node,
    );
    return element(
      "div",
      { class: "message", part: "message", role: "article", tabindex: "-1" },
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
    setText(this.#note, noteOf(this.texts, state));
    const { sending } = state;
    this.#actions.hidden = !["failed", "held", "waiting"].includes(sending);
    this.#retry.hidden = sending !== "failed";
    this.#rewrite.hidden = sending === "held";
  }
}

function noteOf(texts, { sending, problem }) {
  if (sending === "pending") return texts.say("message.sending");
  if (sending === "held") return `${texts.say("message.held")} ${texts.problemOf(problem)}`;
  if (sending === "waiting") return waitingNote(texts, problem);
  return sending === "failed" ? `${texts.say("message.notSent")} ${texts.problemOf(problem)}` : "";
}

/** Kept from an earlier page, it has no problem. */
function waitingNote(texts, problem) {
  const isOffline = !problem || problem.code === "UNREACHABLE";
  return isOffline ? texts.say("message.offline") : `${texts.say("message.waiting")} ${texts.problemOf(problem)}`;
}
