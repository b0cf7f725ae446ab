/** Where one writes. Enter sends, with Shift it begins a new line. */

import { element, isComposing, setAttribute, setText } from "../dom.js";
import { Files } from "./files.js";

const newDraft = () => ({ body: "", about: null, before: null, problem: "", isSaving: false });

export class Composer {
  #tools;
  #field;
  #send;
  #about = element("div", { class: "replying", hidden: true });
  #words = element("span", { dir: "auto" });
  #files = null;
  #problem = element("p", { class: "problem", role: "alert", hidden: true });
  #place = null;
  /** Drafts, by place: a conversation or a thread. */
  #drafts = new Map();

  /**
   * `tools` are {say, nameOf, problemOf, uploads}, send(place, written), typed(place, text),
   * save(entry, body), which rejects if that is refused, and last(), one's own last message here.
   */
  constructor(tools, label) {
    this.#tools = tools;
    const { say } = tools;
    const about = { "aria-label": label, part: "field" };
    this.#field = element("textarea", { rows: "1", dir: "auto", ...about });
    this.#send = element("button", { type: "submit", part: "send" }, say("send"));
    const cancel = element("button", { type: "button", class: "link" }, say("cancel"));
    cancel.addEventListener("click", () => {
      this.#cancel();
      this.focus();
    });
    this.#about.append(this.#words, cancel);
    if (tools.uploads) this.#files = new Files(tools);
    this.node = this.#made();
    this.#field.addEventListener("keydown", (event) => this.#pressed(event));
    this.#field.addEventListener("input", () => this.#written());
  }

  /** Files pasted or dropped into `target` are added to the draft. */
  takeFilesFrom(target) {
    this.#files?.watch(target);
  }

  /** Drafts of other places stay there. `entries` are the current messages of this place. */
  show(place, { placeholder, isClosed, entries, conversationId }) {
    this.#files?.show(place, conversationId, isClosed);
    if (place !== this.#place) {
      this.#place = place;
      this.#showDraft();
    }
    setAttribute(this.#field, "placeholder", placeholder);
    this.#field.disabled = this.#send.disabled = isClosed;
    this.#follow(entries);
    this.#wait();
  }

  /** No place is open: dropped files would be added to the draft of the former one. */
  leave() {
    this.#files?.show(null, null, true);
  }

  /** Answer a message. */
  reply(entry) {
    this.#cancel();
    this.#draft.about = { kind: "reply", entry };
    this.#showDraft();
    this.focus();
  }

  /** Edit a message; the draft, or the reply, is kept until the edit ends. */
  edit(entry) {
    if (this.#isEdit) this.#cancel();
    this.#draft.problem = "";
    const { body } = entry;
    this.#put(this.#place, {
      ...newDraft(),
      ...{ body, about: { kind: "edit", entry }, before: this.#draft },
    });
    this.focus();
    this.#field.setSelectionRange(body.length, body.length);
  }

  /** Say what went wrong; typing takes it away. */
  complain(words) {
    this.#draft.problem = words;
    this.#showDraft();
  }

  focus() {
    this.#field.focus();
  }

  /** Whether there is somewhere to write. */
  get isOpen() {
    return !this.node.hidden && !this.#field.disabled;
  }

  #made() {
    const onsubmit = (event) => this.#submit(event);
    const row = element("div", { class: "writing" }, this.#field, this.#send);
    // Behind the text: Shift+Tab leads from there to the messages.
    if (this.#files) this.#send.before(this.#files.button);
    const files = this.#files ? [this.#files.node] : [];
    const parts = [this.#about, this.#problem, ...files, row];
    return element("form", { part: "composer", onsubmit }, ...parts);
  }

  /** Of the place that is shown. */
  get #draft() {
    if (!this.#drafts.has(this.#place)) this.#drafts.set(this.#place, newDraft());
    return this.#drafts.get(this.#place);
  }

  get #isEdit() {
    return this.#draft.about?.kind === "edit";
  }

  #put(place, draft) {
    this.#drafts.set(place, draft);
    if (place === this.#place) this.#showDraft();
  }

  #written() {
    const draft = this.#draft;
    Object.assign(draft, { body: this.#field.value, problem: "" });
    this.#showDraft();
    if (!this.#isEdit) this.#tools.typed(this.#place, draft.body);
  }

  #showDraft() {
    const { body, about, problem, isSaving } = this.#draft;
    const { say, nameOf } = this.#tools;
    // The caret stays where it is.
    if (this.#field.value !== body) this.#field.value = body;
    this.#field.readOnly = isSaving;
    this.#about.hidden = about === null;
    const isEdit = about?.kind === "edit";
    const words = about && !isEdit ? say("replying", { name: nameOf(about.entry.senderId) }) : "";
    setText(this.#words, isEdit ? say("editing") : words);
    setText(this.#send, isEdit ? say("save") : say("send"));
    setText(this.#problem, problem);
    this.#problem.hidden = problem === "";
  }

  #pressed(event) {
    if (isComposing(event)) return;
    const { body, about } = this.#draft;
    if (event.key === "Enter" && !event.shiftKey) this.#submit(event);
    else if (event.key === "Escape" && about) {
      event.preventDefault();
      this.#cancel();
    } else if (event.key === "ArrowUp" && body === "" && !about) this.#editLast(event);
  }

  #editLast(event) {
    const last = this.#tools.last();
    if (!last) return;
    event.preventDefault();
    this.edit(last);
  }

  /** The message that is edited or replied to may be deleted in the meantime. */
  #follow(entries) {
    const { about } = this.#draft;
    const now = about && entries.find((entry) => entry.id === about.entry.id);
    if (now) about.entry = now;
    if (!now?.deletedAt) return;
    this.#cancel();
    this.complain(this.#tools.say("deleted"));
  }

  /** The notice about running uploads is shown until they have ended. */
  #wait() {
    const { say, uploads } = this.#tools;
    const isWaiting = this.#draft.problem === say("goingUp");
    if (isWaiting && !uploads.isBusy(this.#place)) this.complain("");
  }

  #cancel() {
    if (this.#isEdit) this.#put(this.#place, this.#draft.before);
    else this.#draft.about = null;
    this.#draft.problem = "";
    this.#showDraft();
  }

  #submit(event) {
    event.preventDefault();
    const [draft, place] = [this.#draft, this.#place];
    const { body, about, isSaving } = draft;
    const { uploads, say } = this.#tools;
    if (this.#isEdit) {
      if (body.trim() !== "" && !isSaving) this.#save(draft, place);
      return;
    }
    if (uploads?.isBusy(place)) return this.complain(say("goingUp"));
    const text = uploads?.textFor(place, body) ?? body;
    if (text.trim() === "") return;
    this.#put(place, newDraft());
    const attachments = uploads?.take(place) ?? [];
    this.#tools.send(place, {
      body: text,
      ...(about ? { replyTo: about.entry } : {}),
      ...(attachments.length > 0 ? { attachments } : {}),
    });
  }

  /** The place may have another draft in the meantime. */
  #complainOf(draft, place, error) {
    const { say, problemOf } = this.#tools;
    const problem = problemOf(error);
    const now = this.#drafts.get(place);
    now.problem = now === draft ? problem : say("unsaved", { problem });
  }

  /** Another place may be open when it is answered. */
  async #save(draft, place) {
    const { entry } = draft.about;
    Object.assign(draft, { isSaving: true, problem: "" });
    this.#showDraft();
    try {
      if (draft.body !== entry.body) await this.#tools.save(entry, draft.body);
      if (this.#drafts.get(place) === draft) this.#put(place, draft.before);
    } catch (error) {
      this.#complainOf(draft, place, error);
    }
    draft.isSaving = false;
    this.#showDraft();
  }
}
