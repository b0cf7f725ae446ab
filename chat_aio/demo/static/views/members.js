/** The members of a group, the actions of its admins, and the button to leave it. */

import { element, Rows, setAvatar, setText } from "../../../browser/dom.js";
import { icon } from "../icons.js";
import { say } from "../words.js";
import { AddPeopleDialog, ConfirmDialog } from "./group-dialogs.js";
import { countOf, wayBackTo } from "./group-words.js";
import { Menu } from "./popovers.js";
import { picturedWithDot } from "./presence-mark.js";
import { Section, smallButton } from "./section.js";

export class MembersSection {
  #list = element("ul", { class: "persons" });
  #add = smallButton(say("members.add"), () => this.#adding.open(this.#group));
  #leave = smallButton(say("members.leave"), () => this.#askToLeave(), { class: "quiet small danger" });
  #menu = new Menu("#person-menu");
  #confirm = new ConfirmDialog(() => this.#section.keepFocus());
  #adding;
  #section;
  #rows;
  #people;
  #groups;
  #presence;
  #group = null;
  /** The button to leave, for the end of the details. */
  end;

  constructor(people, groups, presence) {
    this.#people = people;
    this.#groups = groups;
    this.#presence = presence;
    this.#adding = new AddPeopleDialog(people, (group, userIds) => groups.add(group, userIds));
    const act = (userId, button) => this.#menu.open(button, this.#itemsFor(userId));
    this.#rows = new Rows(this.#list, { act });
    this.#section = new Section(say("members.title"), [this.#add], this.#list);
    // Below all else: it is the last that one does.
    this.end = element("div", { class: "section ending" }, this.#leave);
    this.node = this.#section.node;
  }

  show(group) {
    if (group.id !== this.#group?.id) this.#section.complain("");
    this.#group = group;
    const isAdmin = this.#people.isAdminOf(group);
    this.#add.hidden = !isAdmin;
    this.#section.title(countOf(group.participants.length));
    this.#rows.show(group.participants.map((participant) => this.#rowOf(participant, isAdmin)));
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
        ? { name: "member", label: say("members.makeMember"), act: setRole("member") }
        : { name: "admin", label: say("members.makeAdmin"), act: setRole("admin") },
    ];
    if (userId === this.#people.userId) return items;
    const remove = () => this.#askToRemove(group, userId);
    const ban = () => this.#askToBan(group, userId);
    return [
      ...items,
      { name: "remove", label: say("members.remove"), act: remove },
      { name: "ban", label: say("members.ban"), act: ban },
    ];
  }

  #askToRemove(group, userId) {
    const name = this.#people.nameOf(userId);
    const heading = say("members.removeTitle", { name });
    const question = { heading, words: say("members.removeAbout"), submit: say("members.remove") };
    this.#confirm.open(question, () => this.#groups.remove(group, userId));
  }

  #askToBan(group, userId) {
    const name = this.#people.nameOf(userId);
    const heading = say("members.banTitle", { name });
    const question = { heading, words: say("members.banAbout"), submit: say("members.banThem") };
    this.#confirm.open(question, () => this.#groups.ban(group, userId));
  }

  #askToLeave() {
    const group = this.#group;
    const heading = say("members.leaveTitle", { title: this.#people.titleOf(group) });
    const words = wayBackTo(group);
    const question = { heading, words, submit: say("members.leaveNow") };
    this.#confirm.open(question, () => this.#groups.leave(group));
  }
}

class PersonRow {
  #pictured = picturedWithDot();
  #name = element("span", { class: "person-name", dir: "auto" });
  #role = element("span", { class: "role" }, say("members.admin"));
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
    setText(this.#name, isMe ? say("members.you", { name }) : name);
    this.#role.hidden = role !== "admin";
    this.#button.hidden = !isManaged;
    this.#button.setAttribute("aria-label", say("members.actions", { name }));
  }
}
