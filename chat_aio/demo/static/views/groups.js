/** All that is about groups: a new one, the details beside one, the channels, an invite link. */

import { Admission } from "../admission.js";
import { Directory } from "../directory.js";
import { Invitation } from "../invitation.js";
import { ChannelDirectory } from "./channels.js";
import { DetailsPanel } from "./details.js";
import { makeGroupDialog } from "./group-dialogs.js";
import { InviteScreen } from "./invite.js";

export class GroupViews {
  #details;
  #screens;

  /**
   * `needs.groups` makes changes, `needs.hrefOf(conversationId, part?)` is an address,
   * `needs.go(conversationId)` opens a conversation, `needs.enter(conversationId)` opens it in
   * the place of what is shown.
   */
  constructor(chat, store, people, needs) {
    const { groups, go, enter, hrefOf } = needs;
    const admissionTo = (id) => new Admission(chat, store, id);
    const directory = new Directory(chat, store, groups);
    const invitation = new Invitation(chat, store, groups);
    this.#details = new DetailsPanel(store, people, { groups, hrefOf, admissionTo });
    this.#screens = {
      channels: new ChannelDirectory(directory, store, people, { go, hrefOf }),
      invite: new InviteScreen(invitation, store, people, enter),
    };
    makeGroupDialog(people, async (group) => go((await groups.create(group)).id));
  }

  /** A screen of its own is open now; `code` is that of an invite link. */
  openScreen(name, code) {
    this.#screens[name].open(code);
  }

  focusScreen(name) {
    this.#screens[name].focus();
  }

  focusDetails({ isClosed }) {
    this.#details.focus({ isClosed });
  }

  show() {
    this.#details.show();
    for (const each of Object.values(this.#screens)) each.show();
  }
}
