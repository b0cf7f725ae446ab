/** The views of groups: the dialog for a new one, details, channels, an invite link. */

import { Directory } from "../directory.js";
import { GroupAccess } from "../group-access.js";
import { Invitation } from "../invitation.js";
import { ChannelDirectory } from "./channels.js";
import { DetailsPanel } from "./details.js";
import { GroupDialog } from "./group-dialogs.js";
import { InviteScreen } from "./invite.js";
import { Part } from "./part.js";

export class GroupViews extends Part {
  /** Null where there are none. */
  details = null;
  /** The separate screens, by name: `open(code)`, `focus()` and `show()`. */
  screens = {};
  #receivers = [];
  #making;

  /**
   * `needs.groups` and `needs.boundaries` make changes, `needs.reporting`
   * loads the dialog, `needs.presence` has the online users.
   */
  constructor(shell, chat, needs) {
    super(shell);
    const { store } = shell;
    const { groups } = needs;
    if (shell.has("details")) {
      const admissionTo = (id) => new GroupAccess(chat, store, id);
      this.details = new DetailsPanel(shell, { ...needs, admissionTo });
      this.#receivers.push(this.details);
    }
    if (shell.has("channels")) this.#makeScreens(chat, groups);
    this.#making = new GroupDialog(shell, async (group) => {
      shell.places.go((await groups.create(group)).id);
    });
  }

  get panel() {
    return this.details?.node;
  }

  /** Begin a new one. */
  open() {
    this.#making.open();
  }

  /** After an event of a join request. */
  receiveJoinRequest(event) {
    for (const view of this.#receivers) view.receive(event);
  }

  /** A user is banned from a group, or the ban is lifted. */
  receiveBan(event) {
    this.details?.receive(event);
  }

  show() {
    this.details?.show();
  }

  #makeScreens(chat, groups) {
    const directory = new Directory(chat, this.store, groups);
    const invitation = new Invitation(chat, this.store, groups);
    this.#receivers.push(directory, invitation);
    this.screens = {
      channels: new ChannelDirectory(this.shell, directory),
      invite: new InviteScreen(this.shell, invitation),
    };
  }
}
