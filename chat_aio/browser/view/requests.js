/** The join requests of a group, for its admins. */

import { avatar, element, Rows, setAttribute, setAvatar, setText } from "../dom.js";
import { Part } from "./part.js";
import { ListFoot, Section, smallButton } from "./section.js";

const wordsIn = (texts) => ({ failed: texts.say("requests.failed"), empty: texts.say("requests.empty") });

export class RequestsSection extends Part {
  #list = element("ul", { class: "requests" });
  #foot = new ListFoot(this.shell, () => this.#admission.requests.more());
  #rows = new Rows(this.#list, { shell: this.shell, resolve: (...decided) => this.#resolve(...decided) });
  #section;
  #admission = null;

  constructor(shell) {
    super(shell);
    const refresh = smallButton(this.say("common.refresh"), () => this.#refresh());
    this.#section = new Section(this.shell, this.say("requests.title"), [refresh], this.#list, this.#foot.node);
    this.node = this.#section.node;
  }

  show(admission) {
    if (admission !== this.#admission) this.#section.complain("");
    this.#admission = admission;
    const { requests } = admission;
    const { length } = requests.items;
    const count = `${this.texts.numberOf(length)}${requests.nextCursor === null ? "" : "+"}`;
    const title = this.say("requests.title");
    this.#section.title(length === 0 ? title : `${title} (${count})`);
    this.#rows.show(requests.items.map((request) => this.#rowOf(request)));
    this.#foot.show(requests, wordsIn(this.texts));
  }

  #rowOf(request) {
    const { userId, createdAt } = request;
    const picture = this.people.pictureOfPerson(userId);
    const state = { request, name: this.people.nameOf(userId), ago: this.texts.agoOf(createdAt), ...picture };
    return { key: userId, Row: RequestRow, state };
  }

  #refresh() {
    this.#section.complain("");
    this.#admission.requests.reload();
  }

  async #resolve(request, decision) {
    const admission = this.#admission;
    await this.#section.attempt(() => admission.resolve(request, decision));
    this.#section.keepFocus();
  }
}

class RequestRow extends Part {
  #avatar = avatar();
  #name = element("span", { class: "person-name", dir: "auto" });
  #time = element("time", { class: "row-time" });
  #note = element("p", { class: "request-note", dir: "auto" });
  #approve;
  #deny;
  #request = null;

  constructor({ shell, resolve }) {
    super(shell);
    const decide = (decision) => () => resolve(this.#request, decision);
    const fields = { class: "primary small" };
    this.#approve = smallButton(this.say("requests.approve"), decide("approve"), fields);
    this.#deny = smallButton(this.say("requests.deny"), decide("deny"));
    this.node = element(
      "li",
      {},
      element("div", { class: "person" }, this.#avatar, this.#name, this.#time),
      this.#note,
      element("div", { class: "ending" }, this.#deny, this.#approve),
    );
  }

  show({ request, name, ago, ...picture }) {
    this.#request = request;
    setAvatar(this.#avatar, picture);
    setText(this.#name, name);
    setText(this.#time, ago);
    setAttribute(this.#time, "datetime", request.createdAt);
    setAttribute(this.#time, "title", this.texts.momentOf(request.createdAt));
    setText(this.#note, request.message ?? "");
    this.#note.hidden = request.message === null;
    this.#approve.setAttribute("aria-label", this.say("requests.approveNamed", { name }));
    this.#deny.setAttribute("aria-label", this.say("requests.denyNamed", { name }));
  }
}
