/** The directory of public channels. */

import { avatar, element, Rows, setAttribute, setAvatar, setText } from "../../../browser/dom.js";
import { joinProblemOf, problemOf } from "../problems.js";
import { say } from "../words.js";
import { AskDialog } from "./group-dialogs.js";
import { countOf, nameOf } from "./group-words.js";
import { ListFoot, smallButton } from "./section.js";

const WORDS = { failed: say("channels.failed"), empty: say("channels.empty") };
const POLICIES = { open: say("channels.open"), approval: say("channels.approval") };

export class ChannelDirectory {
  #screen = document.querySelector("#channels");
  #problem = this.#screen.querySelector(".problem");
  #foot;
  #rows;
  #asking;
  #directory;
  #store;
  #people;
  #needs;
  #joining = new Set();

  /** `needs.go(conversationId)` opens a conversation, `needs.hrefOf(id)` is its address. */
  constructor(directory, store, people, needs) {
    this.#directory = directory;
    this.#store = store;
    this.#people = people;
    this.#needs = needs;
    const ask = (channel, message) => this.#ask(channel, message);
    this.#asking = new AskDialog(ask, () => this.#keepFocus());
    this.#rows = new Rows(this.#screen.querySelector("ul"), {
      join: (channel) => this.#join(channel),
      ask: (channel) => this.#asking.open(channel, nameOf(channel)),
    });
    this.#foot = new ListFoot(() => directory.channels.more());
    this.#screen.querySelector(".screen-body").append(this.#foot.node);
    this.#screen.querySelector(".refresh").addEventListener("click", () => this.open());
  }

  open() {
    setText(this.#problem, "");
    this.#directory.channels.reload();
  }

  focus() {
    this.#screen.querySelector("h1").focus();
  }

  show() {
    if (this.#store.elsewhere !== "channels") return;
    const { channels } = this.#directory;
    this.#rows.show(channels.items.map((channel) => this.#rowOf(channel)));
    this.#foot.show(channels, WORDS);
  }

  #rowOf(channel) {
    const id = channel.conversationId;
    const picture = this.#people.pictureOfGroup(id, nameOf(channel));
    const known = this.#directory.stateOf(channel);
    return {
      key: id,
      Row: ChannelRow,
      state: { channel, known, href: this.#needs.hrefOf(id), ...picture },
    };
  }

  /** The button that was pressed is gone. */
  #keepFocus() {
    if (document.activeElement === document.body) this.focus();
  }

  async #join(channel) {
    const { conversationId: id } = channel;
    if (this.#joining.has(id)) return;
    this.#joining.add(id);
    setText(this.#problem, "");
    try {
      await this.#ask(channel);
    } catch (error) {
      setText(this.#problem, problemOf(error));
    } finally {
      this.#joining.delete(id);
    }
  }

  /** How it is joined may have changed since the list was shown: the answer has the new state. */
  async #ask(channel, message) {
    try {
      if (await this.#directory.join(channel, message)) this.#needs.go(channel.conversationId);
    } catch (error) {
      throw new Error(joinProblemOf(error));
    }
  }
}

class ChannelRow {
  #avatar = avatar();
  #title = element("span", { class: "row-title", dir: "auto" });
  #about = element("span", { class: "row-preview" });
  #open = element("a", { class: "quiet small" }, say("channels.go"));
  #join;
  #ask;
  #waiting = element("span", { class: "role" }, say("channels.requested"));
  #channel = null;

  constructor({ join, ask }) {
    const fields = { class: "primary small" };
    this.#join = smallButton(say("join.now"), () => join(this.#channel), fields);
    this.#ask = smallButton(say("join.ask"), () => ask(this.#channel));
    const lines = element("span", {}, this.#title, this.#about);
    const actions = [this.#open, this.#join, this.#ask, this.#waiting];
    this.node = element("li", { class: "channel" }, this.#avatar, lines, ...actions);
  }

  show({ channel, known, href, ...picture }) {
    this.#channel = channel;
    const { participantCount, joinPolicy } = channel;
    const name = nameOf(channel);
    setAvatar(this.#avatar, picture);
    setText(this.#title, name);
    setText(this.#about, `${countOf(participantCount)} · ${POLICIES[joinPolicy]}`);
    setAttribute(this.#open, "href", href);
    this.#open.hidden = known !== "in";
    this.#waiting.hidden = known !== "waiting";
    this.#join.hidden = known !== "out" || joinPolicy !== "open";
    this.#ask.hidden = known !== "out" || joinPolicy === "open";
    setAttribute(this.#open, "aria-label", say("channels.goNamed", { name }));
    setAttribute(this.#join, "aria-label", say("join.nowNamed", { name }));
    setAttribute(this.#ask, "aria-label", say("join.askNamed", { name }));
  }
}
