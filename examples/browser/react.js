// A chat with React, over the store. With a bundler the imports are
//
//   import { Chat } from "chat-aio";
//   import { ChatStore } from "chat-aio/store";
//   import { ChatProvider, useChatStore, useTimeline } from "chat-aio/react";
//
// and use JSX in place of createElement. Without one, the page's import map names React.
import { createElement, memo, StrictMode, useState } from "react";
import { Chat } from "/chat-aio/chat.js";
import { ChatStore } from "/chat-aio/chat-store.js";
import {
  ChatProvider,
  useChatState,
  useChatStore,
  useConversations,
  useTimeline,
  useViewing,
} from "/chat-aio/react.js";

function Conversations() {
  const store = useChatStore();
  const { openId } = useChatState();
  const rows = useConversations().map(({ id, name, others, unread }) => {
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
const Message = memo(function Message({ entry, author }) {
  const store = useChatStore();
  const note = { pending: " …", failed: " (not sent)", sent: "" }[entry.state];
  const react = { type: "button", onClick: () => store.react(entry, "👍"), "aria-label": "Like" };
  const likes = entry.reactions?.find((reaction) => reaction.emoji === "👍")?.count ?? 0;
  const button = entry.state === "sent" && createElement("button", react, `👍 ${likes}`);
  return createElement("li", {}, `${author}: ${entry.body}${note} `, button);
});

function Timeline({ id }) {
  const store = useChatStore();
  const { messages, hasOlder, typing } = useTimeline(id);
  useViewing(true);
  const rows = messages.map((entry) => {
    const author = store.user(entry.senderId).name;
    return createElement(Message, { key: entry.key, entry, author });
  });
  const older = { type: "button", onClick: () => store.loadOlder(id) };
  return createElement(
    "section",
    {},
    hasOlder && createElement("button", older, "Older messages"),
    createElement("ul", { role: "log", "aria-label": "Messages" }, rows),
    createElement("p", { role: "status" }, typing.map((user) => `${user.name} …`)),
    createElement(Composer, { id }),
  );
}

function Composer({ id }) {
  const store = useChatStore();
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

function App() {
  const { openId, unread, status } = useChatState();
  return createElement(
    "main",
    {},
    createElement("h1", {}, `Messages (${unread})`),
    status === "reconnecting" && createElement("p", {}, "No connection. Trying again…"),
    createElement(Conversations),
    openId !== null && createElement(Timeline, { id: openId, key: openId }),
  );
}

const place = document.querySelector("#app");
const store = new ChatStore(new Chat("/api/chat"), { userId: place.dataset.user });
const app = createElement(ChatProvider, { store }, createElement(App));
ReactDOM.createRoot(place).render(createElement(StrictMode, {}, app));
