/** Changes of a conversation that only the user sees: for its menu and its details. */

import { Part } from "./part.js";

export class OwnActs extends Part {
  #session;

  constructor(shell, session) {
    super(shell);
    this.#session = session;
  }

  /** A list of {name, label, act}; `act()` resolves when it is done. */
  of({ id, view }) {
    const { boundaries } = this.#session;
    const isMuted = this.store.mutedIds.has(id);
    const mute = {
      name: "muted",
      label: isMuted ? this.say("boundaries.unmute") : this.say("boundaries.mute"),
      act: () => (isMuted ? boundaries.unmute(id) : boundaries.mute(id)),
    };
    return view && this.store.hasViews ? [this.#favourite(id, view), this.#archive(id, view), mute] : [mute];
  }

  #favourite(id, { favourite }) {
    const label = favourite ? this.say("favourite.end") : this.say("favourite.begin");
    const act = () => this.#session.changeView(id, { favourite: !favourite });
    return { name: "favourite", label, act };
  }

  #archive(id, { archived }) {
    const label = archived ? this.say("archive.end") : this.say("archive.begin");
    const act = () => this.#session.changeView(id, { archived: !archived });
    return { name: "archived", label, act };
  }
}
