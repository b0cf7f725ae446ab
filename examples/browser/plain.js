// The page around the element: it listens to events and opens conversations.
const chat = document.querySelector("chat-aio");

chat.addEventListener("chat-aio:unread", ({ detail }) => {
  document.querySelector("#unread").value = detail.total;
});

document.querySelector("#ask").addEventListener("click", () => chat.openDirect("grace"));
