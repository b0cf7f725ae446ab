/** Who is in a group, and what its admins can do about it; leaving it, for everybody. */

import { element, Rows, setAvatar, setText } from "../../../browser/dom.js";
import { icon } from "../icons.js";
import { AddPeopleDialog, ConfirmDialog } from "./group-dialogs.js";
import { countOf } from "./group-words.js";
import { Menu } from "./popovers.js";
import { picturedWithDot } from "./presence-mark.js";
import { Section, smallButton } from "./section.js";

export class MembersSection {
  #list = element("ul", { class: "persons" });
  #add = smallButton("Add people", () => this.#adding.open(this.#group));
  #leave = smallButton("Leave the group", () => this.#askToLeave());
  #menu = new Menu("#person-menu");
  #confirm = new ConfirmDialog(() => this.#section.keepFocus());
  #adding;
  #section;
  #rows;
  #people;
  #groups;
  #presence;
  #group = null;

  constructor(people, groups, presence) {
    this.#people = people;
    this.#groups = groups;
    this.#presence = presence;
    this.#adding = new AddPeopleDialog(people, (group, userIds) => groups.add(group, userIds));
    const act = (userId, button) => this.#menu.open(button, this.#itemsFor(userId));
    this.#rows = new Rows(this.#list, { act });
    this.#section = new Section("People", [this.#add], this.#list, this.#leave);
    this.node = this.#section.node;
  }

  show(group) {
    if (group.id !== this.#group?.id) this.#section.complain("");
    this.#group = group;
    const isAdmin = this.#people.isAdminOf(group);
    this.#add.hidden = !isAdmin;
    this.#section.title(countOf(group.participants.length));
    this.#rows.show(group.participants.map((each) => this.#rowOf(each, isAdmin)));
  }

  #rowOf({ userId, role }, isManaged) {
    const name = this.#people.nameOf(userId);
    const isMe = userId === this.#people.userId;
    const picture = this.#people.pictureOfPerson(userId);
    const isOnline = this.#presence.of(userId).online;
    const state = { userId, name, role, isMe, isManaged, isOnline, ...picture };
    return { key: userId, Row: PersonRow, state };
  }

  #itemsFor(userId) {
    const group = this.#group;
    const isAdmin = this.#people.isAdminOf(group, userId);
    const setRole = (role) => () =>
      this.#section.attempt(() => this.#groups.setRole(group, userId, role));
    const items = [
      isAdmin
        ? { name: "member", label: "Make member", act: setRole("member") }
        : { name: "admin", label: "Make admin", act: setRole("admin") },
    ];
    if (userId === this.#people.userId) return items;
    const remove = () => this.#askToRemove(group, userId);
    const ban = () => this.#askToBan(group, userId);
    return [
      ...items,
      { name: "remove", label: "Remove", act: remove },
      { name: "ban", label: "Ban from here", act: ban },
    ];
  }

  #askToRemove(group, userId) {
    const name = this.#people.nameOf(userId);
    const words = "What is written from then on is not for them. You can add them again.";
    const question = { heading: `Remove ${name}?`, words, submit: "Remove" };
    this.#confirm.open(question, () => this.#groups.remove(group, userId));
  }

  #askToBan(group, userId) {
    const name = this.#people.nameOf(userId);
    const words = "They are removed, and no link, request or admin lets them in until you lift it.";
    const question = { heading: `Ban ${name} from here?`, words, submit: "Ban" };
    this.#confirm.open(question, () => this.#groups.ban(group, userId));
  }

  #askToLeave() {
    const group = this.#group;
    const words = "You can come back when somebody lets you in again.";
    const question = { heading: `Leave ${this.#people.titleOf(group)}?`, words, submit: "Leave" };
    this.#confirm.open(question, () => this.#groups.leave(group));
  }
}

class PersonRow {
  #pictured = picturedWithDot();
  #name = element("span", { class: "person-name" });
  #role = element("span", { class: "role" }, "Admin");
  #button;
  #userId = null;

  constructor({ act }) {
    const onclick = ({ currentTarget }) => act(this.#userId, currentTarget);
    const fields = { type: "button", class: "icon", "aria-haspopup": "menu" };
    this.#button = element("button", { ...fields, onclick }, icon("more"));
    this.node = element("li", {}, this.#pictured.node, this.#name, this.#role, this.#button);
  }

  show({ userId, name, role, isMe, isManaged, isOnline, ...picture }) {
    this.#userId = userId;
    setAvatar(this.#pictured.picture, picture);
    this.#pictured.dot.hidden = !isOnline;
    setText(this.#name, isMe ? `${name} (you)` : name);
    this.#role.hidden = role !== "admin";
    this.#button.hidden = !isManaged;
    this.#button.setAttribute("aria-label", `Actions for ${name}`);
  }
}
