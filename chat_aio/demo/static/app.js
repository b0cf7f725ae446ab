/**
 * The page: who one is and which conversation is open stand in the address (#ada, #ada/<id>);
 * what happens there is handed to the session, and what the session knows is shown by the views.
 */

import { Chat } from "./chat.js";
import { Session } from "./session.js";
import { Store } from "./store.js";
import { People } from "./people.js";
import { Composer } from "./views/composer.js";
import { ConversationList } from "./views/conversations.js";
import { makeDirectDialog, makeGroupDialog } from "./views/dialogs.js";
import { Frame } from "./views/frame.js";
import { TimelineView } from "./views/timeline.js";
import { showWelcome } from "./views/welcome.js";

/** The demo has no passwords: each request says who is asking. */
function chatAs(userId) {
  const prepareUrl = (url) => {
    url.searchParams.set("as", userId);
    return url;
  };
  return new Chat({ baseUrl: "/api/chat", prepareUrl });
}

function placeFromAddress() {
  const [userId, conversationId] = location.hash.slice(1).split("/").map(decoded);
  return { userId, conversationId: conversationId || null };
}

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function addressOf(userId, conversationId) {
  return `#${encodeURIComponent(userId)}/${encodeURIComponent(conversationId)}`;
}

class Page {
  #store;
  #session;
  #frame;
  #list;
  #timeline;
  #composer;
  #people;

  constructor(people) {
    this.#people = people;
    const store = new Store(people.userId);
    this.#store = store;
    this.#session = new Session(chatAs(people.userId), store, { onGone: () => this.#gone() });
    this.#frame = new Frame(store, people);
    this.#list = this.#makeList();
    this.#timeline = this.#makeTimeline();
    this.#composer = new Composer((id, body) => this.#send(id, body));
    makeDirectDialog(people, async (userId) => this.#go(await this.#session.openDirect(userId)));
    makeGroupDialog(people, async (group) => this.#go(await this.#session.createGroup(group)));
    store.subscribe(() => this.#show());
  }

  start() {
    document.addEventListener("visibilitychange", () => this.#store.changed());
    addEventListener("online", () => this.#session.reconnect());
    this.#session.start();
    this.#store.changed();
  }

  /** Open the conversation of the address; back in the list, the focus is where it was. */
  async goTo(conversationId) {
    const left = this.#store.openId;
    if (conversationId !== null) this.#frame.notify("");
    const isOpen = this.#session.open(conversationId);
    await Promise.resolve();
    if (conversationId === null) this.#list.focus(left);
    else this.#composer.focus();
    await isOpen;
  }

  #makeList() {
    return new ConversationList(this.#store, this.#people, {
      hrefOf: (id) => addressOf(this.#people.userId, id),
      preview: (id) => this.#session.loadPreview(id),
      more: () => this.#session.loadMoreConversations(),
    });
  }

  #makeTimeline() {
    const session = this.#session;
    return new TimelineView(this.#store, this.#people, {
      older: () => session.loadOlder(this.#store.openId),
      again: () => session.loadAgain(this.#store.openId),
      moved: () => this.#store.changed(),
      retry: (key) => session.sender.retry(key),
      discard: (key) => session.sender.discard(key),
    });
  }

  #send(conversationId, body) {
    this.#store.timeline(conversationId).firstUnreadId = null;
    this.#session.sender.send(conversationId, body);
  }

  #go({ id }) {
    location.hash = addressOf(this.#people.userId, id);
  }

  #gone() {
    location.hash = `#${this.#people.userId}`;
    this.#frame.notify("That conversation is not open to you.");
  }

  #show() {
    const { open } = this.#store;
    this.#frame.show();
    this.#list.show();
    this.#timeline.show();
    this.#composer.show(open?.id ?? null, open ? this.#people.titleOf(open) : "");
    const isReading = document.visibilityState === "visible" && this.#timeline.isAtEnd;
    if (isReading !== this.#store.isReading) this.#store.set({ isReading });
    if (isReading) this.#session.read();
  }
}

async function main() {
  const answer = await fetch("/people");
  const { userId, conversationId } = placeFromAddress();
  const people = new People(await answer.json(), userId);
  const isKnown = people.all.some((each) => each.id === userId);
  if (isKnown) {
    const page = new Page(people);
    page.start();
    page.goTo(conversationId);
    addEventListener("hashchange", () => {
      const place = placeFromAddress();
      // Another person is another page: nothing of the one before can be left over.
      if (place.userId === userId) page.goTo(place.conversationId);
      else location.reload();
    });
  } else {
    showWelcome(people);
    addEventListener("hashchange", () => location.reload());
  }
}

main();
