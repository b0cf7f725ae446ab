// A chat with React, over the store. With a bundler the imports are
//
//   import { createElement, memo, useEffect, useState, useSyncExternalStore } from "react";
//   import { createRoot } from "react-dom/client";
//   import { Chat } from "chat-aio";
//   import { ChatStore } from "chat-aio/store";
//
// and use JSX in place of createElement.
import { Chat } from "/chat-aio/chat.js";
import { ChatStore } from "/chat-aio/chat-store.js";

const { createElement, memo, useEffect, useState, useSyncExternalStore } = React;

/** A component's part of the store: it renders again only if that is another object. */
function useChat(store, select) {
  return useSyncExternalStore(store.subscribe, () => select(store));
}

function Conversations({ store }) {
  const conversations = useChat(store, (chatStore) => chatStore.conversations());
  const { openId } = useChat(store, (chatStore) => chatStore.state());
  const rows = conversations.map(({ id, name, others, unread }) => {
    const title = name ?? others.map((other) => other.name).join(", ");
    const isOpen = id === openId ? "true" : undefined;
    const onClick = () => store.open(id);
    const about = { type: "button", onClick, "aria-current": isOpen };
    const button = createElement("button", about, `${title} (${unread})`);
    return createElement("li", { key: id }, button);
  });
  return createElement("ul", { "aria-label": "Conversations" }, rows);
}

/** Most messages stay as they are when another one comes. */
const Message = memo(function Message({ entry, author, store }) {
  const note = { pending: " …", failed: " (not sent)", sent: "" }[entry.state];
  const react = { type: "button", onClick: () => store.react(entry, "👍"), "aria-label": "Like" };
  const likes = entry.reactions?.find((reaction) => reaction.emoji === "👍")?.count ?? 0;
  const button = entry.state === "sent" && createElement("button", react, `👍 ${likes}`);
  return createElement("li", {}, `${author}: ${entry.body}${note} `, button);
});

function Timeline({ store, id }) {
  const { messages, hasOlder, typing } = useChat(store, (chatStore) => chatStore.timeline(id));
  useEffect(() => store.setViewing(true), [store, id]);
  const rows = messages.map((entry) => {
    const author = store.user(entry.senderId).name;
    return createElement(Message, { key: entry.key, entry, author, store });
  });
  const older = { type: "button", onClick: () => store.loadOlder(id) };
  return createElement(
    "section",
    {},
    hasOlder && createElement("button", older, "Older messages"),
    createElement("ul", { role: "log", "aria-label": "Messages" }, rows),
    createElement("p", { role: "status" }, typing.map((user) => `${user.name} …`)),
    createElement(Composer, { store, id }),
  );
}

function Composer({ store, id }) {
  const [body, setBody] = useState("");
  const onChange = ({ target }) => {
    setBody(target.value);
    store.typed(id, target.value);
  };
  const onSubmit = (event) => {
    event.preventDefault();
    if (body.trim() !== "") store.send(id, body);
    setBody("");
  };
  const field = { value: body, onChange, "aria-label": "Message" };
  return createElement(
    "form",
    { onSubmit },
    createElement("input", field),
    createElement("button", {}, "Send"),
  );
}

function App({ store }) {
  const { openId, unread, status } = useChat(store, (chatStore) => chatStore.state());
  useEffect(() => {
    store.start();
    return () => store.close();
  }, [store]);
  return createElement(
    "main",
    {},
    createElement("h1", {}, `Messages (${unread})`),
    status === "reconnecting" && createElement("p", {}, "No connection. Trying again…"),
    createElement(Conversations, { store }),
    openId !== null && createElement(Timeline, { store, id: openId, key: openId }),
  );
}

const place = document.querySelector("#app");
const store = new ChatStore(new Chat("/api/chat"), { userId: place.dataset.user });
const strict = createElement(React.StrictMode, {}, createElement(App, { store }));
ReactDOM.createRoot(place).render(strict);
