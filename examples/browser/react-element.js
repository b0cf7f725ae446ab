// The whole chat as a component: with a bundler, import { ChatElement } from "chat-aio/react".
import { createElement, StrictMode, useState } from "react";
import { ChatElement } from "/chat-aio/react.js";

const place = document.querySelector("#app");

function App() {
  const [unread, setUnread] = useState(0);
  const onUnread = ({ total }) => setUnread(total);
  const chat = createElement(ChatElement, { user: place.dataset.user, onUnread });
  return createElement("main", {}, createElement("h1", {}, `Messages (${unread})`), chat);
}

ReactDOM.createRoot(place).render(createElement(StrictMode, {}, createElement(App)));
