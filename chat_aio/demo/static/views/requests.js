/** The join requests of a group, for its admins. */

import { avatar, element, Rows, setAttribute, setAvatar, setText } from "../../../browser/dom.js";
import { agoOf, momentOf } from "../times.js";
import { numberOf, say } from "../words.js";
import { ListFoot, Section, smallButton } from "./section.js";

const WORDS = { failed: say("requests.failed"), empty: say("requests.empty") };

export class RequestsSection {
  #list = element("ul", { class: "requests" });
  #foot = new ListFoot(() => this.#admission.requests.more());
  #rows = new Rows(this.#list, { resolve: (...decided) => this.#resolve(...decided) });
  #section;
  #people;
  #admission = null;

  constructor(people) {
    this.#people = people;
    const refresh = smallButton(say("common.refresh"), () => this.#refresh());
    this.#section = new Section(say("requests.title"), [refresh], this.#list, this.#foot.node);
    this.node = this.#section.node;
  }

  show(admission) {
    if (admission !== this.#admission) this.#section.complain("");
    this.#admission = admission;
    const { requests } = admission;
    const { length } = requests.items;
    const count = `${numberOf(length)}${requests.nextCursor === null ? "" : "+"}`;
    const title = say("requests.title");
    this.#section.title(length === 0 ? title : `${title} (${count})`);
    this.#rows.show(requests.items.map((request) => this.#rowOf(request)));
    this.#foot.show(requests, WORDS);
  }

  #rowOf(request) {
    const { userId, createdAt } = request;
    const picture = this.#people.pictureOfPerson(userId);
    const state = { request, name: this.#people.nameOf(userId), ago: agoOf(createdAt), ...picture };
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

class RequestRow {
  #avatar = avatar();
  #name = element("span", { class: "person-name", dir: "auto" });
  #time = element("time", { class: "row-time" });
  #note = element("p", { class: "request-note", dir: "auto" });
  #approve;
  #deny;
  #request = null;

  constructor({ resolve }) {
    const decide = (decision) => () => resolve(this.#request, decision);
    const fields = { class: "primary small" };
    this.#approve = smallButton(say("requests.approve"), decide("approve"), fields);
    this.#deny = smallButton(say("requests.deny"), decide("deny"));
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
    setAttribute(this.#time, "title", momentOf(request.createdAt));
    setText(this.#note, request.message ?? "");
    this.#note.hidden = request.message === null;
    this.#approve.setAttribute("aria-label", say("requests.approveNamed", { name }));
    this.#deny.setAttribute("aria-label", say("requests.denyNamed", { name }));
  }
}
