/**
 * The composer of messages, replies and edits. Each place has its draft, which the
 * browser keeps as well.
 */

import { linkToConversation } from "../address.js";
import { isComposing } from "../../../browser/dom.js";
import { emojiNamedAt, withEmoji } from "../emoji.js";
import { mentionedIn, nameable, unnamedIn } from "../../../browser/mentions.js";
import { marked, markOf } from "../../../browser/marking.js";
import { previewOf } from "../../../browser/messages.js";
import { problemOf } from "../problems.js";
import { say } from "../words.js";
import { AboutBar } from "./about-bar.js";
import { Completion } from "./completion.js";
import { ComposerNote } from "./composer-note.js";

const MOST_LINES_PX = 200;
/** As many as the demo's service takes: a longer text is not sent for nothing. */
const MOST_CHARACTERS = 16_384;
const newDraft = () => ({ text: "", about: null, chosen: new Map(), isSaving: false });

export class Composer {
  #form;
  #input;
  #emoji;
  #bar;
  #note = new ComposerNote();
  #isWaiting = false;
  #isClosed = false;
  #completion;
  #people;
  #needs;
  #drafts = new Map();
  #draft = newDraft();
  #place = null;
  #mentionable = [];
  #width = 0;

  /**
   * `needs.send(written)` is called with {body, mentions, replyTo}, never blank; `needs.edit(id,
   * written)` rejects if that fails; `needs.remove(message)` asks whether to delete a message
   * that is now empty; `needs.editLast()` is called from an empty text;
   * `needs.typed(isBlank)` is called on typing that is no edit; `needs.channels()` are the
   * conversations that have names; `needs.pickEmoji(button, choose)`
   * offers a choice; `needs.unsent` keeps drafts; `needs.uploads` has the files of
   * the next message.
   */
  constructor(form, people, needs) {
    this.#form = form;
    this.#people = people;
    this.#needs = needs;
    this.#input = form.querySelector("textarea");
    this.#bar = new AboutBar(form, people, () => this.#cancel());
    form.querySelector(".problem").before(this.#note.node);
    const list = form.querySelector("[role=listbox]");
    const choose = (meant, range) => this.#insert(meant, range);
    this.#completion = new Completion(this.#input, list, people, choose);
    this.#completion.channels = needs.channels;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#submit();
    });
    this.#emoji = form.querySelector(".pick-emoji");
    this.#emoji.addEventListener("click", () => this.#pickEmoji());
    this.#input.addEventListener("keydown", (event) => this.#pressed(event));
    this.#input.addEventListener("input", () => this.#typed());
    new ResizeObserver(() => this.#resized()).observe(this.#input);
  }

  /**
   * `place` is the open place (null: none), `find(id)` looks up a message of it as it is
   * now, `mentionable` are the ids of those who can be mentioned. Where it `isClosed` nobody writes.
   */
  show(place, { placeholder = "", mentionable = [], find = () => null, isClosed = false } = {}) {
    this.#input.setAttribute("placeholder", placeholder);
    this.#isClosed = isClosed;
    this.#mentionable = mentionable.map((id) => this.#personOf(id));
    this.#completion.candidates = this.#mentionable;
    if (place !== this.#place) this.#enter(place);
    this.#follow(find);
    this.#showLock();
  }

  /** Why it is closed: `closed` is a text; the draft is kept while it is. */
  explain({ closed, wait }) {
    this.#note.show({ closed, wait });
    this.#isWaiting = wait.seconds > 0;
  }

  /** Whether nothing has been begun in a place, which is the one that is shown. */
  isEmptyAt(place) {
    return place === this.#place && !this.#input.value.trim() && !this.#draft.about;
  }

  /** Not on a touch screen, where the keyboard would cover what one came to read. */
  focus() {
    if (matchMedia("(hover: hover)").matches) this.#input.focus();
  }

  reply(message) {
    this.#cancel();
    this.#draft.about = { kind: "reply", message };
    this.#keepWritten();
    this.#show();
    this.#input.focus();
  }

  /** The draft, or the reply, is kept until the edit ends. */
  edit(message) {
    if (this.#draft.about?.kind === "edit") this.#cancel();
    this.complain("");
    const before = { ...this.#draft, text: this.#input.value };
    const chosen = new Map(message.mentions.map((id) => [id, this.#personOf(id)]));
    const unwritten = unnamedIn(message.body, [...chosen.values()]);
    const about = { kind: "edit", message, before, unwritten };
    this.#enterDraft({ text: message.body, about, chosen, isSaving: false });
    this.#input.focus();
    this.#input.setSelectionRange(message.body.length, message.body.length);
  }

  /**
   * Put an unsent message back, in front of the current draft. The focus stays where it is if the
   * user has not requested this.
   */
  takeBack(place, { body, mentions = [], replyTo }, { isAsked = true } = {}) {
    if (place === this.#place) {
      if (this.#draft.about?.kind === "edit") this.#cancel();
      this.#remember();
    }
    const held = this.#draftOf(place);
    const draft = held.about?.kind === "edit" ? held.about.before : held;
    draft.text = [body, draft.text].filter((text) => text.trim()).join("\n");
    for (const id of mentions) draft.chosen.set(id, this.#personOf(id));
    if (replyTo) draft.about = replyAbout(replyTo);
    this.#drafts.set(place, draft);
    this.#keep(place, draft);
    if (place !== this.#place) return;
    this.#enterDraft(draft);
    if (isAsked) this.#input.focus();
  }

  /** Say what went wrong; typing takes it away. */
  complain(words) {
    this.#bar.complain(words);
  }

  #enter(place) {
    this.#remember();
    this.#place = place;
    this.complain("");
    this.#enterDraft(this.#draftOf(place));
  }

  #remember() {
    if (this.#place === null) return;
    this.#draft.text = this.#input.value;
    this.#drafts.set(this.#place, this.#draft);
  }

  /** The draft of a place, also from before the page was opened. */
  #draftOf(place) {
    const draft = this.#drafts.get(place);
    const kept = draft || place === null ? null : this.#needs.unsent.get(place);
    if (!kept) return draft ?? newDraft();
    const chosen = new Map(kept.mentions.map((id) => [id, this.#personOf(id)]));
    const about = kept.replyTo ? replyAbout(kept.replyTo) : null;
    return { ...newDraft(), text: kept.text, chosen, about };
  }

  /** Store the draft for the next page. An edit ends with the page. */
  #keep(place, { text, chosen, about }) {
    const replyTo = about ? previewOf(about.message) : null;
    const written = { text, mentions: [...chosen.keys()], replyTo };
    this.#needs.unsent.set(place, text.trim() || replyTo ? written : null);
  }

  #keepWritten() {
    if (this.#place === null || this.#draft.about?.kind === "edit") return;
    this.#keep(this.#place, { ...this.#draft, text: this.#input.value });
  }

  #enterDraft(draft) {
    this.#draft = draft;
    this.#input.value = draft.text;
    this.#completion.close();
    this.#show();
  }

  /** The message that is edited or replied to may change in the meantime, or be deleted. */
  #follow(find) {
    const { about } = this.#draft;
    const now = about && find(about.message.id);
    if (!now || now === about.message) return;
    about.message = now;
    this.#show();
    if (!now.deletedAt) return;
    this.#cancel();
    this.complain(say("composer.deleted"));
  }

  #cancel() {
    const { about } = this.#draft;
    this.complain("");
    if (about?.kind === "edit") this.#enterDraft(about.before);
    else this.#draft.about = null;
    this.#keepWritten();
    this.#show();
  }

  #submit() {
    // A pasted name has not become an emoji while it was typed.
    const body = withEmoji(this.#input.value);
    const { about, chosen, isSaving } = this.#draft;
    if (this.#place === null || isSaving) return;
    this.#completion.close();
    const problem = tooLong(body);
    this.complain(problem);
    if (problem) return;
    const mentions = mentionedIn(body, nameable([...chosen.values()], this.#mentionable));
    if (about?.kind !== "edit") this.#send({ body, mentions });
    else if (!body.trim()) this.#needs.remove(about.message);
    else {
      this.#save(this.#draft, { body, mentions: [...new Set([...about.unwritten, ...mentions])] });
    }
  }

  /** Files wait to go with a new message: it has their names where it has no words. */
  #send({ body: written, mentions }) {
    const { uploads } = this.#needs;
    if (uploads.isBusy(this.#place)) return this.complain(say("files.goingUp"));
    const body = uploads.textFor(this.#place, written);
    if (!body.trim() || this.#isWaiting) return;
    const { about } = this.#draft;
    this.#enterDraft(newDraft());
    this.#keepWritten();
    this.#input.focus();
    const replyTo = about ? previewOf(about.message) : null;
    this.#needs.send({ body, mentions, replyTo });
  }

  async #save(draft, written) {
    const { about } = draft;
    draft.isSaving = true;
    this.#show();
    try {
      if (written.body !== about.message.body) await this.#needs.edit(about.message.id, written);
      if (draft === this.#draft) this.#cancel();
      else this.#forget(draft);
    } catch (error) {
      this.#complainOf(draft, error);
    } finally {
      draft.isSaving = false;
      this.#show();
    }
  }

  /** The draft may have changed in the meantime. */
  #complainOf(draft, error) {
    const problem = problemOf(error);
    const isThere = draft === this.#draft;
    this.complain(isThere ? problem : say("composer.unsaved", { problem }));
  }

  /** Another place is open in the meantime: the draft from before the edit returns later. */
  #forget(draft) {
    for (const [place, kept] of this.#drafts) {
      if (kept === draft) this.#drafts.set(place, draft.about.before);
    }
  }

  /** A person or an emoji that was chosen from the list. */
  #insert(meant, { start, end }) {
    if (meant.id) this.#draft.chosen.set(meant.id, meant);
    this.#put(`${textOf(meant)} `, start, end);
  }

  /** Put a mark around the selection, or take it away. */
  #mark(event, mark) {
    event.preventDefault();
    if (this.#input.readOnly) return;
    const { value, selectionStart, selectionEnd } = this.#input;
    const { text, start, end, selection } = marked(value, [selectionStart, selectionEnd], mark);
    this.#put(text, start, end);
    this.#input.setSelectionRange(...selection);
  }

  #put(text, start, end) {
    this.#input.setRangeText(text, start, end, "end");
    this.#input.focus();
    this.#keepWritten();
    this.#show();
  }

  #pickEmoji() {
    this.#needs.pickEmoji(this.#emoji, (emoji) => {
      this.#put(emoji, this.#input.selectionStart, this.#input.selectionEnd);
    });
  }

  #pressed(event) {
    if (isComposing(event)) return;
    const mark = markOf(event);
    if (mark) this.#mark(event, mark);
    else if (this.#completion.takes(event)) event.preventDefault();
    else if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      this.#form.requestSubmit();
    } else if (event.key === "Escape" && this.#draft.about) {
      event.preventDefault();
      this.#cancel();
    } else if (event.key === "ArrowUp" && this.#input.value === "" && !this.#draft.about) {
      event.preventDefault();
      this.#needs.editLast();
    }
  }

  #typed() {
    this.complain("");
    const { value, selectionStart } = this.#input;
    const named = emojiNamedAt(value, selectionStart);
    if (named) this.#put(named.emoji, named.start, selectionStart);
    this.#keepWritten();
    const isEdit = this.#draft.about?.kind === "edit";
    if (!isEdit) this.#needs.typed(this.#input.value.trim() === "");
    this.#completion.update();
    this.#show();
  }

  #personOf(id) {
    return { id, name: this.#people.nameOf(id) };
  }

  #show() {
    this.#bar.show(this.#draft);
    this.#showLock();
    this.#fit();
  }

  /** A text that is being saved cannot be changed: the change would be lost. */
  #showLock() {
    const isLocked = this.#isClosed || this.#draft.isSaving;
    this.#input.readOnly = isLocked;
    this.#emoji.disabled = isLocked;
  }

  /** Where it is narrower, as next to a thread, the text has more lines. */
  #resized() {
    if (this.#input.clientWidth !== this.#width) requestAnimationFrame(() => this.#fit());
  }

  /** As high as the text, up to a limit. */
  #fit() {
    const { style, clientWidth } = this.#input;
    this.#width = clientWidth;
    style.height = "auto";
    style.height = `${Math.min(this.#input.scrollHeight, MOST_LINES_PX)}px`;
    this.#form.dataset.empty = String(this.#input.value.trim() === "");
  }
}

/** That one answers a message of which there is a preview; it is looked up where it is known. */
function replyAbout({ excerpt, ...answered }) {
  return { kind: "reply", message: { ...answered, body: excerpt, deletedAt: null } };
}

/** The notice of a text that is longer than a message may be; of others none. */
function tooLong(text) {
  // Characters outside of the basic plane have two units each.
  const count = text.length > MOST_CHARACTERS ? [...text].length : 0;
  return count > MOST_CHARACTERS ? say("composer.tooLong", { count, most: MOST_CHARACTERS }) : "";
}

/** The text that names a person, a conversation or an emoji. */
function textOf({ emoji, channel, name }) {
  if (emoji) return emoji;
  // Names change, and several may have one: shown is the name.
  return channel ? linkToConversation(channel.id) : `@${name}`;
}
