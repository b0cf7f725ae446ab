// A host's page in TypeScript: all that chat_aio/browser offers, as its types say. It is checked, and
// never run.

import { Chat, ChatError, ChatStream, newClientMessageId } from "chat-aio";
import type { ChatEvent, ChatOptions, Conversation, Message, Participant, Reactions } from "chat-aio";
import { ChatStore } from "chat-aio/store";
import type { Entry, ShownConversation, ShownTimeline } from "chat-aio/store";
import { ChatAio } from "chat-aio/element";

type Methods<Of> = Record<keyof Of, true>;

/** Each name once: tsc complains of one that is missing, and of one that is no more. */
export const named: {
  Chat: Methods<Chat>;
  conversations: Methods<Chat["conversations"]>;
  rooms: Methods<Chat["rooms"]>;
  inbox: Methods<Chat["inbox"]>;
  drafts: Methods<Chat["drafts"]>;
  notifications: Methods<Chat["notifications"]>;
  attachments: Methods<Chat["attachments"]>;
  moderation: Methods<Chat["moderation"]>;
  moderationTools: Methods<Chat["moderationTools"]>;
  ChatStore: Methods<ChatStore>;
} = {
  Chat: {
    getOrCreateConversation: true, listConversations: true, getConversation: true,
    sendMessage: true, listMessages: true, getMessage: true, listThread: true,
    searchMessages: true, signedOut: true, markRead: true, editMessage: true, deleteMessage: true,
    forwardMessage: true, addReaction: true, removeReaction: true, stream: true,
    createGroupConversation: true, updateConversation: true, addParticipants: true,
    removeParticipant: true, setParticipantRole: true, setParticipants: true, createInvite: true,
    listInvites: true,
    revokeInvite: true, getInvitePreview: true, acceptInvite: true, requestToJoin: true,
    listJoinRequests: true, resolveJoinRequest: true, listPublicConversations: true,
    joinConversation: true, findUsers: true, sendTyping: true, getPresence: true,
    listHeldMessages: true, releaseHeldMessage: true, discardHeldMessage: true, rooms: true,
    conversations: true, inbox: true, drafts: true, notifications: true, attachments: true, moderation: true,
    moderationTools: true,
  },
  conversations: {
    deleteConversation: true,
  },
  rooms: {
    banFromConversation: true, unbanFromConversation: true, listConversationBans: true,
    pinMessage: true, unpinMessage: true, listPins: true,
  },
  inbox: {
    listMentions: true, markUnread: true, listThreads: true, followThread: true,
    unfollowThread: true, markThreadRead: true, changeView: true, countUnread: true,
  },
  drafts: {
    list: true, begin: true, append: true, finish: true, stop: true, cancel: true,
  },
  notifications: {
    getSettings: true, setQuietHours: true, getLevel: true, setLevel: true,
    enablePush: true, disablePush: true,
    listDevices: true, registerDevice: true, removeDevice: true,
  },
  attachments: {
    upload: true, get: true, getThumbnail: true, url: true, needsHeaders: true,
  },
  moderation: {
    blockUser: true, unblockUser: true, listBlockedUsers: true, muteConversation: true,
    unmuteConversation: true, listMutedConversations: true, report: true, listReports: true,
    getReport: true, updateReport: true, listBans: true, banUser: true, unbanUser: true,
  },
  moderationTools: {
    findMessages: true, lookAtMessage: true, listVersions: true, removeMessage: true,
    restoreMessage: true, removeMessages: true, getStanding: true, findReports: true,
    listReportGroups: true, resolveReports: true,
  },
  ChatStore: {
    subscribe: true, state: true, conversations: true, conversation: true, timeline: true,
    user: true, userId: true, start: true, close: true, open: true, openDirect: true,
    send: true, retry: true, discard: true, edit: true, delete: true, react: true,
    markRead: true, setViewing: true, typed: true, loadOlder: true, loadMore: true,
    reconnect: true, thread: true, openThread: true, closeThread: true, loadOlderReplies: true,
    setThreadReading: true, changeView: true, markUnread: true,
  },
};

type Exactly<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
const isTyped = <T extends true>(_: T) => {};

const options: ChatOptions = {
  token: async () => "token",
  headers: { "X-CSRF": "token" },
  query: () => ({ tenant: "shop" }),
  credentials: "include",
  onError: ({ code, status, retryAfter, isTemporary }: ChatError) => {
    isTyped<Exactly<typeof status, number>>(true);
    console.log(code, retryAfter, isTemporary);
  },
};
const chat = new Chat("/api/chat", options);

export async function ask(): Promise<Message> {
  const page = await chat.listConversations({ include: ["lastMessage", "unread", "users"] });
  const [conversation] = page.conversations;
  isTyped<Exactly<typeof conversation.unreadCount, number>>(true);
  isTyped<Exactly<typeof page.nextCursor, string | null>>(true);
  const names = Object.values(page.users ?? {}).map((each) => each.name);
  const { messages, previousCursor } = await chat.listMessages(conversation.id, { after: "id" });
  isTyped<Exactly<typeof messages, Message[]>>(true);
  const clientMessageId = newClientMessageId();
  const sent = await chat.sendMessage(conversation.id, { body: "Hello", clientMessageId });
  isTyped<Exactly<typeof sent, Message>>(true);
  // @ts-expect-error A message has a text.
  await chat.sendMessage(conversation.id, {});
  // @ts-expect-error Ids are texts.
  await chat.getConversation(5);
  const { level } = await chat.notifications.getLevel(conversation.id);
  isTyped<Exactly<typeof level, "all" | "mentions" | "none">>(true);
  const found = await chat.moderationTools.findMessages({ userId: "ann", contains: "casino" });
  isTyped<Exactly<typeof found.messages, Message[]>>(true);
  const file = await chat.attachments.upload(conversation.id, new Blob(["text"]), {
    onProgress: (sent) => sent.toFixed(2),
  });
  console.log(names, previousCursor, file.hasThumbnail, reactionsOf(sent));
  return sent;
}

function reactionsOf({ reactions }: Message): Reactions[] {
  return reactions;
}

/** Events are told apart by their type. */
export function told(event: ChatEvent): string {
  switch (event.type) {
    case "message.created":
      isTyped<Exactly<typeof event.message, Message>>(true);
      return event.message.body;
    case "reaction.added":
      return `${event.actorId}: ${event.emoji}`;
    case "participant.added":
      isTyped<Exactly<typeof event.conversation, Conversation>>(true);
      isTyped<Exactly<typeof event.conversation.participants, Participant[]>>(true);
      return event.affectedUserIds.join();
    case "read.updated":
      return String(event.unreadCount);
    case "typing.started":
      return event.senderId;
    // @ts-expect-error There is no such event.
    case "message.exploded":
      return "";
    default:
      return event.type;
  }
}

const stream: ChatStream = chat.stream({ onEvent: told, types: ["poll.opened"] });
stream.close();

const store = new ChatStore(chat, { userId: "ann", onMessage: (message) => message.body });

/** As `useSyncExternalStore(store.subscribe, store.conversations)` takes them. */
export function used<T>(subscribe: (changed: () => void) => () => void, snapshot: () => T): T {
  subscribe(() => {});
  return snapshot();
}

export function shown(): string[] {
  const conversations = used(store.subscribe, store.conversations);
  isTyped<Exactly<typeof conversations, readonly ShownConversation[]>>(true);
  const timeline: ShownTimeline = used(store.subscribe, () => store.timeline("id"));
  // @ts-expect-error Nobody changes what is shown.
  timeline.messages.push(timeline.messages[0]);
  return timeline.messages.map(wordsOf);
}

function wordsOf(entry: Entry): string {
  if (entry.state !== "sent") return `${entry.body}: ${entry.problem ?? "on its way"}`;
  isTyped<Exactly<typeof entry.seq, number>>(true);
  return `${store.user(entry.senderId).name}: ${entry.body}`;
}

export async function act(message: Message): Promise<void> {
  store.start();
  await store.open("id");
  const key: string = store.send("id", { body: "Yes", replyTo: message });
  store.retry(key);
  await store.react(message, "👍");
  await store.edit(message.id, "No");
  store.setViewing(true);
  store.close();
}

export function inPage(element: ChatAio): number {
  element.token = async () => "token";
  element.chat = chat;
  element.addEventListener("chat-aio:unread", (event) => (event as CustomEvent).detail.total);
  return element.store?.state().unread ?? 0;
}
