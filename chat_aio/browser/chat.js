// @ts-check
/**
 * A browser client of a chat_aio service: its requests and its live stream. It imports only
 * fetch-stream.js, push.js and shared-stream.js, and is longer than others, because hosts copy it; a
 * third of it are types for editors. docs/guides/chat-js.md describes its use.
 *
 *   import { Chat, ChatError } from "./chat.js";
 *
 *   const chat = new Chat("/api/chat");
 *   const { conversations, nextCursor } = await chat.listConversations();
 *   const stream = chat.stream({ onEvent: (event) => console.log(event.type, event) });
 *
 * Methods are named as in the service's API, in the order of its routes. Results are
 * its JSON, times ISO strings. A request that fails rejects with a ChatError.
 */

import { FetchSource } from "./fetch-stream.js";
import { Push } from "./push.js";
import { SharedConnection, canShare } from "./shared-stream.js";

/**
 * What the service gives.
 *
 * @typedef {"admin" | "member"} ParticipantRole
 * @typedef {"user" | "assistant" | "system"} Role
 * @typedef {"private" | "public"} Visibility
 * @typedef {"open" | "approval"} JoinPolicy
 * @typedef {"pending" | "approved" | "denied"} JoinRequestStatus
 * @typedef {"user" | "message" | "conversation"} TargetType
 * @typedef {"open" | "triaged" | "resolved" | "dismissed"} ReportStatus
 * @typedef {{[name: string]: any}} Json
 * @typedef {"all" | "since_join"} History  what later members see
 * @typedef {{conversationId: string, userId: string, role: ParticipantRole, joinedAt: string,
 *   lastReadMessageId: string | null}} Participant
 * @typedef {{id: string, type: "direct" | "group", pairKey: string | null, name: string | null,
 *   createdAt: string, metadata: Json, participants: Participant[], visibility: Visibility,
 *   joinPolicy: JoinPolicy, frozen?: boolean, slowModeSeconds?: number, topic?: string,
 *   pinnedMessageIds?: string[], history?: History, key?: string,
 *   metadataVersion?: number}} Conversation
 * @typedef {{archived: boolean, favourite: boolean, hidden: boolean,
 *   clearedUpToSeq: number}} ConversationView  the caller's own
 * @typedef {Conversation & {unreadCount: number,
 *   view?: ConversationView}} ConversationWithUnread  `view` with `inbox`
 * @typedef {{id: string, senderId: string, excerpt: string, deleted: boolean}} ReplyPreview
 * @typedef {{emoji: string, count: number, userIds: string[]}} Reactions
 * @typedef {{messageId: string, conversationId: string, senderId: string}} ForwardedFrom
 * @typedef {{replyCount: number, lastReplyAt: string}} ThreadSummary
 * @typedef {{id: string, name: string, contentType: string, size: number, width: number | null,
 *   height: number | null, hasThumbnail: boolean}} Attachment
 * @typedef {{id: string, conversationId: string, senderId: string, body: string, role: Role,
 *   seq: number, createdAt: string, editedAt: string | null, deletedAt: string | null,
 *   replyToMessageId: string | null, replyTo: ReplyPreview | null, alsoSendToMain: boolean,
 *   threadRootMessageId: string | null, threadSummary: ThreadSummary | null,
 *   clientMessageId: string | null, forwardedFrom: ForwardedFrom | null, reactions: Reactions[],
 *   mentions: string[], metadata: Json, metadataVersion?: number,
 *   attachments?: Attachment[]}} Message
 * @typedef {{id: string, name: string, avatarUrl: string | null, isBot: boolean}} User
 * @typedef {{seq: number, firstUnreadSeq: number | null,
 *   unreadMentionCount: number}} UnreadSummary
 * @typedef {{message: Message, unread: boolean}} Mention
 * @typedef {{messages: number, mentions: number, conversations: number}} UnreadNumbers
 * @typedef {{all: UnreadNumbers, unmuted: UnreadNumbers}} UnreadTotals
 * @typedef {{root: Message, lastReadSeq: number, unreadReplyCount: number}} ViewedThread
 * @typedef {{id: string, conversationId: string, senderId: string, body: string, role: Role,
 *   metadata: Json, mentions: string[], replyToMessageId: string | null, reason: string,
 *   attachments?: Attachment[],
 *   threadRootMessageId: string | null, createdAt: string, expiresAt: string | null,
 *   releasedBy: string | null}} HeldMessage
 * @typedef {"all" | "mentions" | "none"} NotificationLevel
 * @typedef {{start: string, end: string, timeZone: string}} QuietHours  such as 22:00
 * @typedef {{id: string, kind: string, createdAt: string}} Device
 * @typedef {{id: string, conversationId: string, senderId: string, text: string, parts: number,
 *   askedByUserId: string | null, replyToMessageId: string | null, clientMessageId: string,
 *   threadRootMessageId: string | null, isStopped: boolean, startedAt: string}} Draft
 * @typedef {{code: string, conversationId: string, createdBy: string, createdAt: string,
 *   expiresAt: string | null, maxUses: number | null, uses: number, requiresApproval: boolean,
 *   metadata: Json}} Invite
 * @typedef {{conversationId: string, name: string | null, participantCount: number,
 *   requiresApproval: boolean, invitedBy: string, alreadyParticipant: boolean}} InvitePreview
 * @typedef {{id: string, conversationId: string, userId: string, status: JoinRequestStatus,
 *   message: string | null, inviteCode: string | null, createdAt: string, metadata: Json,
 *   resolvedAt: string | null, resolvedBy: string | null}} JoinRequest
 * @typedef {{status: "joined" | "pending", conversation: ConversationWithUnread | null,
 *   joinRequest: JoinRequest | null}} JoinResult
 * @typedef {{joinRequest: JoinRequest,
 *   conversation: ConversationWithUnread | null}} JoinRequestDecisionResult
 * @typedef {{conversationId: string, name: string | null, participantCount: number,
 *   joinPolicy: JoinPolicy, createdAt: string, metadata: Json, alreadyParticipant: boolean,
 *   requestPending: boolean}} ChannelPreview
 * @typedef {{conversationId: string, userId: string, createdByUserId: string,
 *   reason: string | null, createdAt: string}} ConversationBan
 * @typedef {{blockerUserId: string, blockedUserId: string, createdAt: string}} Block
 * @typedef {{userId: string, conversationId: string, createdAt: string}} Mute
 * @typedef {{id: string, reporterUserId: string, targetType: TargetType, targetId: string,
 *   reason: string, status: ReportStatus, moderatorNote: string | null, evidence: Json,
 *   createdAt: string, updatedAt: string, resolvedBy: string | null}} Report
 * @typedef {{id: string, userId: string, createdByUserId: string, reason: string | null,
 *   createdAt: string, expiresAt: string | null, revokedAt: string | null,
 *   revokedByUserId: string | null}} Ban
 * @typedef {{online: boolean, lastSeenAt: string | null}} Presence
 * @typedef {{message: Message, messages: Message[]}} MessageInContext
 * @typedef {{id: string, messageId: string, conversationId: string, senderId: string, body: string,
 *   mentions: string[], metadata: Json, attachments?: Attachment[], writtenAt: string,
 *   replacedAt: string,
 *   replacedByUserId: string, how: "edited" | "deleted" | "removed"}} MessageVersion
 * @typedef {{messages: number, dryRun: boolean, until: string, nextCursor: string | null}} Removed
 * @typedef {{conversationId: string, type: "direct" | "group", name: string | null,
 *   participantCount: number, role: ParticipantRole}} SharedConversation
 * @typedef {{userId: string, activeBan: Ban | null, bans: Ban[], reportsMade: number,
 *   reportsReceived: number, unresolvedReportsReceived: number, latestReportsReceived: Report[],
 *   conversationCount: number, conversations: SharedConversation[]}} Standing
 * @typedef {{targetType: TargetType, targetId: string, count: number, firstAt: string,
 *   lastAt: string, latest: Report}} ReportGroup
 * @typedef {{reports: number, more: boolean}} ReportsResolved
 */

/**
 * @template {string} Name
 * @template Item
 * @typedef {Promise<{[name in Name]: Item[]} & {nextCursor: string | null}>} Page
 */

/** @typedef {Page<"messages", Message> &
 *   Promise<{users?: {[userId: string]: User}}>} PageOfMessages */
/** @typedef {PageOfMessages & Promise<{previousCursor?: string}>} PageOfTimeline */

/**
 * Its arguments.
 *
 * @typedef {{limit?: number, cursor?: string | null}} Paging
 * @typedef {Paging & {include?: ("lastMessage" | "unread" | "users")[], q?: string,
 *   unread?: boolean, ids?: string[], key?: string, archived?: boolean, favourite?: boolean,
 *   metadata?: {[field: string]: string | number | boolean}}} Listing
 * @typedef {Paging & {include?: "users"[]}} PagingMessages  with `include` the page has `users`
 * @typedef {PagingMessages & {around?: string, aroundSeq?: number,
 *   after?: string}} PagingTimeline
 * @typedef {{senderId?: string, since?: string, until?: string, hasAttachments?: boolean,
 *   mentions?: string}} SearchFilters  `mentions` is a user's id or `me`; `until` is not included
 * @typedef {{role?: Role, mentions?: string[], metadata?: Json, clientMessageId?: string}} Copied
 * @typedef {Copied & {body: string, replyToMessageId?: string, threadRootMessageId?: string,
 *   alsoSendToMain?: boolean, attachmentIds?: string[]}} Composed
 * @typedef {{name?: string | null, visibility?: Visibility, joinPolicy?: JoinPolicy,
 *   frozen?: boolean, slowModeSeconds?: number, topic?: string, history?: History}} GroupFields
 * @typedef {{metadata?: Json, metadataVersion?: number}} NewMetadata  in place of the old ones, if
 *   they have this version; needs `editable_metadata`
 * @typedef {{message?: string}} Note  to the admins, where they decide
 * @typedef {{conversationId?: string, since?: string, until?: string, contains?: string}} Which
 *   messages: times are ISO strings
 */

/**
 * The events of the stream.
 *
 * @typedef {{type: "message.created" | "message.updated" | "message.deleted",
 *   conversationId: string, message: Message}} ChatMessageEvent
 * @typedef {{type: "reaction.added" | "reaction.removed", conversationId: string,
 *   actorId: string, emoji: string, message: Message}} ReactionEvent
 * @typedef {{type: "participant.added" | "participant.removed" | "conversation.updated" |
 *   "conversation.created", conversationId: string, actorId: string, affectedUserIds: string[],
 *   conversation: Conversation}} ConversationEvent
 * @typedef {{type: "conversation.deleted", conversationId: string,
 *   actorId: string}} ConversationDeletedEvent
 * @typedef {{type: "join_request.created" | "join_request.resolved", conversationId: string,
 *   joinRequest: JoinRequest}} JoinRequestEvent
 * @typedef {{type: "conversation_ban.created" | "conversation_ban.removed", conversationId: string,
 *   conversationBan: ConversationBan}} ConversationBanEvent
 * @typedef {{type: "report.created" | "report.updated", report: Report}} ReportEvent
 * @typedef {{type: "read.updated", conversationId: string, messageId: string,
 *   unreadCount: number}} ReadEvent
 * @typedef {{type: "view.updated", conversationId: string, view: ConversationView,
 *   unreadCount: number}} ViewEvent
 * @typedef {UnreadTotals & {type: "unread.updated"}} UnreadEvent
 * @typedef {{type: "typing.started" | "typing.stopped" | "presence.online" | "presence.offline" |
 *   "receipt.delivered" | "receipt.read" | "draft.updated" | "draft.ended", ephemeral: true,
 * conversationId?: string,
 *   senderId: string, payload: any, at: string}} EphemeralEvent
 * @typedef {ChatMessageEvent | ReactionEvent | ConversationEvent | ConversationDeletedEvent |
 *   JoinRequestEvent | ConversationBanEvent | ReportEvent | ReadEvent | ViewEvent | UnreadEvent |
 *   EphemeralEvent} ChatEvent
 * @typedef {{type: "stream.reset", reason: string}} ResetEvent
 * @typedef {{[Kind in "members" | "name" | "metadata" | "reactions" | "pins" | "ownMarks" |
 *   "removed"]: string[]}} ChangedConversations  ids of conversations, by kind
 * @typedef {{type: "stream.changed", all: boolean,
 *   conversations: ChangedConversations}} ChangedEvent
 * @typedef {"connecting" | "live" | "reconnecting" | "closed"} StreamStatus
 *
 * @typedef {object} StreamOptions
 * @property {(event: ChatEvent) => void} [onEvent]  each event; a message's created event once,
 *   also when the service repeats it
 * @property {(opening: {isResumed: boolean}) => void} [onOpen]  it is open: fetch all that is on the
 *   screen, unless it has resumed: then `onChanged` or `onReset` follows
 * @property {(event: ChangedEvent) => void} [onChanged]  it has resumed, and the missed messages have
 *   come: refetch what the event names; with `all`, everything, as from a service without
 *   `extra_events`
 * @property {(event: ResetEvent) => void} [onReset]  the missed events cannot be replayed: refetch
 * @property {(refusal: {status?: number}) => void} [onRefused]  the answer was no stream; EventSource
 *   does not show its status, but the answer to any request may. It is tried again, after a pause
 *   that grows
 * @property {() => void} [onSignedOut]  `userId` is no longer logged in: drop all that is on the
 *   screen. The stream is tried again, and opens as a new one once they are
 * @property {(status: StreamStatus) => void} [onStatus]
 * @property {string} [userId]  the current user, as the service's login knows them: then tabs share
 *   a stream, and none of another user is read
 * @property {string[]} [types]  events of your plugins
 * @property {string[]} [conversationIds]  follow these conversations, also those that the user is
 *   not in; needs `supervisors`. Nothing is replayed: after a reconnect `onChanged` names all
 */

/**
 * @typedef {object} PushOptions
 * @property {string} [worker]  where push-worker.js is; default `/chat-aio/push-worker.js`
 * @property {string} [scope]  of the worker; default its folder. The number at an app's icon is set
 *   for apps within it
 * @property {string} [url]  of a conversation in your app, with `{conversationId}` and, if you like,
 *   `{messageId}`; default this page
 * @property {(opened: {conversationId: string, messageId: string}) => void} [onOpen]  a notification
 *   was clicked, and this tab is to show its conversation; without it, a new tab opens `url`
 * @property {string} [icon]  of notifications whose sender has no image
 * @property {string} [title]  where a push cannot be read; default the page's
 * @property {boolean} [ask]  false: ask nothing, and do nothing unless the browser has it enabled;
 *   it then belongs to the current user
 */

/**
 * @template Value
 * @typedef {Value | (() => Value | Promise<Value>)} Given  a function is called each time
 */

/**
 * @typedef {object} ChatOptions
 * @property {Given<string | null>} [token]  as `Authorization: Bearer`; EventSource, which can send
 *   no headers, sends it as `?access_token=`
 * @property {Given<{[name: string]: string}>} [headers]  of requests; of the stream with `fetch` only
 * @property {Given<{[name: string]: string}>} [query]  of requests and of the stream
 * @property {RequestCredentials} [credentials]  "include": cookies to another origin, too
 * @property {number} [timeoutMs]  for each request; default 20,000
 * @property {number} [retries]  how often a send or forward is retried; default 2
 * @property {(error: ChatError) => void} [onError]  called for every failed request
 * @property {typeof fetch} [fetch]  in place of the browser's, as is EventSource
 * @property {typeof EventSource} [EventSource]
 * @property {"EventSource" | "fetch"} [streamWith]  reads the stream; `fetch` sends headers
 * @property {boolean} [shareStream]  false: the tabs of a browser have a stream each
 */

const TIMEOUT_MS = 20_000;
const RETRIES = 2;
const FIRST_RETRY_MS = 400;
const LONGEST_RETRY_MS = 10_000;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;
/** Without a heartbeat for this many intervals a connection is dead. */
const MISSED_PINGS = 3;
const REMEMBERED_MESSAGES = 2_000;

/** Browsers read such a segment, and `%2E` as well, as a step within a path. */
const DOTS = /\/\.\.?(\/|$)/;
const NONE_NAMED = {
  ...{ members: [], name: [], metadata: [], reactions: [], pins: [], ownMarks: [], removed: [] },
};
/** @type {{[code: string]: [status: number, message: string]}} */
const PUSH_ERRORS = {
  PUSH_DENIED: [403, "The browser may not show notifications."],
  PUSH_UNAVAILABLE: [501, "This browser has no Web Push here."],
  PUSH_UNSUPPORTED: [501, "The service has no Web Push."],
  PUSH_FAILED: [0, "The browser could not subscribe to Web Push."],
};
const NO_PATH = { status: 404, code: "NOT_FOUND", message: "There is no such path." };

const EVENT_TYPES = [
  ...["message.created", "message.updated", "message.deleted", "reaction.added"],
  ...["reaction.removed", "participant.added", "participant.removed", "conversation.created"],
  ...["conversation.updated", "join_request.created", "join_request.resolved", "read.updated"],
  ...["stream.reset", "typing.started", "typing.stopped", "presence.online", "presence.offline"],
  ...["receipt.delivered", "receipt.read", "conversation_ban.created", "conversation_ban.removed"],
  ...["report.created", "report.updated", "draft.updated", "draft.ended", "stream.ping"],
  ...["conversation.deleted", "stream.changed", "view.updated", "unread.updated", "stream.opened"],
];

/** A refusal of the service (with its `code` and `message`), or a failure to reach it. */
export class ChatError extends Error {
  /** `status` is 0 if there was no answer, with the `cause`; `retryAfter` is in seconds, if the
   * service has sent one.
   * @param {{status: number, code: string, message: string, retryAfter?: number | null,
   *   cause?: unknown}} given */
  constructor({ status, code, message, retryAfter = null, ...reason }) {
    super(message, reason);
    Object.assign(this, { name: "ChatError" });
    this.status = status;
    this.code = code;
    this.retryAfter = retryAfter;
  }

  /** The error of sends from a closed store. */
  static closed() {
    return new ChatError({ status: 0, code: "UNREACHABLE", message: "The chat is closed." });
  }

  /** The error of a stream whose user is no longer logged in. */
  static signedOut() {
    const message = "The user is no longer logged in.";
    return new ChatError({ status: 401, code: "UNAUTHENTICATED", message });
  }

  /** Whether the same request may succeed later; a send then needs the same clientMessageId. */
  get isTemporary() {
    return [0, 429].includes(this.status) || (this.status >= 500 && this.status !== 501);
  }
}

export class Chat {
  #baseUrl;
  #options;
  #push;
  /** @type {{stream: ChatStream, connection?: any}[]} */
  #streams = [];

  /** @param {string} [baseUrl] @param {ChatOptions} [options] */
  constructor(baseUrl = "/api/chat", options = {}) {
    this.#baseUrl = baseUrl.replace(/\/+$/, "");
    this.#options = options;
    this.#push = new Push({
      ...this.notifications,
      settings: async () => ({
        devicesUrl: String(await this.#urlOf("/notifications/devices", {})),
        credentials: options.credentials,
      }),
      error: (code, cause) => {
        const [status, message] = PUSH_ERRORS[code];
        return new ChatError({ status, code, message, cause });
      },
    });
  }

  /** The direct conversation with someone: the same one, however often this is called.
   * @type {(otherUserId: string, more?: {metadata?: Json}) => Promise<ConversationWithUnread>} */
  getOrCreateConversation = (otherUserId, more) =>
    this.#post("/conversations", { otherUserId, ...more }, "conversation");
  /** Most recently active first; `include` brings `lastMessages`, `unreadSummaries` and `users` by
   * id.
   * @type {(options?: Listing) => Page<"conversations", ConversationWithUnread> &
   *   Promise<{lastMessages?: {[id: string]: Message}, unreadSummaries?: {[id: string]:
   * UnreadSummary},
   *   users?: {[id: string]: User}}>} */
  listConversations = ({ metadata = {}, ...options } = {}) => {
    const named = Object.entries(metadata).map(([name, value]) => [`metadata.${name}`, value]);
    return this.#get("/conversations", { ...options, ...Object.fromEntries(named) });
  };
  /** @type {(conversationId: string) => Promise<ConversationWithUnread>} */
  getConversation = (id) => this.#get(path`/conversations/${id}`, {}, "conversation");
  /** Stored once, however often it is tried; a `clientMessageId` is made where there is none.
   * Once `signal` is aborted it is not tried again, and rejects with the signal's reason.
   * @type {(conversationId: string, composed: Composed,
   *   given?: {signal?: AbortSignal}) => Promise<Message>} */
  sendMessage = (id, composed, { signal } = {}) =>
    this.#send(path`/conversations/${id}/messages`, composed, signal);
  /** Newest first; `around` or `after` a message, or `aroundSeq`: then there may be a
   * `previousCursor`.
   * @type {(conversationId: string, options?: PagingTimeline) => PageOfTimeline} */
  listMessages = (id, options) => this.#get(path`/conversations/${id}/messages`, options);
  /** @type {(conversationId: string, messageId: string) => Promise<Message>} */
  getMessage = (id, messageId) =>
    this.#get(path`/conversations/${id}/messages/${messageId}`, {}, "message");
  /** As `listMessages`, without the root.
   * @type {(conversationId: string, rootId: string, options?: PagingTimeline) => PageOfTimeline} */
  listThread = (id, rootId, options) =>
    this.#get(path`/conversations/${id}/threads/${rootId}/messages`, options);
  /** The most relevant first; of one conversation, or of all. With `prefix` also longer words that
   * begin with the last one, if the service has `prefix_search`. Filters need `search_filters`;
   * with them `q` may be null: then the newest come first.
   * @type {(q: string | null, options?: PagingMessages & SearchFilters &
   *   {conversationId?: string | null, prefix?: boolean}) => PageOfMessages} */
  searchMessages = (q, options) => this.#get("/search/messages", { q, ...options });
  /** Mark messages as read, up to this one.
   * @type {(conversationId: string, messageId: string) => Promise<{ok: true}>} */
  markRead = (id, messageId) => this.#post(path`/conversations/${id}/read`, { messageId });
  /** Without `mentions` they stay as they are; metadata may be changed without the body.
   * @type {(messageId: string, changed: {body?: string, mentions?: string[]} & NewMetadata) =>
   *   Promise<Message>} */
  editMessage = (id, changed) => this.#patch(path`/messages/${id}`, changed, "message");
  /** Resolves to the tombstone.
   * @type {(messageId: string) => Promise<Message>} */
  deleteMessage = (id) => this.#delete(path`/messages/${id}`, undefined, "message");
  /** Resolves to the copy in `conversationId`; tried again as a send is.
   * @type {(messageId: string, target: Copied & {conversationId: string}) => Promise<Message>} */
  forwardMessage = (id, target) => this.#send(path`/messages/${id}/forward`, target);
  /** @type {(messageId: string, emoji: string) => Promise<Message>} */
  addReaction = (id, emoji) => this.#post(path`/messages/${id}/reactions`, { emoji }, "message");
  /** @type {(messageId: string, emoji: string) => Promise<Message>} */
  removeReaction = (id, emoji) =>
    this.#delete(path`/messages/${id}/reactions`, { emoji }, "message");
  /** The live events of the current user.
   * @type {(options?: StreamOptions) => ChatStream} */
  stream = (options = {}) => {
    /** @type {{connection?: any}} */
    const opened = {};
    const connect = (/** @type {any} */ tab) => (opened.connection = this.#connection(tab, options));
    const stream = new ChatStream(connect, {
      ...options,
      onEvent: (event) => {
        this.#push.notice(event);
        options.onEvent?.(event);
      },
    });
    const open = this.#streams.filter((other) => other.stream.status !== "closed");
    this.#streams = [...open, Object.assign(opened, { stream })];
    return stream;
  };
  /** The user has logged out: the streams of all tabs with this login end, and open again only once
   * they are logged in again. */
  signedOut = () => {
    for (const { connection } of this.#streams) connection.signOut();
  };

  /** With a `key` of the host, which needs `conversation_keys`, the group that has it already.
   * @type {(group?: GroupFields & {userIds?: string[], metadata?: Json, key?: string}) =>
   *   Promise<ConversationWithUnread>} */
  createGroupConversation = (group = {}) =>
    this.#post("/conversations/group", group, "conversation");
  /** A name that is null is cleared; `frozen`, `slowModeSeconds`, `topic` and `history` need
   * `room_controls`.
   * @type {(conversationId: string, changed: GroupFields & NewMetadata) =>
   *   Promise<ConversationWithUnread>} */
  updateConversation = (id, changed) =>
    this.#patch(path`/conversations/${id}`, changed, "conversation");
  /** @type {(conversationId: string, userIds: string[]) => Promise<ConversationWithUnread>} */
  addParticipants = (id, userIds) =>
    this.#post(path`/conversations/${id}/participants`, { userIds }, "conversation");
  /** Remove a member; with the user's own id: leave.
   * @type {(conversationId: string, userId: string) => Promise<ConversationWithUnread>} */
  removeParticipant = (id, userId) =>
    this.#delete(path`/conversations/${id}/participants`, { userId }, "conversation");
  /** @type {(conversationId: string, userId: string, role: ParticipantRole) =>
   *   Promise<ConversationWithUnread>} */
  setParticipantRole = (id, userId, role) =>
    this.#patch(path`/conversations/${id}/participants`, { userId, role }, "conversation");
  /** All participants with their roles: others are removed. Needs `conversation_keys`.
   * @type {(conversationId: string, participants: {[userId: string]: ParticipantRole}) =>
   *   Promise<ConversationWithUnread>} */
  setParticipants = (id, participants) =>
    this.#put(path`/conversations/${id}/participants`, { participants }, "conversation");

  /** @type {(conversationId: string, terms?: {expiresInSeconds?: number, maxUses?: number,
   *   requiresApproval?: boolean, metadata?: Json}) => Promise<Invite>} */
  createInvite = (id, terms = {}) =>
    this.#post(path`/conversations/${id}/invites`, terms, "invite");
  /** Newest first.
   * @type {(conversationId: string) => Promise<{invites: Invite[]}>} */
  listInvites = (id) => this.#get(path`/conversations/${id}/invites`);
  /** @type {(conversationId: string, code: string) => Promise<{ok: true}>} */
  revokeInvite = (id, code) => this.#delete(path`/conversations/${id}/invites/${code}`);
  /** The target of an invite link.
   * @type {(code: string) => Promise<InvitePreview>} */
  getInvitePreview = (code) => this.#get(path`/invites/${code}`, {}, "invite");
  /** "joined", or "pending" until an admin agrees.
   * @type {(code: string, note?: Note) => Promise<JoinResult>} */
  acceptInvite = (code, note = {}) => this.#post(path`/invites/${code}/accept`, note);
  /** @type {(conversationId: string, note?: Note) => Promise<JoinRequest>} */
  requestToJoin = (id, note = {}) =>
    this.#post(path`/conversations/${id}/join-requests`, note, "joinRequest");
  /** Newest first; pending ones unless `status` is given.
   * @type {(conversationId: string, options?: Paging & {status?: JoinRequestStatus}) =>
   *   Page<"joinRequests", JoinRequest>} */
  listJoinRequests = (id, options) => this.#get(path`/conversations/${id}/join-requests`, options);
  /** @type {(conversationId: string, userId: string, decision: "approve" | "deny") =>
   *   Promise<JoinRequestDecisionResult>} */
  resolveJoinRequest = (id, userId, decision) =>
    this.#patch(path`/conversations/${id}/join-requests`, { userId, decision });
  /** The channels, most recently active first.
   * @type {(paging?: Paging) => Page<"channels", ChannelPreview>} */
  listPublicConversations = (paging) => this.#get("/channels", paging);
  /** Join a channel, or request it.
   * @type {(conversationId: string, note?: Note) => Promise<JoinResult>} */
  joinConversation = (id, note = {}) => this.#post(path`/conversations/${id}/join`, note);
  /** Names and images of up to 100 users, in this order, or of those whom `q` finds.
   * @type {(which: {ids: string[]} | {q: string, limit?: number}) => Promise<User[]>} */
  findUsers = (which) => this.#get("/users", which, "users");

  /** While the user types, every three seconds at most; false: they have stopped.
   * @type {(conversationId: string, isTyping?: boolean) => Promise<{ok: true}>} */
  sendTyping = (id, isTyping = true) => this.#post(path`/conversations/${id}/typing`, { isTyping });
  /** By user id, for users who share a conversation with the caller; 50 at most.
   * @type {(userIds: string[]) => Promise<{[userId: string]: Presence}>} */
  getPresence = (userIds) => this.#get("/presence", { userIds: userIds.join(",") }, "presence");
  /** For moderators: the messages held by filters, newest first.
   * @type {(paging?: Paging) => Page<"heldMessages", HeldMessage>} */
  listHeldMessages = (paging) => this.#get("/moderation/held", paging);
  /** Send it in the name of its sender.
   * @type {(heldId: string) => Promise<Message>} */
  releaseHeldMessage = (heldId) => this.#post("/moderation/held/release", { heldId }, "message");
  /** @type {(heldId: string) => Promise<{ok: true}>} */
  discardHeldMessage = (heldId) => this.#post("/moderation/held/discard", { heldId });

  /** Bans from a group and pins, if the service has `room_controls`. */
  rooms = {
    /** @type {(conversationId: string, given: {userId: string, reason?: string}) =>
     *   Promise<ConversationBan>} */
    banFromConversation: (id, given) =>
      this.#post(path`/conversations/${id}/bans`, given, "conversationBan"),
    /** @type {(conversationId: string, userId: string) => Promise<{ok: true}>} */
    unban: (id, userId) => this.#delete(path`/conversations/${id}/bans/${userId}`),
    /** Newest first.
     * @type {(conversationId: string, paging?: Paging) =>
     *   Page<"conversationBans", ConversationBan>} */
    listConversationBans: (id, paging) => this.#get(path`/conversations/${id}/bans`, paging),
    /** @type {(conversationId: string, messageId: string) => Promise<ConversationWithUnread>} */
    pinMessage: (id, messageId) =>
      this.#post(path`/conversations/${id}/pins`, { messageId }, "conversation"),
    /** @type {(conversationId: string, messageId: string) => Promise<ConversationWithUnread>} */
    unpinMessage: (id, messageId) =>
      this.#delete(path`/conversations/${id}/pins/${messageId}`, undefined, "conversation"),
    /** The latest pinned first.
     * @type {(conversationId: string) => Promise<Message[]>} */
    listPins: (id) => this.#get(path`/conversations/${id}/pins`, {}, "messages"),
  };

  /** Mentions and threads of the user, their view of conversations, and their number of unread
   * messages, if the service has `inbox`. */
  inbox = {
    /** The user's own view: `hidden` until the next message; with `clear` no message up to now is
     * shown to them again.
     * @type {(conversationId: string, changed: {archived?: boolean, favourite?: boolean,
     *   hidden?: boolean, clear?: boolean}) => Promise<ConversationWithUnread>} */
    changeView: (id, changed) =>
      this.#patch(path`/conversations/${id}/view`, changed, "conversation"),
    /** Unread messages in all conversations. Request it once the stream is open; `unread.updated`
     * then has each new number.
     * @type {() => Promise<UnreadTotals>} */
    countUnread: async () => {
      const totals = await this.#get("/unread");
      this.#push.noticeUnread(totals);
      return totals;
    },
    /** Messages that mention the user, newest first.
     * @type {(paging?: Paging) => Page<"mentions", Mention>} */
    listMentions: (paging) => this.#get("/mentions", paging),
    /** This message and all newer ones count as unread again, until one of them is marked read.
     * @type {(conversationId: string, messageId: string) => Promise<{ok: true}>} */
    markUnread: (id, messageId) => this.#post(path`/conversations/${id}/unread`, { messageId }),
    /** Threads that the user follows, has written or is mentioned in; the latest reply first.
     * @type {(paging?: Paging) => Page<"threads", ViewedThread>} */
    listThreads: (paging) => this.#get("/threads", paging),
    /** @type {(conversationId: string, rootId: string) => Promise<{ok: true}>} */
    followThread: (id, rootId) =>
      this.#post(path`/conversations/${id}/threads/${rootId}/follow`, {}),
    /** @type {(conversationId: string, rootId: string) => Promise<{ok: true}>} */
    unfollowThread: (id, rootId) =>
      this.#delete(path`/conversations/${id}/threads/${rootId}/follow`),
    /** @type {(conversationId: string, rootId: string, messageId: string) =>
     *   Promise<{ok: true}>} */
    markThreadRead: (id, rootId, messageId) =>
      this.#post(path`/conversations/${id}/threads/${rootId}/read`, { messageId }),
  };

  /** Messages that are visible while they are written, if the service has the plugin Drafts. */
  drafts = {
    /** The open drafts, the oldest first; events of `draft.updated` continue them.
     * @type {(conversationId: string) => Promise<Draft[]>} */
    list: (id) => this.#get(path`/conversations/${id}/drafts`, {}, "drafts"),
    /** For assistants.
     * @type {(conversationId: string, given?: {replyToMessageId?: string,
     *   threadRootMessageId?: string, askedByUserId?: string, clientMessageId?: string}) =>
     *   Promise<Draft>} */
    begin: (id, given = {}) => this.#post(path`/conversations/${id}/drafts`, given, "draft"),
    /** Parts are numbered from 0 on.
     * @type {(conversationId: string, part: {draftId: string, index: number, text: string}) =>
     *   Promise<{isStopped: boolean}>} */
    append: (id, part) => this.#post(path`/conversations/${id}/drafts/append`, part),
    /** Send it.
     * @type {(conversationId: string, given: {draftId: string, mentions?: string[],
     *   metadata?: Json}) => Promise<Message>} */
    finish: (id, given) => this.#post(path`/conversations/${id}/drafts/finish`, given, "message"),
    /** Stop an assistant's draft.
     * @type {(conversationId: string, draftId: string) => Promise<{ok: true}>} */
    stop: (id, draftId) => this.#post(path`/conversations/${id}/drafts/stop`, { draftId }),
    /** @type {(conversationId: string, draftId: string) => Promise<{ok: true}>} */
    cancel: (id, draftId) => this.#post(path`/conversations/${id}/drafts/cancel`, { draftId }),
  };

  /** Deletion of conversations, if the host has `can_delete`. */
  conversations = {
    /** Delete a conversation for everyone and for good, if the host's `can_delete` allows it.
     * @type {(conversationId: string, reason?: string) => Promise<{ok: true}>} */
    deleteConversation: (id, reason) => this.#delete(path`/conversations/${id}`, { reason }),
  };

  /** The notification settings, if the service has the plugin Notifications. */
  notifications = {
    /** @type {() => Promise<{quietHours: QuietHours | null}>} */
    getSettings: () => this.#get("/notifications/settings"),
    /** Null: none.
     * @type {(quietHours: QuietHours | null) =>
     *   Promise<{quietHours: QuietHours | null}>} */
    setQuietHours: (quietHours) => this.#put("/notifications/settings", { quietHours }),
    /** @type {(conversationId: string) =>
     *   Promise<{level: NotificationLevel, isDefault: boolean}>} */
    getLevel: (id) => this.#get(path`/conversations/${id}/notifications`),
    /** Null: the default.
     * @type {(conversationId: string, level: NotificationLevel | null) =>
     *   Promise<{level: NotificationLevel, isDefault: boolean}>} */
    setLevel: (id, level) => this.#put(path`/conversations/${id}/notifications`, { level }),
    /** Show notifications in this browser, also while no page is open. It asks the user, so call it
     * in a click; and with `ask: false` whenever the page opens.
     * @type {(options?: PushOptions) => Promise<Device | null>} */
    enablePush: (options = {}) => this.#push.enable(options),
    /** When the user logs out, or wants no more.
     * @type {() => Promise<void>} */
    disablePush: () => this.#push.disable(),
    /** The user's devices, the kinds that may be registered, and the key of browsers.
     * @type {() => Promise<{devices: Device[], kinds: string[], publicKey: string | null}>} */
    listDevices: () => this.#get("/notifications/devices"),
    /** A device of a kind that the service has a channel for; `enablePush` registers browsers.
     * @type {(device: {kind: string, token: string, keys?: {[name: string]: string}}) =>
     *   Promise<Device>} */
    registerDevice: (device) => this.#post("/notifications/devices", device, "device"),
    /** @type {(deviceId: string) => Promise<{ok: true}>} */
    removeDevice: (deviceId) => this.#delete("/notifications/devices", { deviceId }),
  };

  /** Files of messages, if the service has the plugin Attachments. */
  attachments = {
    /** For `attachmentIds` of a message; `onProgress` is called with the sent part, up to 1.
     * `signal` ends it: it then rejects with the signal's reason, which is no ChatError.
     * @type {(conversationId: string, file: Blob, options?: {name?: string,
     *   onProgress?: (sent: number) => void, signal?: AbortSignal}) => Promise<Attachment>} */
    upload: (id, file, { name, onProgress, signal } = {}) => {
      const form = new FormData();
      // A Blob has no name, and a File has its own.
      form.append("file", new Blob([file]), name ?? /** @type {File} */ (file).name ?? "file");
      return this.#upload(path`/conversations/${id}/attachments`, form, { onProgress, signal });
    },
    /** @type {(attachmentId: string) => Promise<Blob>} */
    get: (id) => this.#blob(path`/attachments/${id}`),
    /** In WebP; rejects where `hasThumbnail` is false.
     * @type {(attachmentId: string) =>
     *   Promise<Blob>} */
    getThumbnail: (id) => this.#blob(path`/attachments/${id}/thumbnail`),
    /** For an element of the page, if cookies identify the user.
     * @type {(attachmentId: string) => Promise<string>} */
    url: async (id) => String(await this.#urlOf(path`/attachments/${id}`, {})),
    /** Whether headers identify the user: then an element of the page cannot fetch it.
     * @type {() => Promise<boolean>} */
    needsHeaders: async () => Object.keys(await this.#headers(undefined)).length > 0,
  };

  moderation = {
    /** @type {(targetUserId: string) => Promise<Block>} */
    blockUser: (targetUserId) => this.#post("/moderation/blocks", { targetUserId }, "block"),
    /** @type {(targetUserId: string) => Promise<{ok: true}>} */
    unblockUser: (targetUserId) => this.#delete("/moderation/blocks", { targetUserId }),
    /** The user's blocks.
     * @type {(paging?: Paging) => Page<"blocks", Block>} */
    listBlockedUsers: (paging) => this.#get("/moderation/blocks", paging),
    /** @type {(conversationId: string) => Promise<Mute>} */
    muteConversation: (conversationId) =>
      this.#post("/moderation/mutes", { conversationId }, "mute"),
    /** @type {(conversationId: string) => Promise<{ok: true}>} */
    unmuteConversation: (conversationId) => this.#delete("/moderation/mutes", { conversationId }),
    /** @type {(paging?: Paging) => Page<"mutes", Mute>} */
    listMutedConversations: (paging) => this.#get("/moderation/mutes", paging),
    /** @type {(given: {targetType: TargetType, targetId: string, reason: string}) =>
     *   Promise<Report>} */
    report: (given) => this.#post("/moderation/reports", given, "report"),
    /** Newest first; this and all below is for moderators.
     * @type {(options?: Paging & {status?: ReportStatus, targetType?: TargetType}) =>
     *   Page<"reports", Report>} */
    listReports: (options) => this.#get("/moderation/reports", options),
    /** @type {(reportId: string) => Promise<Report>} */
    getReport: (id) => this.#get(path`/moderation/reports/${id}`, {}, "report"),
    /** A note that is null is cleared.
     * @type {(reportId: string, changed: {status: ReportStatus, moderatorNote?: string | null}) =>
     *   Promise<Report>} */
    updateReport: (id, changed) => this.#patch(path`/moderation/reports/${id}`, changed, "report"),
    /** Newest first.
     * @type {(options?: Paging & {activeOnly?: boolean}) => Page<"bans", Ban>} */
    listBans: (options) => this.#get("/moderation/bans", options),
    /** @type {(given: {targetUserId: string, reason?: string, expiresAt?: string}) =>
     *   Promise<Ban>} */
    banUser: (given) => this.#post("/moderation/bans", given, "ban"),
    /** @type {(banId: string) => Promise<Ban>} */
    unbanUser: (id) => this.#delete(path`/moderation/bans/${id}`, undefined, "ban"),
  };

  /** For moderators, if the service has `moderation_tools`. */
  moderationTools = {
    /** In any conversation; a page may be short, even empty: go on with its cursor.
     * @type {(which?: Paging & Which & {userId?: string}) => Page<"messages", Message>} */
    findMessages: (which) => this.#get("/moderation/tools/messages", which),
    /** Oldest first; by default five before it and five after it.
     * @type {(messageId: string, around?: {before?: number, after?: number}) =>
     *   Promise<MessageInContext>} */
    lookAtMessage: (id, around) => this.#get(path`/moderation/tools/messages/${id}`, around),
    /** Newest first.
     * @type {(messageId: string) => Promise<MessageVersion[]>} */
    listVersions: (id) =>
      this.#get(path`/moderation/tools/messages/${id}/versions`, {}, "versions"),
    /** Resolves to the tombstone.
     * @type {(messageId: string, given?: {reason?: string}) => Promise<Message>} */
    removeMessage: (id, given = {}) =>
      this.#post(path`/moderation/tools/messages/${id}/remove`, given, "message"),
    /** Restore a removed message.
     * @type {(messageId: string) => Promise<Message>} */
    restoreMessage: (id) =>
      this.#post(path`/moderation/tools/messages/${id}/restore`, {}, "message"),
    /** Counts, unless `dryRun` is false. Go on with the cursor, as long as there is one.
     * @type {(which: Which & {userId: string, dryRun?: boolean, cursor?: string | null}) =>
     *   Promise<Removed>} */
    removeMessages: (which) => this.#post("/moderation/tools/removals", which),
    /** @type {(userId: string, options?: {sharedWith?: string}) => Promise<Standing>} */
    getStanding: (userId, options) =>
      this.#get(path`/moderation/tools/users/${userId}`, options, "standing"),
    /** Newest first.
     * @type {(options?: Paging & {status?: ReportStatus, targetType?: TargetType,
     *   targetId?: string, reporterUserId?: string, moderatorUserId?: string}) =>
     *   Page<"reports", Report>} */
    findReports: (options) => this.#get("/moderation/tools/reports", options),
    /** Unresolved reports by target, unless `status` is given; the latest reported first.
     * @type {(options?: Paging & {status?: ReportStatus | null, targetType?: TargetType}) =>
     *   Page<"reportGroups", ReportGroup>} */
    listReportGroups: (options) => this.#get("/moderation/tools/report-groups", options),
    /** Those on a target that were made up to `until`; a note that is null is cleared.
     * @type {(given: {targetType: TargetType, targetId: string, until?: string,
     *   status: "triaged" | "resolved" | "dismissed", moderatorNote?: string | null}) =>
     *   Promise<ReportsResolved>} */
    resolveReports: (given) => this.#post("/moderation/tools/report-groups/resolve", given),
  };

  /** @param {string} path @param {Json} [query] @param {string} [of] */
  #get = (path, query, of) => this.#request("GET", path, { query, of });
  /** @param {string} path @param {Json} body @param {string} [of] */
  #post = (path, body, of) => this.#request("POST", path, { body, of });
  /** @param {string} path @param {Json} body @param {string} [of] */
  #put = (path, body, of) => this.#request("PUT", path, { body, of });
  /** @param {string} path @param {Json} body @param {string} [of] */
  #patch = (path, body, of) => this.#request("PATCH", path, { body, of });
  /** @param {string} path @param {Json} [body] @param {string} [of] */
  #delete = (path, body, of) => this.#request("DELETE", path, { body, of });

  /** The same key makes it safe to repeat what may have arrived.
   * @param {string} path @param {Copied} draft @param {AbortSignal} [signal]
   * @returns {Promise<Message>} */
  async #send(path, draft, signal) {
    const body = { ...draft, clientMessageId: draft.clientMessageId ?? newClientMessageId() };
    for (let left = this.#options.retries ?? RETRIES, pause = FIRST_RETRY_MS; ; pause *= 3) {
      try {
        return await this.#request("POST", path, { body, of: "message", before: signal });
      } catch (error) {
        signal?.throwIfAborted();
        if (left <= 0 || !(error instanceof ChatError) || !error.isTemporary) throw error;
        const wait = Math.max(spread(pause), (error.retryAfter ?? 0) * 1_000);
        if (wait > LONGEST_RETRY_MS) throw error;
        left -= 1;
        await new Promise((resolve) => setTimeout(resolve, wait));
      }
    }
  }

  /** `of` names what the answer is wrapped in. It is not sent once `before` is aborted.
   * @param {string} method @param {string} path @returns {Promise<any>}
   * @param {{query?: Json, body?: Json, of?: string, before?: AbortSignal}} given */
  async #request(method, path, { query = {}, body, of, before }) {
    const { fetch = (...given) => globalThis.fetch(...given), credentials } = this.#options;
    const { url, headers } = await this.#noting(this.#addressed(path, query, body));
    before?.throwIfAborted();
    const signal = abortedAfter(this.#options.timeoutMs ?? TIMEOUT_MS);
    const options = { method, credentials, headers, signal };
    const request = fetch(url, { ...options, body: JSON.stringify(body) });
    const answer = await this.#noting(answerTo(request));
    return of ? answer[of] : answer;
  }

  /** Has no timeout. Only XMLHttpRequest reports progress.
   * @param {string} path @param {FormData} body @returns {Promise<Attachment>}
   * @param {{onProgress?: (sent: number) => void, signal?: AbortSignal}} options */
  async #upload(path, body, { onProgress, signal }) {
    const { fetch = onProgress ? progressing(onProgress) : globalThis.fetch } = this.#options;
    const { credentials } = this.#options;
    const { url, headers } = await this.#noting(this.#addressed(path));
    const request = fetch(url, { method: "POST", credentials, headers, body, signal });
    return (await this.#noting(answerTo(request, { signal }))).attachment;
  }

  /** @param {string} path @returns {Promise<Blob>} */
  async #blob(path) {
    const { fetch = (...given) => globalThis.fetch(...given), credentials } = this.#options;
    const { url, headers } = await this.#noting(this.#addressed(path));
    const request = fetch(url, { method: "GET", credentials, headers });
    return this.#noting(answerTo(request, { read: (response) => response.blob() }));
  }

  /** @template T @param {Promise<T>} asked @returns {Promise<T>} */
  async #noting(asked) {
    try {
      return await asked;
    } catch (error) {
      if (error instanceof ChatError) this.#failed(error);
      throw error;
    }
  }

  /** @param {ChatError} error */
  #failed(error) {
    if (error.status === 401) for (const { connection } of this.#streams) connection.doubtLogin?.();
    this.#options.onError?.(error);
  }

  /** The URL and headers of a request.
   * @param {string} path @param {Json} [query] @param {Json} [body] */
  async #addressed(path, query = {}, body) {
    return { url: await this.#urlOf(path, query), headers: await this.#headers(body) };
  }

  /** @param {Json} [body] */
  async #headers(body) {
    const token = await valueOf(this.#options.token);
    return {
      ...(body ? { "Content-Type": "application/json" } : {}),
      ...(token ? { Authorization: `Bearer ${token}` } : {}),
      ...(await valueOf(this.#options.headers)),
    };
  }

  /** @param {string} path @param {Json} query */
  async #urlOf(path, query) {
    if (DOTS.test(path)) throw new ChatError(NO_PATH);
    const url = new URL(this.#baseUrl + path, globalThis.location?.href);
    const all = { ...query, ...(await valueOf(this.#options.query)) };
    for (const [name, value] of Object.entries(all)) {
      if (value !== undefined && value !== null) url.searchParams.set(name, value);
    }
    return url;
  }

  /** What brings a tab its events.
   * @param {any} tab @param {StreamOptions} options */
  #connection(tab, { userId, types, conversationIds }) {
    const sourceAt = (/** @type {string | null} */ id) => this.#source(id, conversationIds);
    const connect = (/** @type {any} */ reader) =>
      new Connection({ ...reader, userId, types, sourceAt });
    const { EventSource, shareStream = true } = this.#options;
    // The credentials of another EventSource are not known.
    const isShared = shareStream && userId && !conversationIds && !EventSource && canShare();
    if (!isShared) return connect(tab);
    const groupOf = () => this.#groupOf(userId, types);
    return new SharedConnection({ ...tab, userId }, { connect, groupOf });
  }

  /** What tabs that share a stream have in common.
   * @param {string} userId @param {string[]} [types] */
  async #groupOf(userId, types = []) {
    const { credentials = "", streamWith = "" } = this.#options;
    const headers = streamWith === "fetch" ? await this.#headers() : await valueOf(this.#options.token);
    const login = [String(await this.#urlOf("/stream", {})), headers ?? null, credentials, streamWith];
    return { login, stream: [...login, userId, types] };
  }

  /** @param {string | null} lastEventId @param {string[]} [followed]
   * @returns {Promise<() => EventSource | FetchSource>} */
  async #source(lastEventId, followed) {
    const { EventSource = globalThis.EventSource, credentials, fetch, ...options } = this.#options;
    const isFetched = options.streamWith === "fetch";
    const access_token = isFetched ? undefined : await valueOf(options.token);
    // EventSource does not show comments.
    const heartbeat = "event";
    const conversationIds = followed?.join();
    const given = { access_token, lastEventId, heartbeat, conversationIds };
    const url = await this.#urlOf("/stream", given);
    if (!isFetched) return () => new EventSource(url, { withCredentials: credentials === "include" });
    const headers = { Accept: "text/event-stream", ...(await this.#headers()) };
    return () => new FetchSource(url, { fetch, credentials, headers });
  }
}

/**
 * The live stream, as one tab has it. It begins at the last known position again where it was
 * interrupted, so that the service replays missed events.
 */
export class ChatStream {
  #connection;
  #options;
  #hasOpened = false;
  /** Whether it has resumed, and nothing has named yet what else changed. */
  #isWaiting = false;
  /** @type {string | null} */
  #lastEventId = null;
  #seen = new Set();
  /** @type {StreamStatus | null} */
  #status = null;

  /** `connect(tab)` opens a connection; `chat.stream(options)` makes this.
   * @param {(tab: {position: () => string | null, deliver: (frame: any) => void}) =>
   *   {reconnect: () => void, close: () => void}} connect
   * @param {StreamOptions} options */
  constructor(connect, options) {
    this.#options = options;
    this.#setStatus("connecting");
    this.#connection = connect({
      position: () => this.#lastEventId,
      deliver: (frame) => this.#take(frame),
    });
  }

  get status() {
    return this.#status;
  }

  /** Try again now instead of after the pause, as when the network is back. */
  reconnect() {
    if (this.#status === "reconnecting") this.#connection.reconnect();
  }

  close() {
    this.#connection.close();
    this.#setStatus("closed");
  }

  /** @param {any} frame  a `Frame` of shared-stream.js */
  #take(frame) {
    if (this.#isClosed) return;
    if (frame.type === "event") this.#received(frame);
    else if (frame.type === "open") this.#opened(frame);
    else if (frame.type === "ended") this.close();
    else {
      this.#setStatus("reconnecting");
      if (this.#isClosed) return;
      if (frame.type === "refused") this.#options.onRefused?.({ status: frame.status });
      if (frame.type === "signedOut") this.#signedOut();
    }
  }

  /** @param {{isBlind: boolean}} frame */
  #opened({ isBlind }) {
    const isResumed = this.#hasOpened;
    this.#hasOpened = true;
    this.#isWaiting = isResumed;
    this.#setStatus("live");
    if (!this.#isClosed) this.#options.onOpen?.({ isResumed });
    if (!isResumed || !isBlind || this.#isClosed) return;
    this.#reset({ type: "stream.reset", reason: "position_unknown" });
  }

  #signedOut() {
    this.#hasOpened = this.#isWaiting = false;
    this.#lastEventId = null;
    this.#options.onSignedOut?.();
  }

  /** Safe as soon as a listener was called. */
  get #isClosed() {
    return this.#status === "closed";
  }

  /** @param {{name: string, data: string, lastEventId: string}} frame */
  #received({ name, data, lastEventId }) {
    // An edit carries the id of its message, which may be old: resuming there would repeat much.
    // EventSource does not show the frame that follows it with the newest position; an older
    // position repeats some events, and loses none.
    if (lastEventId && name !== "message.updated" && name !== "message.deleted") {
      this.#lastEventId = lastEventId;
    }
    if (name === "stream.opened") return;
    const event = JSON.parse(data);
    if (name === "stream.ping") this.#pinged();
    else if (name === "stream.reset") this.#reset(event);
    else if (name === "stream.changed") this.#changed(event);
    else if (name !== "message.created" || this.#isNew(event.message.id)) {
      this.#options.onEvent?.(event);
    }
  }

  /** The first one follows the replay and `stream.changed`, if the service has that. */
  #pinged() {
    if (!this.#isWaiting) return;
    this.#changed({ type: "stream.changed", all: true, conversations: NONE_NAMED });
  }

  /** @param {ResetEvent} event */
  #reset(event) {
    this.#isWaiting = false;
    this.#options.onReset?.(event);
  }

  /** @param {ChangedEvent} event */
  #changed(event) {
    this.#isWaiting = false;
    this.#options.onChanged?.(event);
  }

  /** @param {string} messageId */
  #isNew(messageId) {
    if (this.#seen.has(messageId)) return false;
    this.#seen.add(messageId);
    // A Set keeps the order of insertion: the first one is the oldest.
    if (this.#seen.size > REMEMBERED_MESSAGES) this.#seen.delete(this.#seen.values().next().value);
    return true;
  }

  /** @param {StreamStatus} status */
  #setStatus(status) {
    if (status === this.#status) return;
    this.#status = status;
    this.#options.onStatus?.(status);
  }
}

/**
 * One stream, over EventSource, which reconnects automatically and names the position it has seen. It
 * gives up on any answer but 200; then, and where `fetch` reads the stream, a new one is opened at
 * the reader's position, after a pause.
 */
class Connection {
  #reader;
  /** @type {any} */
  #source = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #silence;
  #failures = 0;
  #connects = 0;
  /** @type {string | null} */
  #from = null;
  /** Whether the source has not been open yet. */
  #isNew = true;
  /** Whether it is open, and the service has not named its user yet. */
  #isUnconfirmed = false;
  /** Whether its reader has closed it, which listeners may do at any time. */
  #isClosed = false;

  /** `sourceAt(lastEventId)` resolves to a function that opens a source.
   * @param {{userId?: string, types?: string[], position: () => string | null,
   *   deliver: (frame: any) => void,
   *   sourceAt: (lastEventId: string | null) => Promise<() => EventSource | FetchSource>}} reader */
  constructor(reader) {
    this.#reader = reader;
    this.reconnect();
  }

  async reconnect() {
    if (this.#isClosed) return;
    this.#disconnect();
    const connect = this.#connects;
    this.#from = this.#reader.position();
    try {
      const open = await this.#reader.sourceAt(this.#from);
      // It may have been closed, or opened again, while a token was waited for.
      if (connect === this.#connects) this.#listen(open());
    } catch {
      if (connect === this.#connects) this.#refused();
    }
  }

  close() {
    this.#isClosed = true;
    this.#disconnect();
  }

  #disconnect() {
    this.#connects += 1;
    clearTimeout(this.#timer);
    clearTimeout(this.#silence);
    this.#source?.close();
    this.#source = null;
  }

  /** Another user, or nobody, is logged in. */
  signOut() {
    if (this.#isClosed) return;
    this.#pause();
    this.#reader.deliver({ type: "signedOut" });
  }

  /** @param {EventSource | FetchSource} source */
  #listen(source) {
    this.#source = source;
    this.#isNew = true;
    source.addEventListener("open", () => this.#connected());
    source.addEventListener("error", () => this.#failed());
    for (const name of new Set([...EVENT_TYPES, ...(this.#reader.types ?? [])])) {
      source.addEventListener(name, (event) => this.#received(name, /** @type {any} */ (event)));
    }
  }

  #connected() {
    this.#isUnconfirmed = true;
    if (this.#reader.userId === undefined) this.#opened();
  }

  #opened() {
    // EventSource does not show an id that comes without an event: a new one begins blindly where
    // there was no event yet.
    const from = this.#isNew ? this.#from : null;
    const isBlind = this.#isNew && from === null;
    this.#failures = 0;
    this.#isNew = this.#isUnconfirmed = false;
    this.#reader.deliver({ type: "open", from, isBlind });
  }

  #failed() {
    const CLOSED = 2;
    const { readyState, status, isBroken, retryMs } = this.#source;
    clearTimeout(this.#silence);
    if (readyState === CLOSED && !isBroken) return this.#refused(status);
    if (isBroken) this.#pause(retryMs);
    this.#reader.deliver({ type: "reconnecting" });
  }

  /** @param {number} [status] */
  #refused(status) {
    const NO_CONTENT = 204;
    this.#pause();
    this.#reader.deliver(status === NO_CONTENT ? { type: "ended" } : { type: "refused", status });
  }

  /** @param {number} [least] */
  #pause(least = 0) {
    this.#disconnect();
    const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** this.#failures);
    this.#timer = setTimeout(() => this.reconnect(), Math.max(spread(pause), least));
    this.#failures += 1;
  }

  /** @param {string} name @param {MessageEvent} event */
  #received(name, { data, lastEventId }) {
    const { userId } = this.#reader;
    const isOpening = name === "stream.opened" && userId !== undefined;
    if (isOpening && JSON.parse(data).userId !== userId) return this.signOut();
    const connect = this.#connects;
    if (this.#isUnconfirmed) this.#opened();
    this.#reader.deliver({ type: "event", name, data, lastEventId });
    if (name === "stream.ping" && connect === this.#connects) this.#expect(JSON.parse(data));
  }

  /** Without another one for too long the connection is dead, though no error was raised.
   * @param {{intervalMs: number}} ping */
  #expect({ intervalMs }) {
    clearTimeout(this.#silence);
    this.#silence = setTimeout(() => {
      const connect = this.#connects;
      this.#reader.deliver({ type: "reconnecting" });
      // The listener may have closed it, or have it reconnect.
      if (connect === this.#connects) this.reconnect();
    }, MISSED_PINGS * intervalMs);
  }
}

/** A new idempotency key; also where the page is not served over HTTPS (no crypto.randomUUID). */
export function newClientMessageId() {
  const empty = new Uint8Array(16);
  // Node.js 18 has no global `crypto`: a key has to be unique, and need not be a secret.
  const random = () => Math.floor(Math.random() * 256);
  const bytes = globalThis.crypto?.getRandomValues(empty) ?? empty.map(random);
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The parts of a path, each id as one segment of it.
 * @param {TemplateStringsArray} parts @param {...string} ids */
function path(parts, ...ids) {
  return String.raw({ raw: parts }, ...ids.map(encodeURIComponent));
}

/** Values that are not available offline, such as a new token, are retried.
 * @template Value @param {Given<Value>} given @returns {Promise<Value>} */
async function valueOf(given) {
  try {
    return await (given instanceof Function ? given() : given);
  } catch (cause) {
    throw unreachable(cause);
  }
}

/** TypeScript before 4.9 does not know it.
 * @type {(ms: number) => AbortSignal} */
const abortedAfter = (ms) => /** @type {any} */ (AbortSignal).timeout(ms);

/** Half of a pause is random, so that many clients do not reconnect at the same moment.
 * @param {number} ms */
function spread(ms) {
  return ms * (0.5 + Math.random() / 2);
}

/** `fetch` for an upload, with progress.
 * @param {(sent: number) => void} onProgress
 * @returns {(url: URL, options: Json) => Promise<Response>} */
function progressing(onProgress) {
  return (url, { method, credentials, headers, body, signal }) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const request = new XMLHttpRequest();
      signal?.addEventListener("abort", () => request.abort());
      request.open(method, url);
      request.withCredentials = credentials === "include";
      Object.entries(headers).forEach(([name, value]) => request.setRequestHeader(name, value));
      request.upload.onprogress = ({ loaded, total }) => onProgress(loaded / total);
      request.onerror = () => reject(new TypeError("the connection was lost"));
      request.onabort = () => reject(signal.reason);
      request.onload = () => {
        const retryAfter = request.getResponseHeader("Retry-After");
        const sent = retryAfter === null ? undefined : { "Retry-After": retryAfter };
        resolve(new Response(request.response, { status: request.status, headers: sent }));
      };
      request.send(body);
    });
}

/** `read` reads the response if it was not refused; `signal` is what may have ended the request.
 * @param {Promise<Response>} request @returns {Promise<any>}
 * @param {{read?: (response: Response) => Promise<any>, signal?: AbortSignal}} how */
async function answerTo(request, { read, signal } = {}) {
  let response;
  let answer;
  try {
    response = await request;
    answer = await (response.ok && read ? read(response) : response.json().catch(notJson));
  } catch (cause) {
    if (signal?.aborted) throw signal.reason;
    throw unreachable(cause);
  }
  if (response.ok && answer !== null) return answer;
  const status = response.ok ? 502 : response.status;
  const { code = "UNEXPECTED_ANSWER", message = wordsFor(status) } = answer?.error ?? {};
  throw new ChatError({ status, code, message, retryAfter: retryAfterOf(response) });
}

/** @param {unknown} cause */
function unreachable(cause) {
  const message = "The chat is out of reach.";
  return new ChatError({ status: 0, code: "UNREACHABLE", message, cause });
}

/** For a proxy's answer, which is a page or empty; HTTP/2 has no words for a status either.
 * @param {number} status */
function wordsFor(status) {
  if (status === 413) return "This is too large.";
  if (status === 429) return "There were too many requests.";
  if (status >= 500) return "The chat is not available just now.";
  return `The answer is not the chat's: status ${status}.`;
}

/** Seconds, or until a date, by the clock of the responding server; null if there is none.
 * @param {Response} response */
function retryAfterOf({ headers }) {
  const after = headers.get("Retry-After") ?? "";
  const now = Date.parse(headers.get("Date") ?? "") || Date.now();
  const seconds = /^\d+$/.test(after) ? Number(after) : Math.ceil((Date.parse(after) - now) / 1_000);
  return Number.isNaN(seconds) ? null : Math.max(0, seconds);
}

/** A proxy's error page is an answer that is not JSON; a connection that broke is no answer.
 * @param {unknown} error */
function notJson(error) {
  if (error instanceof SyntaxError) return null;
  throw error;
}
