/** The directory of public channels. */

import { avatar, element, Rows, setAttribute, setAvatar, setText } from "../dom.js";
import { joinProblemOf } from "../problems.js";
import { later } from "../tasks.js";
import { AskDialog } from "./group-dialogs.js";
import { countOf, nameOf } from "./group-words.js";
import { icon } from "./icons.js";
import { Part } from "./part.js";
import { Screen } from "./screen.js";
import { ListFoot, smallButton } from "./section.js";

const PAUSE_MS = 250;

const wordsIn = (texts, isSearched) => ({
  failed: texts.say("channels.failed"),
  empty: isSearched ? texts.say("channels.notFound") : texts.say("channels.empty"),
});
const policiesIn = (texts) => ({ open: texts.say("channels.open"), approval: texts.say("channels.approval") });

export class ChannelDirectory extends Part {
  #screen = new Screen(this.shell, "channels", {
    ...{ title: this.say("channels.title"), refresh: () => this.open() },
  });
  node = this.#screen.node;
  #query = element("input", {
    ...{ type: "search", dir: "auto", maxlength: 256, autocomplete: "off", enterkeyhint: "search" },
    ...{ "aria-label": this.say("channels.search"), placeholder: this.say("channels.search") },
  });
  #pause = later(PAUSE_MS);
  #list = element("ul", { role: "list" });
  #foot;
  #rows;
  #asking;
  #directory;
  #joining = new Set();

  constructor(shell, directory) {
    super(shell);
    this.#directory = directory;
    const ask = (channel, message) => this.#ask(channel, message);
    this.#asking = new AskDialog(this.shell, ask, () => this.#keepFocus());
    this.#rows = new Rows(this.#list, { shell: this.shell, join: (channel) => this.#join(channel),
      ask: (channel) => this.#asking.open(channel, nameOf(this.texts, channel)),
    });
    this.#foot = new ListFoot(this.shell, () => directory.channels.more());
    this.#query.addEventListener("input", () => this.#pause(() => this.open()));
    const box = element("div", { class: "search-box", role: "search" }, icon("search"), this.#query);
    this.#screen.append(box, this.#list, this.#foot.node);
  }

  open() {
    this.#screen.complain("");
    this.#directory.search(this.#query.value);
  }

  focus() {
    this.#screen.focus();
  }

  show() {
    if (this.store.elsewhere !== "channels") return;
    const { channels } = this.#directory;
    this.#rows.show(channels.items.map((channel) => this.#rowOf(channel)));
    this.#foot.show(channels, wordsIn(this.texts, this.#query.value.trim() !== ""));
  }

  #rowOf(channel) {
    const id = channel.conversationId;
    const picture = this.people.pictureOfGroup(id, nameOf(this.texts, channel));
    const known = this.#directory.stateOf(channel);
    return {
      key: id,
      Row: ChannelRow,
      state: { channel, known, href: this.shell.places.hrefOf(id), ...picture },
    };
  }

  /** The button that was pressed is gone. */
  #keepFocus() {
    if (this.shell.isFocusLost) this.focus();
  }

  async #join(channel) {
    const { conversationId: id } = channel;
    if (this.#joining.has(id)) return;
    this.#joining.add(id);
    this.#screen.complain("");
    try {
      await this.#ask(channel);
    } catch (error) {
      this.#screen.complain(this.texts.problemOf(error));
    } finally {
      this.#joining.delete(id);
    }
  }

  /** How it is joined may have changed since the list was shown: the answer has the new state. */
  async #ask(channel, message) {
    try {
      if (await this.#directory.join(channel, message)) this.shell.places.go(channel.conversationId);
    } catch (error) {
      throw new Error(joinProblemOf(this.texts, error));
    }
  }
}

class ChannelRow extends Part {
  #avatar = avatar();
  #title = element("span", { class: "row-title", dir: "auto" });
  #topic = element("span", { class: "row-preview", dir: "auto" });
  #about = element("span", { class: "row-preview" });
  #open = element("a", { class: "quiet small" }, this.say("channels.go"));
  #join;
  #ask;
  #waiting = element("span", { class: "role" }, this.say("channels.requested"));
  #channel = null;

  constructor({ shell, join, ask }) {
    super(shell);
    const fields = { class: "primary small" };
    this.#join = smallButton(this.say("join.now"), () => join(this.#channel), fields);
    this.#ask = smallButton(this.say("join.ask"), () => ask(this.#channel));
    const lines = element("span", {}, this.#title, this.#topic, this.#about);
    const actions = [this.#open, this.#join, this.#ask, this.#waiting];
    this.node = element("li", { class: "channel" }, this.#avatar, lines, ...actions);
  }

  show({ channel, known, href, ...picture }) {
    this.#channel = channel;
    const { participantCount, joinPolicy, topic = "" } = channel;
    const name = nameOf(this.texts, channel);
    setAvatar(this.#avatar, picture);
    setText(this.#title, name);
    setText(this.#topic, topic);
    this.#topic.hidden = topic === "";
    setText(this.#about, `${countOf(this.texts, participantCount)} · ${policiesIn(this.texts)[joinPolicy]}`);
    setAttribute(this.#open, "href", href);
    this.#open.hidden = known !== "in";
    this.#waiting.hidden = known !== "waiting";
    this.#join.hidden = known !== "out" || joinPolicy !== "open";
    this.#ask.hidden = known !== "out" || joinPolicy === "open";
    setAttribute(this.#open, "aria-label", this.say("channels.goNamed", { name }));
    setAttribute(this.#join, "aria-label", this.say("join.nowNamed", { name }));
    setAttribute(this.#ask, "aria-label", this.say("join.askNamed", { name }));
  }
}
