/**
 * The composer of messages, replies and edits. Each place has its draft, which the
 * browser keeps as well.
 */

import { element, isComposing, setAttribute, setText } from "../dom.js";
import { takeFiles } from "../file-drops.js";
import { mentionedIn, nameable, unnamedIn } from "../mentions.js";
import { marked, markOf } from "../marking.js";
import { previewOf } from "../messages.js";
import { AboutBar } from "./about-bar.js";
import { Completion } from "./completion.js";
import { ComposerNote } from "./composer-note.js";
import { FilePicker } from "./file-picker.js";
import { iconButton } from "./icons.js";
import { Part } from "./part.js";

const MOST_LINES_PX = 200;
/** As many as the demo's service takes: a longer text is not sent for nothing. */
const MOST_CHARACTERS = 16_384;
/** Where there may be names of emoji, begun or whole. */
const BEGUN = /:[\p{L}\p{N}_+-]{2}/u;
const NAMED = /:[\p{L}\p{N}_+-]{2,30}:/u;
const newDraft = () => ({ text: "", about: null, chosen: new Map(), isSaving: false });

export class Composer extends Part {
  #input;
  #emoji = null;
  #bar = new AboutBar(this.shell, () => {
    this.#cancel();
    this.#input.focus();
  });
  #note = new ComposerNote(this.shell);
  #problem = element("p", { class: "problem", role: "alert" });
  #files = null;
  #isWaiting = false;
  #isClosed = false;
  #completion;
  #needs;
  #drafts = new Map();
  #draft = newDraft();
  #place = null;
  #mentionable = [];
  #width = 0;

  /**
   * `name` begins the ids of its nodes, `label` says what one writes.
   *
   * `needs.send(written)` is called with {body, mentions, replyTo}, never blank; `needs.edit(id,
   * written)` rejects if that fails; `needs.remove(message)` asks whether to delete a message
   * that is now empty; `needs.editLast()` is called from an empty text;
   * `needs.typed(isBlank)` is called on typing that is no edit; `needs.channels()` are the
   * conversations that have names; `needs.pickEmoji(button, choose)`
   * offers a choice; `needs.unsent` keeps drafts; `needs.uploads` has the files of
   * the next message, null where there are none.
   */
  constructor(shell, { name, label }, needs) {
    super(shell);
    this.#needs = needs;
    const fields = { id: `${name}body`, rows: 1, dir: "auto", "aria-label": label, part: "field" };
    const keys = { enterkeyhint: "send", autocomplete: "off" };
    this.#input = element("textarea", { ...fields, ...keys });
    const choose = (meant, range) => this.#insert(meant, range);
    const listId = `${name}composer-people`;
    this.#completion = new Completion(this.shell, this.#input, listId, choose);
    this.#completion.channels = needs.channels;
    if (needs.uploads) this.#files = new FilePicker(this.shell, needs.uploads);
    this.node = this.#made(`${name}composer`);
    this.#input.addEventListener("keydown", (event) => this.#pressed(event));
    this.#input.addEventListener("input", () => this.#typed());
    new ResizeObserver(() => this.#resized()).observe(this.#input);
  }

  #made(id) {
    if (this.shell.has("emoji")) {
      const title = this.say("emoji.title");
      const fields = { class: "icon pick-emoji", title, "aria-haspopup": "dialog" };
      const onclick = () => this.#pickEmoji();
      this.#emoji = iconButton("react", this.say("composer.pickEmoji"), { ...fields, onclick });
    }
    const title = this.say("composer.sendKey");
    const send = { type: "submit", class: "send", title, part: "send" };
    const writing = element(
      "div",
      { class: "writing" },
      // Behind the text: Shift+Tab leads from there to the messages.
      ...[this.#input, this.#emoji ?? "", ...(this.#files?.buttons ?? [])],
      iconButton("send", this.say("composer.send"), send),
    );
    const fields = { id, class: "composer", part: "composer", "data-empty": "true" };
    const onsubmit = (event) => {
      event.preventDefault();
      this.#submit();
    };
    const above = [this.#completion.node, this.#bar.node, this.#note.node, this.#problem];
    const files = this.#files?.node ?? "";
    return element("form", { ...fields, onsubmit }, ...above, files, writing);
  }

  /** Files dropped or pasted there, or here, are added. */
  takeFilesFrom(stage) {
    if (!this.#files) return;
    const add = (files) => this.#files.add(files);
    const drag = (isOver) => setAttribute(stage, "data-dropping", isOver && !this.#isClosed);
    stage.dataset.dropWords = this.say("files.drop");
    for (const place of [this.node, stage]) takeFiles(place, add, drag);
  }

  /**
   * `place` is the open place (null: none), `find(id)` looks up a message of it as it is
   * now, `mentionable` are the ids of those who can be mentioned. Where it `isClosed` nobody writes.
   */
  show(place, { placeholder = "", mentionable = [], find = () => null, isClosed = false } = {}) {
    this.#input.setAttribute("placeholder", placeholder);
    this.#isClosed = isClosed;
    this.#files?.show(place, this.store.openId, isClosed);
    this.#mentionable = mentionable.map((id) => this.#personOf(id));
    this.#completion.candidates = this.#mentionable;
    if (place !== this.#place) this.#enter(place);
    this.#follow(find);
    this.#showLock();
    const isWaiting = this.#problem.textContent === this.say("files.goingUp");
    if (isWaiting && !this.#needs.uploads.isBusy(place)) this.complain("");
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
    if (this.shell.hasMouse) this.#input.focus();
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
    setText(this.#problem, words);
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
    this.complain(this.say("composer.deleted"));
  }

  #cancel() {
    const { about } = this.#draft;
    this.complain("");
    if (about?.kind === "edit") this.#enterDraft(about.before);
    else this.#draft.about = null;
    this.#keepWritten();
    this.#show();
  }

  async #submit() {
    const place = this.#place;
    if (this.#lacksEmoji(NAMED)) await this.shell.emoji.getIfPossible();
    // Another place may be open now: the draft is kept.
    if (place !== this.#place) return;
    // A pasted name has not become an emoji while it was typed.
    const body = this.#withEmoji(this.#input.value);
    const { about, chosen, isSaving } = this.#draft;
    if (this.#place === null || isSaving) return;
    this.#completion.close();
    const problem = tooLong(this.texts, body);
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
    if (uploads?.isBusy(this.#place)) return this.complain(this.say("files.goingUp"));
    const body = uploads?.textFor(this.#place, written) ?? written;
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
    const problem = this.texts.problemOf(error);
    const isThere = draft === this.#draft;
    this.complain(isThere ? problem : this.say("composer.unsaved", { problem }));
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
    this.#put(`${this.#textOf(meant)} `, start, end);
  }

  /** The text that names a person, a conversation or an emoji. */
  #textOf({ emoji, channel, name }) {
    if (emoji) return emoji;
    // Names change, and several may have one: shown is the name.
    return channel ? this.shell.places.linkTo(channel.id) : `@${name}`;
  }

  #withEmoji(text) {
    const names = this.shell.has("emoji") && this.shell.emoji.now;
    return names ? names.written(text) : text;
  }

  /** Whether the names of emoji are not loaded yet, and the text may have some. */
  #lacksEmoji(pattern) {
    return this.shell.has("emoji") && !this.shell.emoji.now && pattern.test(this.#input.value);
  }

  async #loadEmoji() {
    const { value } = this.#input;
    const names = await this.shell.emoji.getIfPossible();
    if (names && this.#input.value === value) this.#nameEmoji();
  }

  /** The name in front of the caret becomes its emoji, or more of it can be chosen. */
  #nameEmoji() {
    const { value, selectionStart } = this.#input;
    const names = this.shell.has("emoji") && this.shell.emoji.now;
    const named = names && names.namedAt(value, selectionStart);
    if (named) this.#put(named.emoji, named.start, selectionStart);
    this.#completion.update();
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
      this.node.requestSubmit();
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
    if (this.#lacksEmoji(BEGUN)) this.#loadEmoji();
    this.#nameEmoji();
    this.#keepWritten();
    const isEdit = this.#draft.about?.kind === "edit";
    if (!isEdit) this.#needs.typed(this.#input.value.trim() === "");
    this.#show();
  }

  #personOf(id) {
    return { id, name: this.people.nameOf(id) };
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
    if (this.#emoji) this.#emoji.disabled = isLocked;
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
    this.node.dataset.empty = String(this.#input.value.trim() === "");
  }
}

/** That one answers a message of which there is a preview; it is looked up where it is known. */
function replyAbout({ excerpt, ...answered }) {
  return { kind: "reply", message: { ...answered, body: excerpt, deletedAt: null } };
}

/** The notice of a text that is longer than a message may be; of others none. */
function tooLong(texts, text) {
  // Characters outside of the basic plane have two units each.
  const count = text.length > MOST_CHARACTERS ? [...text].length : 0;
  return count > MOST_CHARACTERS ? texts.say("composer.tooLong", { count, most: MOST_CHARACTERS }) : "";
}

