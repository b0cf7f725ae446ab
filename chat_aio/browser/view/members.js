/** The members of a group, the actions of its admins, and the button to leave it. */

import { element, Rows, setAvatar, setText } from "../dom.js";
import { icon } from "./icons.js";
import { AddPeopleDialog, ConfirmDialog } from "./group-dialogs.js";
import { countOf, wayBackTo } from "./group-words.js";
import { Part } from "./part.js";
import { Menu } from "./popovers.js";
import { picturedWithDot } from "./presence-mark.js";
import { Section, smallButton } from "./section.js";

export class MembersSection extends Part {
  #list = element("ul", { class: "persons" });
  #add = smallButton(this.say("members.add"), () => this.#adding.open(this.#group));
  #leave = smallButton(this.say("members.leave"), () => this.#askToLeave(), {
    class: "quiet small danger",
  });
  #menu = new Menu(this.shell, "person-menu", this.say("message.actions"));
  #confirm = new ConfirmDialog(this.shell, () => this.#section.keepFocus());
  #adding;
  #section;
  #rows;
  #groups;
  #presence;
  #group = null;
  /** The button to leave, for the end of the details. */
  end;

  constructor(shell, groups, presence) {
    super(shell);
    this.#groups = groups;
    this.#presence = presence;
    this.#adding = new AddPeopleDialog(this.shell, (group, userIds) => groups.add(group, userIds));
    const act = (userId, button) => this.#menu.open(button, this.#itemsFor(userId));
    this.#rows = new Rows(this.#list, { shell: this.shell, act });
    this.#section = new Section(this.shell, this.say("members.title"), [this.#add], this.#list);
    // Below all else: it is the last that one does.
    this.end = element("div", { class: "section ending" }, this.#leave);
    this.node = this.#section.node;
  }

  show(group) {
    if (group.id !== this.#group?.id) this.#section.complain("");
    this.#group = group;
    const isAdmin = this.people.isAdminOf(group);
    this.#add.hidden = !isAdmin;
    this.#section.title(countOf(this.texts, group.participants.length));
    this.#rows.show(group.participants.map((participant) => this.#rowOf(participant, isAdmin)));
  }

  #rowOf({ userId, role }, isManaged) {
    const name = this.people.nameOf(userId);
    const isMe = userId === this.people.userId;
    const picture = this.people.pictureOfPerson(userId);
    const isOnline = this.#presence.of(userId).online;
    const state = { userId, name, role, isMe, isManaged, isOnline, ...picture };
    return { key: userId, Row: PersonRow, state };
  }

  #itemsFor(userId) {
    const group = this.#group;
    const isAdmin = this.people.isAdminOf(group, userId);
    const setRole = (role) => () =>
      this.#section.attempt(() => this.#groups.setRole(group, userId, role));
    const items = [
      isAdmin
        ? { name: "member", label: this.say("members.makeMember"), act: setRole("member") }
        : { name: "admin", label: this.say("members.makeAdmin"), act: setRole("admin") },
    ];
    if (userId === this.people.userId) return items;
    const remove = () => this.#askToRemove(group, userId);
    const ban = () => this.#askToBan(group, userId);
    return [
      ...items,
      { name: "remove", label: this.say("members.remove"), act: remove },
      { name: "ban", label: this.say("members.ban"), act: ban },
    ];
  }

  #askToRemove(group, userId) {
    const name = this.people.nameOf(userId);
    const heading = this.say("members.removeTitle", { name });
    const question = { heading, words: this.say("members.removeAbout"), submit: this.say("members.remove") };
    this.#confirm.open(question, () => this.#groups.remove(group, userId));
  }

  #askToBan(group, userId) {
    const name = this.people.nameOf(userId);
    const heading = this.say("members.banTitle", { name });
    const question = { heading, words: this.say("members.banAbout"), submit: this.say("members.banThem") };
    this.#confirm.open(question, () => this.#groups.ban(group, userId));
  }

  #askToLeave() {
    const group = this.#group;
    const heading = this.say("members.leaveTitle", { title: this.people.titleOf(group) });
    const words = wayBackTo(this.texts, group);
    const question = { heading, words, submit: this.say("members.leaveNow") };
    this.#confirm.open(question, () => this.#groups.leave(group));
  }
}

class PersonRow extends Part {
  #pictured = picturedWithDot(this.say("presence.online"));
  #name = element("span", { class: "person-name", dir: "auto" });
  #role = element("span", { class: "role" }, this.say("members.admin"));
  #button;
  #userId = null;

  constructor({ shell, act }) {
    super(shell);
    const onclick = ({ currentTarget }) => act(this.#userId, currentTarget);
    const fields = { type: "button", class: "icon", "aria-haspopup": "menu" };
    this.#button = element("button", { ...fields, onclick }, icon("more"));
    this.node = element("li", {}, this.#pictured.node, this.#name, this.#role, this.#button);
  }

  show({ userId, name, role, isMe, isManaged, isOnline, ...picture }) {
    this.#userId = userId;
    setAvatar(this.#pictured.picture, picture);
    this.#pictured.dot.hidden = !isOnline;
    setText(this.#name, isMe ? this.say("members.you", { name }) : name);
    this.#role.hidden = role !== "admin";
    this.#button.hidden = !isManaged;
    this.#button.setAttribute("aria-label", this.say("members.actions", { name }));
  }
}
