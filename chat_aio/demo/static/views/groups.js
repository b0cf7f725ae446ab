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
  /** The screens of their own, by name: `open(code)`, `focus()` and `show()`. */
  screens;

  /**
   * `needs.groups` and `needs.boundaries` make changes, `needs.reporting` is the dialog,
   * `needs.hrefOf(conversationId, part?)` is an address, `needs.go(conversationId)` opens a
   * conversation, `needs.enter(conversationId)` opens it in the place of what is shown.
   */
  constructor(chat, store, people, needs) {
    const { groups, boundaries, reporting, go, enter, hrefOf } = needs;
    const admissionTo = (id) => new Admission(chat, store, id);
    const directory = new Directory(chat, store, groups);
    const invitation = new Invitation(chat, store, groups);
    const changes = { groups, boundaries, reporting };
    this.#details = new DetailsPanel(store, people, { ...changes, hrefOf, admissionTo });
    this.screens = {
      channels: new ChannelDirectory(directory, store, people, { go, hrefOf }),
      invite: new InviteScreen(invitation, store, people, enter),
    };
    makeGroupDialog(people, async (group) => go((await groups.create(group)).id));
  }

  focusDetails({ isClosed }) {
    this.#details.focus({ isClosed });
  }

  show() {
    this.#details.show();
  }
}
