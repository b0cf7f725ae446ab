export class ChatStore {
    /** @param {Chat} chat @param {ChatStoreOptions} options */
    constructor(chat: Chat, { userId, onMessage, onGone, ...more }: ChatStoreOptions);
    userId: string;
    /** Open the stream, and fetch the list; once until it is closed. */
    start(): void;
    /** End the stream; `start` opens it again. */
    close(): void;
    /** `listener` is called when something has changed, once for simultaneous changes; the returned
     * function ends that.
     * @type {(listener: () => void) => () => void} */
    subscribe: (listener: () => void) => () => void;
    /** @type {() => ChatState} */
    state: () => ChatState;
    /** Most recently active first.
     * @type {() => readonly ShownConversation[]} */
    conversations: () => readonly ShownConversation[];
    /** @type {(conversationId: string) => ShownConversation | null} */
    conversation: (conversationId: string) => ShownConversation | null;
    /** @type {(conversationId: string) => ShownTimeline} */
    timeline: (conversationId: string) => ShownTimeline;
    /** The thread that is open, or null.
     * @type {() => ShownThread | null} */
    thread: () => ShownThread | null;
    /** The known data of a user.
     * @type {(userId: string) => User} */
    user: (userId: string) => User;
    /** Make a conversation the open one (null: none), and fetch its messages. A thread of another
     * one is closed.
     * @param {string | null} conversationId @returns {Promise<void>} */
    open(conversationId: string | null): Promise<void>;
    /** Make a thread of the open conversation the open one, and fetch its replies.
     * @param {string} rootId  its root message @returns {Promise<void>} */
    openThread(rootId: string): Promise<void>;
    closeThread(): void;
    /** Open the direct conversation with someone, which may have to be created: a conversation opened
     * in the meantime stays open.
     * @param {string} otherUserId @returns {Promise<string>} its id */
    openDirect(otherUserId: string): Promise<string>;
    /** Send a message, also into a thread; `timeline` or `thread` has it at once, with its
     * `state`.
     * @param {string} conversationId @param {string | Written} written
     * @returns {string} its clientMessageId */
    send(conversationId: string, written: string | Written): string;
    /** Send a message again that has failed, or is waiting.
     * @param {string} clientMessageId */
    retry(clientMessageId: string): void;
    /** Drop an unsent message. One that is held stays with the moderators.
     * @param {string} clientMessageId */
    discard(clientMessageId: string): void;
    /** @param {string} messageId @param {string} body
     * @param {string[]} [mentions]  unless given, the present ones
     * @returns {Promise<void>} */
    edit(messageId: string, body: string, mentions?: string[] | undefined): Promise<void>;
    /** @param {string} messageId @returns {Promise<void>} */
    delete(messageId: string): Promise<void>;
    /** Add the user's reaction to a message, or remove it.
     * @param {Message} message @param {string} emoji @returns {Promise<void>} */
    react(message: Message, emoji: string): Promise<void>;
    /** Mark a conversation as read to its end.
     * @param {string} conversationId
     * @returns {Promise<void>} */
    markRead(conversationId: string): Promise<void>;
    /** Make a message of the open conversation and all newer ones unread, if the service has `inbox`:
     * they stay so until it is opened again.
     * @param {Message} message @returns {Promise<void>} */
    markUnread(message: Message): Promise<void>;
    /** Change the user's own view of a conversation, if the service has `inbox`: `hidden` until its
     * next message; with `clear` no message up to now is shown to them again.
     * @param {string} conversationId
     * @param {{archived?: boolean, favourite?: boolean, hidden?: boolean, clear?: boolean}} changed
     * @returns {Promise<void>} */
    changeView(conversationId: string, changed: {
        archived?: boolean;
        favourite?: boolean;
        hidden?: boolean;
        clear?: boolean;
    }): Promise<void>;
    /** Whether the end of the open conversation is visible: then its messages, and new ones, are
     * marked as read. A reader who is not `isAtEnd` looks at older messages and keeps them;
     * by default that is a reader whose `isReading` is false.
     * @param {boolean} isReading @param {{isAtEnd?: boolean}} where */
    setViewing(isReading: boolean, { isAtEnd }?: {
        isAtEnd?: boolean;
    }): void;
    /** The same for the end of the open thread, if the service has `inbox`. The read states of
     * conversation and thread are independent.
     * @param {boolean} isReading @param {{isAtEnd?: boolean}} where */
    setThreadReading(isReading: boolean, { isAtEnd }?: {
        isAtEnd?: boolean;
    }): void;
    /** The reader has typed: the others are notified, now and then.
     * @param {string} conversationId @param {string} text  the text so far */
    typed(conversationId: string, text: string): void;
    /** Older messages of a conversation.
     * @param {string} conversationId @returns {Promise<void>} */
    loadOlder(conversationId: string): Promise<void>;
    /** Older replies of the open thread.
     * @returns {Promise<void>} */
    loadOlderReplies(): Promise<void>;
    /** More of the list of conversations.
     * @returns {Promise<void>} */
    loadMore(): Promise<void>;
    /** Try at once instead of after a pause. */
    reconnect(): void;
    #private;
}
export type Attachment = import("./chat.js").Attachment;
export type Chat = import("./chat.js").Chat;
export type Conversation = import("./chat.js").Conversation;
export type ConversationView = import("./chat.js").ConversationView;
export type Json = import("./chat.js").Json;
export type Message = import("./chat.js").Message;
export type Participant = import("./chat.js").Participant;
export type ReplyPreview = import("./chat.js").ReplyPreview;
export type StreamStatus = import("./chat.js").StreamStatus;
export type User = import("./chat.js").User;
/**
 * The visible state. None of it may be changed.
 */
export type ChatState = {
    /**
     * "live": all events arrive at once
     */
    status: StreamStatus;
    /**
     * the open conversation
     */
    openId: string | null;
    /**
     * the root of the thread that is open in it
     */
    openThreadId: string | null;
    /**
     * whether the list has been fetched
     */
    isListed: boolean;
    /**
     * whether the list continues: `loadMore()`
     */
    hasMore: boolean;
    /**
     * why the list cannot be fetched now
     */
    problem: string | null;
    /**
     * the same as a code
     */
    problemCode: string | null;
    isBanned: boolean;
    /**
     * unread messages of all conversations that are not archived or muted
     */
    unread: number;
};
/**
 * The visible state. None of it may be changed.
 */
export type ShownConversation = {
    id: string;
    type: "direct" | "group";
    name: string | null;
    /**
     * the other members; of many the first twelve
     */
    others: readonly User[];
    participants: readonly Participant[];
    unread: number;
    unreadMentions: number;
    lastMessage: Message | null;
    /**
     * when it was last active
     */
    at: string;
    isMuted: boolean;
    /**
     * only admins write
     */
    isFrozen: boolean;
    metadata: Json;
    /**
     * the user's own, if the service has `inbox`
     */
    view: ConversationView | null;
};
/**
 * The visible state. None of it may be changed.
 */
export type SentEntry = Message & {
    key: string;
    isOwn: boolean;
    state: "sent";
};
/**
 * "waiting" is sent later by
 * itself, "held" waits for a moderator
 */
export type SendingState = "pending" | "waiting" | "held" | "failed";
/**
 * on its way, or not sent
 */
export type SendingEntry = {
    key: string;
    isOwn: true;
    state: SendingState;
    id: null;
    conversationId: string;
    senderId: string;
    body: string;
    createdAt: string;
    clientMessageId: string;
    mentions: string[];
    replyTo: Message | null;
    threadRootMessageId: string | null;
    attachments: Attachment[];
    problem: string | null;
    problemCode: string | null;
    retryAfter: number | null;
};
/**
 * distinguished by `state`; `key` stays when it is sent
 */
export type Entry = SentEntry | SendingEntry;
/**
 * The visible state. None of it may be changed.
 */
export type ShownTimeline = {
    conversationId: string;
    /**
     * oldest first, pending ones last
     */
    messages: readonly Entry[];
    isLoaded: boolean;
    isLoading: boolean;
    /**
     * until it is loaded: by `loadOlder`, or automatically
     */
    hasFailed: boolean;
    /**
     * `loadOlder` fetches them
     */
    hasOlder: boolean;
    /**
     * the first that was unread when it was opened
     */
    firstUnreadId: string | null;
    /**
     * the users of its messages: changes when more is known
     */
    people: readonly User[];
    /**
     * users who are typing
     */
    typing: readonly User[];
    /**
     * what assistants have written so far
     */
    writing: readonly Writing[];
};
/**
 * The visible state. None of it may be changed.
 */
export type ShownThread = {
    rootId: string;
    conversationId: string;
    root: SentEntry | null;
    /**
     * its replies, oldest first, pending ones last
     */
    messages: readonly Entry[];
    isLoaded: boolean;
    isLoading: boolean;
    /**
     * until it is loaded: by `loadOlderReplies`, or automatically
     */
    hasFailed: boolean;
    /**
     * `loadOlderReplies` fetches them
     */
    hasOlder: boolean;
    /**
     * the root does not exist, or the reader may not see it
     */
    isGone: boolean;
    /**
     * the users of root and replies
     */
    people: readonly User[];
    /**
     * what assistants have written there so far
     */
    writing: readonly Writing[];
};
/**
 * The visible state. None of it may be changed.
 */
export type Writing = {
    draftId: string;
    senderId: string;
    text: string;
    isStopped?: boolean;
};
export type ChatStoreOptions = {
    /**
     * the current user, as the service's login knows them
     */
    userId: string;
    /**
     * whether the service has the plugin Drafts
     */
    hasDrafts?: boolean | undefined;
    /**
     * whether the service has `inbox`: it keeps read states of threads
     */
    hasInbox?: boolean | undefined;
    /**
     * a new message that is not being read
     */
    onMessage?: ((message: Message) => void) | undefined;
    /**
     * the open one cannot be read
     */
    onGone?: ((conversationId: string | null) => void) | undefined;
};
export type Written = {
    body: string;
    replyTo?: Message;
    mentions?: string[];
    attachments?: Attachment[];
    threadRootMessageId?: string;
    alsoSendToMain?: boolean;
};
