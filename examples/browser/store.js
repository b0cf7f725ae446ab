// A custom page over the store: it renders the store's snapshots and calls its actions.
import { Chat } from "/chat-aio/chat.js";
import { ChatStore } from "/chat-aio/chat-store.js";

const store = new ChatStore(new Chat("/api/chat"), { userId: document.body.dataset.user });
const [log, form] = ["#log", "form"].map((selector) => document.querySelector(selector));

const NOTES = {
  ...{ pending: " (on its way)", waiting: " (waits for the connection)" },
  ...{ held: " (waits for a moderator)", failed: " (not sent)", sent: "" },
};

function lineOf(entry) {
  const { name } = store.user(entry.senderId);
  const textContent = `${name}: ${entry.deletedAt ? "…" : entry.body}${NOTES[entry.state]}`;
  const line = Object.assign(document.createElement("li"), { textContent });
  const retry = () => store.retry(entry.clientMessageId);
  if (entry.state === "failed") line.append(buttonOf("Retry", retry));
  return line;
}

function buttonOf(textContent, onclick) {
  return Object.assign(document.createElement("button"), { type: "button", textContent, onclick });
}

let shown = null;

function show() {
  const { openId, unread } = store.state();
  document.querySelector("#unread").value = unread;
  if (openId === null) return;
  const timeline = store.timeline(openId);
  // The same object as long as nothing in it has changed.
  if (timeline === shown) return;
  shown = timeline;
  log.replaceChildren(...timeline.messages.map(lineOf));
  const names = timeline.typing.map((user) => user.name);
  document.querySelector("#typing").textContent = names.map((name) => `${name} …`).join(" ");
  store.setViewing(document.visibilityState === "visible");
}

store.subscribe(show);
store.start();
document.addEventListener("visibilitychange", () => {
  store.setViewing(document.visibilityState === "visible");
});

// Typing before the conversation is open waits for it.
const opened = store.openDirect("grace");
form.addEventListener("input", async () => store.typed(await opened, form.body.value));
form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const body = form.body.value;
  form.reset();
  store.send(await opened, body);
});
