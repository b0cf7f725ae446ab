/** The chat of one user in the page. */

import { Chat } from "../../browser/chat.js";
import "../../browser/element.js";
import { FirstSteps } from "./first-steps.js";

/** The demo has no passwords: each request names its user. */
export function showChat(texts, people, me) {
  const chat = document.querySelector("chat-aio");
  const query = { as: me.id };
  chat.people = people;
  chat.chat = new Chat("/api/chat", { query, onError: (error) => chat.refused(error) });
  const titled = { title: "", unread: 0 };
  const entitle = (fields) => {
    Object.assign(titled, fields);
    document.title = titleOf(texts, me, titled);
  };
  chat.addEventListener("chat-aio:title", ({ detail }) => entitle(detail));
  chat.addEventListener("chat-aio:unread", ({ detail }) => entitle({ unread: detail.total }));
  chat.addEventListener("chat-aio:banned", () => {
    document.title = texts.say("banned.window", { name: me.name });
  });
  chat.setAttribute("address", me.id);
  chat.setAttribute("user", me.id);
  const other = people.find((person) => person.id !== me.id && !person.bot);
  const steps = other ? new FirstSteps(chat, texts, me, other) : null;
  chat.store.subscribe(() => steps?.show(chat.store.conversations()));
  chat.hidden = false;
}

function titleOf(texts, { name }, { title, unread }) {
  const words = [...(title ? [title] : []), name].join(" · ");
  return unread > 0 ? `(${texts.numberOf(unread)}) ${words}` : words;
}
