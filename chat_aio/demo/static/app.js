/** The page: a choice of a user, and the chat of the one that the address names. */

import { Chat } from "../../browser/chat.js";
import "../../browser/element.js";
import { keepPage } from "../../browser/file-drops.js";
import { partsOfAddress } from "../../browser/places.js";
import { FirstSteps } from "./first-steps.js";
import { showLanguages, texts, translatePage } from "./language.js";
import { showWelcome } from "./welcome.js";

async function main() {
  translatePage();
  showLanguages();
  keepPage();
  const answer = await fetch("/people");
  const people = await answer.json();
  const { name: userId } = partsOfAddress();
  const me = people.find((person) => person.id === userId);
  if (me) showChat(people, me);
  else showWelcome(people);
  addEventListener("hashchange", () => {
    // Another person is another page: nothing of the one before can be left over.
    if (!me || partsOfAddress().name !== userId) location.reload();
  });
}

/** The demo has no passwords: each request names its user. */
function showChat(people, me) {
  const chat = document.querySelector("chat-aio");
  const query = { as: me.id };
  chat.people = people;
  chat.chat = new Chat("/api/chat", { query, onError: (error) => chat.refused(error) });
  const titled = { title: "", unread: 0 };
  const entitle = (fields) => {
    Object.assign(titled, fields);
    document.title = titleOf(me, titled);
  };
  chat.addEventListener("chat-aio:title", ({ detail }) => entitle(detail));
  chat.addEventListener("chat-aio:unread", ({ detail }) => entitle({ unread: detail.total }));
  chat.addEventListener("chat-aio:banned", () => {
    document.title = texts.say("banned.window", { name: me.name });
  });
  chat.setAttribute("address", me.id);
  chat.setAttribute("user", me.id);
  const other = people.find((person) => person.id !== me.id && !person.isBot);
  const steps = other ? new FirstSteps(chat, me, other) : null;
  chat.store.subscribe(() => steps?.show(chat.store.conversations()));
  chat.hidden = false;
}

function titleOf({ name }, { title, unread }) {
  const words = [...(title ? [title] : []), name].join(" · ");
  return unread > 0 ? `(${texts.numberOf(unread)}) ${words}` : words;
}

main();
