/** The views of groups: the dialog for a new one, details, channels, an invite link. */

import { GroupAccess } from "../group-access.js";
import { Directory } from "../directory.js";
import { Invitation } from "../invitation.js";
import { ChannelDirectory } from "./channels.js";
import { DetailsPanel } from "./details.js";
import { makeGroupDialog } from "./group-dialogs.js";
import { InviteScreen } from "./invite.js";

export class GroupViews {
  #details;
  #directory;
  #invitation;
  /** The separate screens, by name: `open(code)`, `focus()` and `show()`. */
  screens;

  /**
   * `needs.groups` and `needs.boundaries` make changes, `needs.reporting` is the dialog,
   * `needs.presence` has the online users, `needs.waiting` the join requests,
   * `needs.hrefOf(conversationId, part?)` returns an address,
   * `needs.go(conversationId)` opens a conversation, `needs.goToMessage(message)` a message,
   * `needs.enter(conversationId)` opens a conversation in place of the screen.
   */
  constructor(chat, store, people, needs) {
    const { groups, boundaries, reporting, presence, waiting } = needs;
    const { go, goToMessage, enter, hrefOf } = needs;
    const admissionTo = (id) => new GroupAccess(chat, store, id);
    const directory = new Directory(chat, store, groups);
    const invitation = new Invitation(chat, store, groups);
    const shared = { groups, boundaries, reporting, presence, waiting, goToMessage };
    this.#directory = directory;
    this.#invitation = invitation;
    this.#details = new DetailsPanel(store, people, { ...shared, hrefOf, admissionTo });
    this.screens = {
      channels: new ChannelDirectory(directory, store, people, { go, hrefOf }),
      invite: new InviteScreen(invitation, store, people, enter),
    };
    makeGroupDialog(people, async (group) => go((await groups.create(group)).id));
  }

  focusDetails({ isClosed }) {
    this.#details.focus({ isClosed });
  }

  /** After an event of a join request. */
  receiveJoinRequest(event) {
    for (const view of [this.#details, this.#directory, this.#invitation]) view.receive(event);
  }

  /** A user is banned from a group, or the ban is lifted. */
  receiveBan(event) {
    this.#details.receive(event);
  }

  show() {
    this.#details.show();
  }
}
