// The page around the element: what it hears, and how it opens a conversation.
const chat = document.querySelector("chat-aio");

chat.addEventListener("chat-aio:unread", ({ detail }) => {
  document.querySelector("#unread").value = detail.total;
});

document.querySelector("#ask").addEventListener("click", () => chat.openDirect("grace"));
