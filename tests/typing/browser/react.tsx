// A host's components in TypeScript: all that chat-aio/react offers. They are checked, and never run.

import { useRef } from "react";
import { Chat } from "chat-aio";
import type { ChatAio } from "chat-aio/element";
import {
  ChatElement,
  ChatProvider,
  useChat,
  useChatState,
  useChatStore,
  useConversation,
  useConversations,
  useThread,
  useTimeline,
  useUser,
  useViewing,
} from "chat-aio/react";
import { ChatStore } from "chat-aio/store";

const store = new ChatStore(new Chat("/api/chat"), { userId: "ann" });

function Messages({ id }: { id: string }) {
  const { messages, typing } = useTimeline(id);
  const { unread, openId } = useChatState();
  const conversation = useConversation(id);
  const count: number = useChat((chat) => chat.conversations().length);
  const names: string[] = useConversations().map(({ id: conversationId }) => conversationId);
  const { name } = useUser("grace");
  const thread = useThread();
  const chatStore = useChatStore();
  useViewing(openId === id);
  // @ts-expect-error An id is a string.
  useTimeline(7);
  return (
    <ul aria-label={conversation?.name ?? name} onClick={() => chatStore.send(id, `${count + unread}`)}>
      {messages.map(({ key, body }) => <li key={key}>{body}</li>)}
      {[...names, ...typing.map((user) => user.name), thread?.rootId].join()}
    </ul>
  );
}

export function App() {
  const element = useRef<ChatAio>(null);
  return (
    <ChatProvider store={store}>
      <Messages id="c" />
      <ChatElement
        ref={element}
        user="ann"
        view="full"
        features="files search"
        token={async () => "token"}
        onUnread={({ total }) => total.toFixed()}
        onMessage={({ message }) => element.current?.open(message.conversationId)}
      />
      {/* @ts-expect-error There is no such view. */}
      <ChatElement user="ann" view="half" />
    </ChatProvider>
  );
}
