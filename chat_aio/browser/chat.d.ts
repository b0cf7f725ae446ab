/** A new idempotency key; also where the page is not served over HTTPS (no crypto.randomUUID). */
export function newClientMessageId(): string;
/** A refusal of the service (with its `code` and `message`), or a failure to reach it. */
export class ChatError extends Error {
    /** The error of sends from a closed store. */
    static closed(): ChatError;
    /** The error of a stream whose user is no longer logged in. */
    static signedOut(): ChatError;
    /** `status` is 0 if there was no answer, with the `cause`; `retryAfter` is in seconds, if the
     * service has sent one.
     * @param {{status: number, code: string, message: string, retryAfter?: number | null,
     *   cause?: unknown}} given */
    constructor({ status, code, message, retryAfter, ...reason }: {
        status: number;
        code: string;
        message: string;
        retryAfter?: number | null;
        cause?: unknown;
    });
    status: number;
    code: string;
    retryAfter: number | null;
    /** Whether the same request may succeed later; a send then needs the same clientMessageId. */
    get isTemporary(): boolean;
}
export class Chat {
    /** @param {string} [baseUrl] @param {ChatOptions} [options] */
    constructor(baseUrl?: string | undefined, options?: ChatOptions | undefined);
    /** The direct conversation with someone: the same one, however often this is called.
     * @type {(otherUserId: string, more?: {metadata?: Json}) => Promise<ConversationWithUnread>} */
    getOrCreateConversation: (otherUserId: string, more?: {
        metadata?: Json;
    }) => Promise<ConversationWithUnread>;
    /** Most recently active first; `include` brings `lastMessages`, `unreadSummaries` and `users` by
     * id.
     * @type {(options?: Listing) => Page<"conversations", ConversationWithUnread> &
     *   Promise<{lastMessages?: {[id: string]: Message}, unreadSummaries?: {[id: string]:
     * UnreadSummary},
     *   users?: {[id: string]: User}}>} */
    listConversations: (options?: Listing) => Page<"conversations", ConversationWithUnread> & Promise<{
        lastMessages?: {
            [id: string]: Message;
        } | undefined;
        unreadSummaries?: {
            [id: string]: UnreadSummary;
        } | undefined;
        users?: {
            [id: string]: User;
        } | undefined;
    }>;
    /** @type {(conversationId: string) => Promise<ConversationWithUnread>} */
    getConversation: (conversationId: string) => Promise<ConversationWithUnread>;
    /** Stored once, however often it is tried; a `clientMessageId` is made where there is none.
     * Once `signal` is aborted it is not tried again, and rejects with the signal's reason.
     * @type {(conversationId: string, composed: Composed,
     *   given?: {signal?: AbortSignal}) => Promise<Message>} */
    sendMessage: (conversationId: string, composed: Composed, given?: {
        signal?: AbortSignal;
    }) => Promise<Message>;
    /** Newest first; `around` or `after` a message, or `aroundSeq`: then there may be a
     * `previousCursor`.
     * @type {(conversationId: string, options?: PagingTimeline) => PageOfTimeline} */
    listMessages: (conversationId: string, options?: PagingTimeline) => PageOfTimeline;
    /** @type {(conversationId: string, messageId: string) => Promise<Message>} */
    getMessage: (conversationId: string, messageId: string) => Promise<Message>;
    /** As `listMessages`, without the root.
     * @type {(conversationId: string, rootId: string, options?: PagingTimeline) => PageOfTimeline} */
    listThread: (conversationId: string, rootId: string, options?: PagingTimeline) => PageOfTimeline;
    /** The most relevant first; of one conversation, or of all. With `prefix` also longer words that
     * begin with the last one, if the service has `prefix_search`. Filters need `search_filters`;
     * with them `q` may be null: then the newest come first.
     * @type {(q: string | null, options?: PagingMessages & SearchFilters &
     *   {conversationId?: string | null, prefix?: boolean}) => PageOfMessages} */
    searchMessages: (q: string | null, options?: PagingMessages & SearchFilters & {
        conversationId?: string | null;
        prefix?: boolean;
    }) => PageOfMessages;
    /** Mark messages as read, up to this one.
     * @type {(conversationId: string, messageId: string) => Promise<{ok: true}>} */
    markRead: (conversationId: string, messageId: string) => Promise<{
        ok: true;
    }>;
    /** Without `mentions` they stay as they are; metadata may be changed without the body.
     * @type {(messageId: string, changed: {body?: string, mentions?: string[]} & NewMetadata) =>
     *   Promise<Message>} */
    editMessage: (messageId: string, changed: {
        body?: string;
        mentions?: string[];
    } & NewMetadata) => Promise<Message>;
    /** Resolves to the tombstone.
     * @type {(messageId: string) => Promise<Message>} */
    deleteMessage: (messageId: string) => Promise<Message>;
    /** Resolves to the copy in `conversationId`; tried again as a send is.
     * @type {(messageId: string, target: Copied & {conversationId: string}) => Promise<Message>} */
    forwardMessage: (messageId: string, target: Copied & {
        conversationId: string;
    }) => Promise<Message>;
    /** @type {(messageId: string, emoji: string) => Promise<Message>} */
    addReaction: (messageId: string, emoji: string) => Promise<Message>;
    /** @type {(messageId: string, emoji: string) => Promise<Message>} */
    removeReaction: (messageId: string, emoji: string) => Promise<Message>;
    /** The live events of the current user.
     * @type {(options?: StreamOptions) => ChatStream} */
    stream: (options?: StreamOptions) => ChatStream;
    /** The user has logged out: the streams of all tabs with this login end, and open again only once
     * they are logged in again. */
    signedOut: () => void;
    /** With a `key` of the host, which needs `conversation_keys`, the group that has it already.
     * @type {(group?: GroupFields & {userIds?: string[], metadata?: Json, key?: string}) =>
     *   Promise<ConversationWithUnread>} */
    createGroupConversation: (group?: GroupFields & {
        userIds?: string[];
        metadata?: Json;
        key?: string;
    }) => Promise<ConversationWithUnread>;
    /** A name that is null is cleared; `frozen`, `slowModeSeconds`, `topic` and `history` need
     * `room_controls`.
     * @type {(conversationId: string, changed: GroupFields & NewMetadata) =>
     *   Promise<ConversationWithUnread>} */
    updateConversation: (conversationId: string, changed: GroupFields & NewMetadata) => Promise<ConversationWithUnread>;
    /** @type {(conversationId: string, userIds: string[]) => Promise<ConversationWithUnread>} */
    addParticipants: (conversationId: string, userIds: string[]) => Promise<ConversationWithUnread>;
    /** Remove a member; with the user's own id: leave.
     * @type {(conversationId: string, userId: string) => Promise<ConversationWithUnread>} */
    removeParticipant: (conversationId: string, userId: string) => Promise<ConversationWithUnread>;
    /** @type {(conversationId: string, userId: string, role: ParticipantRole) =>
     *   Promise<ConversationWithUnread>} */
    setParticipantRole: (conversationId: string, userId: string, role: ParticipantRole) => Promise<ConversationWithUnread>;
    /** All participants with their roles: others are removed. Needs `conversation_keys`.
     * @type {(conversationId: string, participants: {[userId: string]: ParticipantRole}) =>
     *   Promise<ConversationWithUnread>} */
    setParticipants: (conversationId: string, participants: {
        [userId: string]: ParticipantRole;
    }) => Promise<ConversationWithUnread>;
    /** @type {(conversationId: string, terms?: {expiresInSeconds?: number, maxUses?: number,
     *   requiresApproval?: boolean, metadata?: Json}) => Promise<Invite>} */
    createInvite: (conversationId: string, terms?: {
        expiresInSeconds?: number;
        maxUses?: number;
        requiresApproval?: boolean;
        metadata?: Json;
    }) => Promise<Invite>;
    /** Newest first.
     * @type {(conversationId: string) => Promise<Invite[]>} */
    listInvites: (conversationId: string) => Promise<Invite[]>;
    /** @type {(conversationId: string, code: string) => Promise<{ok: true}>} */
    revokeInvite: (conversationId: string, code: string) => Promise<{
        ok: true;
    }>;
    /** The target of an invite link.
     * @type {(code: string) => Promise<InvitePreview>} */
    getInvitePreview: (code: string) => Promise<InvitePreview>;
    /** "joined", or "pending" until an admin agrees.
     * @type {(code: string, note?: Note) => Promise<JoinResult>} */
    acceptInvite: (code: string, note?: Note) => Promise<JoinResult>;
    /** @type {(conversationId: string, note?: Note) => Promise<JoinRequest>} */
    requestToJoin: (conversationId: string, note?: Note) => Promise<JoinRequest>;
    /** Newest first; pending ones unless `status` is given.
     * @type {(conversationId: string, options?: Paging & {status?: JoinRequestStatus}) =>
     *   Page<"joinRequests", JoinRequest>} */
    listJoinRequests: (conversationId: string, options?: Paging & {
        status?: JoinRequestStatus;
    }) => Page<"joinRequests", JoinRequest>;
    /** @type {(conversationId: string, userId: string, decision: "approve" | "deny") =>
     *   Promise<JoinRequestDecisionResult>} */
    resolveJoinRequest: (conversationId: string, userId: string, decision: "approve" | "deny") => Promise<JoinRequestDecisionResult>;
    /** The channels, most recently active first; with `q` those with this text in their name or topic.
     * @type {(paging?: Paging & {q?: string}) => Page<"channels", ChannelPreview>} */
    listPublicConversations: (paging?: Paging & {
        q?: string;
    }) => Page<"channels", ChannelPreview>;
    /** Join a channel, or request it.
     * @type {(conversationId: string, note?: Note) => Promise<JoinResult>} */
    joinConversation: (conversationId: string, note?: Note) => Promise<JoinResult>;
    /** Names and images of up to 100 users, in this order, or of those whom `q` finds.
     * @type {(which: {ids: string[]} | {q: string, limit?: number}) => Promise<User[]>} */
    findUsers: (which: {
        ids: string[];
    } | {
        q: string;
        limit?: number;
    }) => Promise<User[]>;
    /** While the user types, every three seconds at most; false: they have stopped.
     * @type {(conversationId: string, isTyping?: boolean) => Promise<{ok: true}>} */
    sendTyping: (conversationId: string, isTyping?: boolean) => Promise<{
        ok: true;
    }>;
    /** By user id, for users who share a conversation with the caller; 50 at most.
     * @type {(userIds: string[]) => Promise<{[userId: string]: Presence}>} */
    getPresence: (userIds: string[]) => Promise<{
        [userId: string]: Presence;
    }>;
    /** For moderators: the messages held by filters, newest first.
     * @type {(paging?: Paging) => Page<"heldMessages", HeldMessage>} */
    listHeldMessages: (paging?: Paging) => Page<"heldMessages", HeldMessage>;
    /** Send it in the name of its sender.
     * @type {(heldId: string) => Promise<Message>} */
    releaseHeldMessage: (heldId: string) => Promise<Message>;
    /** @type {(heldId: string) => Promise<{ok: true}>} */
    discardHeldMessage: (heldId: string) => Promise<{
        ok: true;
    }>;
    /** Bans from a group and pins, if the service has `room_controls`. */
    rooms: {
        /** @type {(conversationId: string, given: {userId: string, reason?: string}) =>
         *   Promise<ConversationBan>} */
        banFromConversation: (conversationId: string, given: {
            userId: string;
            reason?: string;
        }) => Promise<ConversationBan>;
        /** @type {(conversationId: string, userId: string) => Promise<{ok: true}>} */
        unbanFromConversation: (conversationId: string, userId: string) => Promise<{
            ok: true;
        }>;
        /** Newest first.
         * @type {(conversationId: string, paging?: Paging) =>
         *   Page<"conversationBans", ConversationBan>} */
        listConversationBans: (conversationId: string, paging?: Paging) => Page<"conversationBans", ConversationBan>;
        /** @type {(conversationId: string, messageId: string) => Promise<ConversationWithUnread>} */
        pinMessage: (conversationId: string, messageId: string) => Promise<ConversationWithUnread>;
        /** @type {(conversationId: string, messageId: string) => Promise<ConversationWithUnread>} */
        unpinMessage: (conversationId: string, messageId: string) => Promise<ConversationWithUnread>;
        /** The latest pinned first.
         * @type {(conversationId: string) => Promise<Message[]>} */
        listPins: (conversationId: string) => Promise<Message[]>;
    };
    /** Mentions and threads of the user, their view of conversations, and their number of unread
     * messages, if the service has `inbox`. */
    inbox: {
        /** The user's own view: `hidden` until the next message; with `clear` no message up to now is
         * shown to them again.
         * @type {(conversationId: string, changed: {archived?: boolean, favourite?: boolean,
         *   hidden?: boolean, clear?: boolean}) => Promise<ConversationWithUnread>} */
        changeView: (conversationId: string, changed: {
            archived?: boolean;
            favourite?: boolean;
            hidden?: boolean;
            clear?: boolean;
        }) => Promise<ConversationWithUnread>;
        /** Unread messages in all conversations. Request it once the stream is open; `unread.updated`
         * then has each new number.
         * @type {() => Promise<UnreadTotals>} */
        countUnread: () => Promise<UnreadTotals>;
        /** Messages that mention the user, newest first.
         * @type {(paging?: Paging) => Page<"mentions", Mention>} */
        listMentions: (paging?: Paging) => Page<"mentions", Mention>;
        /** This message and all newer ones count as unread again, until one of them is marked read.
         * @type {(conversationId: string, messageId: string) => Promise<{ok: true}>} */
        markUnread: (conversationId: string, messageId: string) => Promise<{
            ok: true;
        }>;
        /** Threads that the user follows, has written or is mentioned in; the latest reply first.
         * @type {(paging?: Paging) => Page<"threads", ViewedThread>} */
        listThreads: (paging?: Paging) => Page<"threads", ViewedThread>;
        /** @type {(conversationId: string, rootId: string) => Promise<{ok: true}>} */
        followThread: (conversationId: string, rootId: string) => Promise<{
            ok: true;
        }>;
        /** @type {(conversationId: string, rootId: string) => Promise<{ok: true}>} */
        unfollowThread: (conversationId: string, rootId: string) => Promise<{
            ok: true;
        }>;
        /** @type {(conversationId: string, rootId: string, messageId: string) =>
         *   Promise<{ok: true}>} */
        markThreadRead: (conversationId: string, rootId: string, messageId: string) => Promise<{
            ok: true;
        }>;
    };
    /** Messages that are visible while they are written, if the service has the plugin Drafts. */
    drafts: {
        /** The open drafts, the oldest first; events of `draft.updated` continue them.
         * @type {(conversationId: string) => Promise<Draft[]>} */
        list: (conversationId: string) => Promise<Draft[]>;
        /** For assistants.
         * @type {(conversationId: string, given?: {replyToMessageId?: string,
         *   threadRootMessageId?: string, askedByUserId?: string, clientMessageId?: string}) =>
         *   Promise<Draft>} */
        begin: (conversationId: string, given?: {
            replyToMessageId?: string;
            threadRootMessageId?: string;
            askedByUserId?: string;
            clientMessageId?: string;
        }) => Promise<Draft>;
        /** Parts are numbered from 0 on.
         * @type {(conversationId: string, part: {draftId: string, index: number, text: string}) =>
         *   Promise<{isStopped: boolean}>} */
        append: (conversationId: string, part: {
            draftId: string;
            index: number;
            text: string;
        }) => Promise<{
            isStopped: boolean;
        }>;
        /** Send it.
         * @type {(conversationId: string, given: {draftId: string, mentions?: string[],
         *   metadata?: Json}) => Promise<Message>} */
        finish: (conversationId: string, given: {
            draftId: string;
            mentions?: string[];
            metadata?: Json;
        }) => Promise<Message>;
        /** Stop an assistant's draft.
         * @type {(conversationId: string, draftId: string) => Promise<{ok: true}>} */
        stop: (conversationId: string, draftId: string) => Promise<{
            ok: true;
        }>;
        /** @type {(conversationId: string, draftId: string) => Promise<{ok: true}>} */
        cancel: (conversationId: string, draftId: string) => Promise<{
            ok: true;
        }>;
    };
    /** Deletion of conversations, if the host has `can_delete`. */
    conversations: {
        /** Delete a conversation for everyone and for good, if the host's `can_delete` allows it.
         * @type {(conversationId: string, reason?: string) => Promise<{ok: true}>} */
        deleteConversation: (conversationId: string, reason?: string) => Promise<{
            ok: true;
        }>;
    };
    /** The notification settings, if the service has the plugin Notifications. */
    notifications: {
        /** @type {() => Promise<{quietHours: QuietHours | null}>} */
        getSettings: () => Promise<{
            quietHours: QuietHours | null;
        }>;
        /** Null: none.
         * @type {(quietHours: QuietHours | null) =>
         *   Promise<{quietHours: QuietHours | null}>} */
        setQuietHours: (quietHours: QuietHours | null) => Promise<{
            quietHours: QuietHours | null;
        }>;
        /** @type {(conversationId: string) =>
         *   Promise<{level: NotificationLevel, isDefault: boolean}>} */
        getLevel: (conversationId: string) => Promise<{
            level: NotificationLevel;
            isDefault: boolean;
        }>;
        /** Null: the default.
         * @type {(conversationId: string, level: NotificationLevel | null) =>
         *   Promise<{level: NotificationLevel, isDefault: boolean}>} */
        setLevel: (conversationId: string, level: NotificationLevel | null) => Promise<{
            level: NotificationLevel;
            isDefault: boolean;
        }>;
        /** Show notifications in this browser, also while no page is open. It asks the user, so call it
         * in a click; and with `ask: false` whenever the page opens.
         * @type {(options?: PushOptions) => Promise<Device | null>} */
        enablePush: (options?: PushOptions) => Promise<Device | null>;
        /** When the user logs out, or wants no more.
         * @type {() => Promise<void>} */
        disablePush: () => Promise<void>;
        /** The user's devices, the kinds that may be registered, and the key of browsers.
         * @type {() => Promise<{devices: Device[], kinds: string[], publicKey: string | null}>} */
        listDevices: () => Promise<{
            devices: Device[];
            kinds: string[];
            publicKey: string | null;
        }>;
        /** A device of a kind that the service has a channel for; `enablePush` registers browsers.
         * @type {(device: {kind: string, token: string, keys?: {[name: string]: string}}) =>
         *   Promise<Device>} */
        registerDevice: (device: {
            kind: string;
            token: string;
            keys?: {
                [name: string]: string;
            } | undefined;
        }) => Promise<Device>;
        /** @type {(deviceId: string) => Promise<{ok: true}>} */
        removeDevice: (deviceId: string) => Promise<{
            ok: true;
        }>;
    };
    /** Files of messages, if the service has the plugin Attachments. */
    attachments: {
        /** For `attachmentIds` of a message; `onProgress` is called with the sent part, up to 1.
         * `signal` ends it: it then rejects with the signal's reason, which is no ChatError.
         * @type {(conversationId: string, file: Blob, options?: {name?: string,
         *   onProgress?: (sent: number) => void, signal?: AbortSignal}) => Promise<Attachment>} */
        upload: (conversationId: string, file: Blob, options?: {
            name?: string | undefined;
            onProgress?: ((sent: number) => void) | undefined;
            signal?: AbortSignal | undefined;
        } | undefined) => Promise<Attachment>;
        /** @type {(attachmentId: string) => Promise<Blob>} */
        get: (attachmentId: string) => Promise<Blob>;
        /** In WebP; rejects where `hasThumbnail` is false.
         * @type {(attachmentId: string) =>
         *   Promise<Blob>} */
        getThumbnail: (attachmentId: string) => Promise<Blob>;
        /** For an element of the page, if cookies identify the user.
         * @type {(attachmentId: string) => Promise<string>} */
        url: (attachmentId: string) => Promise<string>;
        /** Whether headers identify the user: then an element of the page cannot fetch it.
         * @type {() => Promise<boolean>} */
        needsHeaders: () => Promise<boolean>;
    };
    moderation: {
        /** @type {(targetUserId: string) => Promise<Block>} */
        blockUser: (targetUserId: string) => Promise<Block>;
        /** @type {(targetUserId: string) => Promise<{ok: true}>} */
        unblockUser: (targetUserId: string) => Promise<{
            ok: true;
        }>;
        /** The user's blocks.
         * @type {(paging?: Paging) => Page<"blocks", Block>} */
        listBlockedUsers: (paging?: Paging) => Page<"blocks", Block>;
        /** @type {(conversationId: string) => Promise<Mute>} */
        muteConversation: (conversationId: string) => Promise<Mute>;
        /** @type {(conversationId: string) => Promise<{ok: true}>} */
        unmuteConversation: (conversationId: string) => Promise<{
            ok: true;
        }>;
        /** @type {(paging?: Paging) => Page<"mutes", Mute>} */
        listMutedConversations: (paging?: Paging) => Page<"mutes", Mute>;
        /** @type {(given: {targetType: TargetType, targetId: string, reason: string}) =>
         *   Promise<Report>} */
        report: (given: {
            targetType: TargetType;
            targetId: string;
            reason: string;
        }) => Promise<Report>;
        /** Newest first; this and all below is for moderators.
         * @type {(options?: Paging & {status?: ReportStatus, targetType?: TargetType}) =>
         *   Page<"reports", Report>} */
        listReports: (options?: Paging & {
            status?: ReportStatus;
            targetType?: TargetType;
        }) => Page<"reports", Report>;
        /** @type {(reportId: string) => Promise<Report>} */
        getReport: (reportId: string) => Promise<Report>;
        /** A note that is null is cleared.
         * @type {(reportId: string, changed: {status: ReportStatus, moderatorNote?: string | null}) =>
         *   Promise<Report>} */
        updateReport: (reportId: string, changed: {
            status: ReportStatus;
            moderatorNote?: string | null;
        }) => Promise<Report>;
        /** Newest first.
         * @type {(options?: Paging & {activeOnly?: boolean}) => Page<"bans", Ban>} */
        listBans: (options?: Paging & {
            activeOnly?: boolean;
        }) => Page<"bans", Ban>;
        /** @type {(given: {targetUserId: string, reason?: string, expiresAt?: string}) =>
         *   Promise<Ban>} */
        banUser: (given: {
            targetUserId: string;
            reason?: string;
            expiresAt?: string;
        }) => Promise<Ban>;
        /** @type {(banId: string) => Promise<Ban>} */
        unbanUser: (banId: string) => Promise<Ban>;
    };
    /** For moderators, if the service has `moderation_tools`. */
    moderationTools: {
        /** In any conversation; a page may be short, even empty: go on with its cursor.
         * @type {(which?: Paging & Which & {userId?: string}) => Page<"messages", Message>} */
        findMessages: (which?: Paging & Which & {
            userId?: string;
        }) => Page<"messages", Message>;
        /** Oldest first; by default five before it and five after it.
         * @type {(messageId: string, around?: {before?: number, after?: number}) =>
         *   Promise<MessageInContext>} */
        lookAtMessage: (messageId: string, around?: {
            before?: number;
            after?: number;
        }) => Promise<MessageInContext>;
        /** Newest first.
         * @type {(messageId: string) => Promise<MessageVersion[]>} */
        listVersions: (messageId: string) => Promise<MessageVersion[]>;
        /** Resolves to the tombstone.
         * @type {(messageId: string, given?: {reason?: string}) => Promise<Message>} */
        removeMessage: (messageId: string, given?: {
            reason?: string;
        }) => Promise<Message>;
        /** Restore a removed message.
         * @type {(messageId: string) => Promise<Message>} */
        restoreMessage: (messageId: string) => Promise<Message>;
        /** Counts, unless `dryRun` is false. Go on with the cursor, as long as there is one.
         * @type {(which: Which & {userId: string, dryRun?: boolean, cursor?: string | null}) =>
         *   Promise<Removed>} */
        removeMessages: (which: Which & {
            userId: string;
            dryRun?: boolean;
            cursor?: string | null;
        }) => Promise<Removed>;
        /** @type {(userId: string, options?: {sharedWith?: string}) => Promise<Standing>} */
        getStanding: (userId: string, options?: {
            sharedWith?: string;
        }) => Promise<Standing>;
        /** Newest first.
         * @type {(options?: Paging & {status?: ReportStatus, targetType?: TargetType,
         *   targetId?: string, reporterUserId?: string, moderatorUserId?: string}) =>
         *   Page<"reports", Report>} */
        findReports: (options?: Paging & {
            status?: ReportStatus;
            targetType?: TargetType;
            targetId?: string;
            reporterUserId?: string;
            moderatorUserId?: string;
        }) => Page<"reports", Report>;
        /** Unresolved reports by target, unless `status` is given; the latest reported first.
         * @type {(options?: Paging & {status?: ReportStatus | null, targetType?: TargetType}) =>
         *   Page<"reportGroups", ReportGroup>} */
        listReportGroups: (options?: Paging & {
            status?: ReportStatus | null;
            targetType?: TargetType;
        }) => Page<"reportGroups", ReportGroup>;
        /** Those on a target that were made up to `until`; a note that is null is cleared.
         * @type {(given: {targetType: TargetType, targetId: string, until?: string,
         *   status: "triaged" | "resolved" | "dismissed", moderatorNote?: string | null}) =>
         *   Promise<ReportsResolved>} */
        resolveReports: (given: {
            targetType: TargetType;
            targetId: string;
            until?: string;
            status: "triaged" | "resolved" | "dismissed";
            moderatorNote?: string | null;
        }) => Promise<ReportsResolved>;
    };
    #private;
}
/**
 * The live stream, as one tab has it. It begins at the last known position again where it was
 * interrupted, so that the service replays missed events.
 */
export class ChatStream {
    /** `connect(tab)` opens a connection; `chat.stream(options)` makes this.
     * @param {(tab: {position: () => string | null, deliver: (frame: any) => void}) =>
     *   {reconnect: () => void, close: () => void}} connect
     * @param {StreamOptions} options */
    constructor(connect: (tab: {
        position: () => string | null;
        deliver: (frame: any) => void;
    }) => {
        reconnect: () => void;
        close: () => void;
    }, options: StreamOptions);
    get status(): StreamStatus | null;
    /** Try again now instead of after the pause, as when the network is back. */
    reconnect(): void;
    close(): void;
    #private;
}
/**
 * What the service gives.
 */
export type ParticipantRole = "admin" | "member";
/**
 * What the service gives.
 */
export type Role = "user" | "assistant" | "system";
/**
 * What the service gives.
 */
export type Visibility = "private" | "public";
/**
 * What the service gives.
 */
export type JoinPolicy = "open" | "approval";
/**
 * What the service gives.
 */
export type JoinRequestStatus = "pending" | "approved" | "denied";
/**
 * What the service gives.
 */
export type TargetType = "user" | "message" | "conversation";
/**
 * What the service gives.
 */
export type ReportStatus = "open" | "triaged" | "resolved" | "dismissed";
/**
 * What the service gives.
 */
export type Json = {
    [name: string]: any;
};
/**
 * what later members see
 */
export type History = "all" | "since_join";
/**
 * What the service gives.
 */
export type Participant = {
    conversationId: string;
    userId: string;
    role: ParticipantRole;
    joinedAt: string;
    lastReadMessageId: string | null;
};
/**
 * What the service gives.
 */
export type Conversation = {
    id: string;
    type: "direct" | "group";
    pairKey: string | null;
    name: string | null;
    createdAt: string;
    metadata: Json;
    participants: Participant[];
    visibility: Visibility;
    joinPolicy: JoinPolicy;
    frozen?: boolean;
    slowModeSeconds?: number;
    topic?: string;
    pinnedMessageIds?: string[];
    history?: History;
    key?: string;
    metadataVersion?: number;
};
/**
 * the caller's own
 */
export type ConversationView = {
    archived: boolean;
    favourite: boolean;
    hidden: boolean;
    clearedUpToSeq: number;
};
/**
 * `view` with `inbox`
 */
export type ConversationWithUnread = Conversation & {
    unreadCount: number;
    view?: ConversationView;
};
/**
 * What the service gives.
 */
export type ReplyPreview = {
    id: string;
    senderId: string;
    excerpt: string;
    deleted: boolean;
};
/**
 * What the service gives.
 */
export type Reactions = {
    emoji: string;
    count: number;
    userIds: string[];
};
/**
 * What the service gives.
 */
export type ForwardedFrom = {
    messageId: string;
    conversationId: string;
    senderId: string;
};
/**
 * What the service gives.
 */
export type ThreadSummary = {
    replyCount: number;
    lastReplyAt: string;
};
/**
 * What the service gives.
 */
export type Attachment = {
    id: string;
    name: string;
    contentType: string;
    size: number;
    width: number | null;
    height: number | null;
    hasThumbnail: boolean;
};
/**
 * What the service gives.
 */
export type Message = {
    id: string;
    conversationId: string;
    senderId: string;
    body: string;
    role: Role;
    seq: number;
    createdAt: string;
    editedAt: string | null;
    deletedAt: string | null;
    replyToMessageId: string | null;
    replyTo: ReplyPreview | null;
    alsoSendToMain: boolean;
    threadRootMessageId: string | null;
    threadSummary: ThreadSummary | null;
    clientMessageId: string | null;
    forwardedFrom: ForwardedFrom | null;
    reactions: Reactions[];
    mentions: string[];
    metadata: Json;
    metadataVersion?: number;
    attachments?: Attachment[];
};
/**
 * What the service gives.
 */
export type User = {
    id: string;
    name: string;
    avatarUrl: string | null;
    isBot: boolean;
};
/**
 * What the service gives.
 */
export type UnreadSummary = {
    seq: number;
    firstUnreadSeq: number | null;
    unreadMentionCount: number;
};
/**
 * What the service gives.
 */
export type Mention = {
    message: Message;
    unread: boolean;
};
/**
 * What the service gives.
 */
export type UnreadNumbers = {
    messages: number;
    mentions: number;
    conversations: number;
};
/**
 * What the service gives.
 */
export type UnreadTotals = {
    all: UnreadNumbers;
    unmuted: UnreadNumbers;
};
/**
 * What the service gives.
 */
export type ViewedThread = {
    root: Message;
    lastReadSeq: number;
    unreadReplyCount: number;
};
/**
 * What the service gives.
 */
export type HeldMessage = {
    id: string;
    conversationId: string;
    senderId: string;
    body: string;
    role: Role;
    metadata: Json;
    mentions: string[];
    replyToMessageId: string | null;
    reason: string;
    attachments?: Attachment[];
    threadRootMessageId: string | null;
    createdAt: string;
    expiresAt: string | null;
    releasedBy: string | null;
};
/**
 * What the service gives.
 */
export type NotificationLevel = "all" | "mentions" | "none";
/**
 * such as 22:00
 */
export type QuietHours = {
    start: string;
    end: string;
    timeZone: string;
};
/**
 * What the service gives.
 */
export type Device = {
    id: string;
    kind: string;
    createdAt: string;
};
/**
 * What the service gives.
 */
export type Draft = {
    id: string;
    conversationId: string;
    senderId: string;
    text: string;
    parts: number;
    askedByUserId: string | null;
    replyToMessageId: string | null;
    clientMessageId: string;
    threadRootMessageId: string | null;
    isStopped: boolean;
    startedAt: string;
};
/**
 * What the service gives.
 */
export type Invite = {
    code: string;
    conversationId: string;
    createdBy: string;
    createdAt: string;
    expiresAt: string | null;
    maxUses: number | null;
    uses: number;
    requiresApproval: boolean;
    metadata: Json;
};
/**
 * What the service gives.
 */
export type InvitePreview = {
    conversationId: string;
    name: string | null;
    participantCount: number;
    requiresApproval: boolean;
    invitedBy: string;
    alreadyParticipant: boolean;
};
/**
 * What the service gives.
 */
export type JoinRequest = {
    id: string;
    conversationId: string;
    userId: string;
    status: JoinRequestStatus;
    message: string | null;
    inviteCode: string | null;
    createdAt: string;
    metadata: Json;
    resolvedAt: string | null;
    resolvedBy: string | null;
};
/**
 * What the service gives.
 */
export type JoinResult = {
    status: "joined" | "pending";
    conversation: ConversationWithUnread | null;
    joinRequest: JoinRequest | null;
};
/**
 * What the service gives.
 */
export type JoinRequestDecisionResult = {
    joinRequest: JoinRequest;
    conversation: ConversationWithUnread | null;
};
/**
 * What the service gives.
 */
export type ChannelPreview = {
    conversationId: string;
    name: string | null;
    participantCount: number;
    joinPolicy: JoinPolicy;
    createdAt: string;
    metadata: Json;
    alreadyParticipant: boolean;
    requestPending: boolean;
    topic?: string;
};
/**
 * What the service gives.
 */
export type ConversationBan = {
    conversationId: string;
    userId: string;
    createdByUserId: string;
    reason: string | null;
    createdAt: string;
};
/**
 * What the service gives.
 */
export type Block = {
    blockerUserId: string;
    blockedUserId: string;
    createdAt: string;
};
/**
 * What the service gives.
 */
export type Mute = {
    userId: string;
    conversationId: string;
    createdAt: string;
};
/**
 * What the service gives.
 */
export type Report = {
    id: string;
    reporterUserId: string;
    targetType: TargetType;
    targetId: string;
    reason: string;
    status: ReportStatus;
    moderatorNote: string | null;
    evidence: Json;
    createdAt: string;
    updatedAt: string;
    resolvedBy: string | null;
};
/**
 * What the service gives.
 */
export type Ban = {
    id: string;
    userId: string;
    createdByUserId: string;
    reason: string | null;
    createdAt: string;
    expiresAt: string | null;
    revokedAt: string | null;
    revokedByUserId: string | null;
};
/**
 * What the service gives.
 */
export type Presence = {
    online: boolean;
    lastSeenAt: string | null;
};
/**
 * What the service gives.
 */
export type MessageInContext = {
    message: Message;
    messages: Message[];
};
/**
 * What the service gives.
 */
export type MessageVersion = {
    id: string;
    messageId: string;
    conversationId: string;
    senderId: string;
    body: string;
    mentions: string[];
    metadata: Json;
    attachments?: Attachment[];
    writtenAt: string;
    replacedAt: string;
    replacedByUserId: string;
    how: "edited" | "deleted" | "removed";
};
/**
 * What the service gives.
 */
export type Removed = {
    messages: number;
    dryRun: boolean;
    until: string;
    nextCursor: string | null;
};
/**
 * What the service gives.
 */
export type SharedConversation = {
    conversationId: string;
    type: "direct" | "group";
    name: string | null;
    participantCount: number;
    role: ParticipantRole;
};
/**
 * What the service gives.
 */
export type Standing = {
    userId: string;
    activeBan: Ban | null;
    bans: Ban[];
    reportsMade: number;
    reportsReceived: number;
    unresolvedReportsReceived: number;
    latestReportsReceived: Report[];
    conversationCount: number;
    conversations: SharedConversation[];
};
/**
 * What the service gives.
 */
export type ReportGroup = {
    targetType: TargetType;
    targetId: string;
    count: number;
    firstAt: string;
    lastAt: string;
    latest: Report;
};
/**
 * What the service gives.
 */
export type ReportsResolved = {
    reports: number;
    more: boolean;
};
export type Page<Name extends string, Item> = Promise<{ [name in Name]: Item[]; } & {
    nextCursor: string | null;
}>;
export type PageOfMessages = Page<"messages", Message> & Promise<{
    users?: {
        [userId: string]: User;
    } | undefined;
}>;
export type PageOfTimeline = PageOfMessages & Promise<{
    previousCursor?: string;
}>;
/**
 * Its arguments.
 */
export type Paging = {
    limit?: number;
    cursor?: string | null;
};
/**
 * Its arguments.
 */
export type Listing = Paging & {
    include?: ("lastMessage" | "unread" | "users")[] | undefined;
    q?: string | undefined;
    unread?: boolean | undefined;
    ids?: string[] | undefined;
    key?: string | undefined;
    archived?: boolean | undefined;
    favourite?: boolean | undefined;
    metadata?: {
        [field: string]: string | number | boolean;
    } | undefined;
};
/**
 * with `include` the page has `users`
 */
export type PagingMessages = Paging & {
    include?: "users"[];
};
/**
 * Its arguments.
 */
export type PagingTimeline = PagingMessages & {
    around?: string;
    aroundSeq?: number;
    after?: string;
};
/**
 * `mentions` is a user's id or `me`; `until` is not included
 */
export type SearchFilters = {
    senderId?: string;
    since?: string;
    until?: string;
    hasAttachments?: boolean;
    mentions?: string;
};
/**
 * Its arguments.
 */
export type Copied = {
    role?: Role;
    mentions?: string[];
    metadata?: Json;
    clientMessageId?: string;
};
/**
 * Its arguments.
 */
export type Composed = Copied & {
    body: string;
    replyToMessageId?: string;
    threadRootMessageId?: string;
    alsoSendToMain?: boolean;
    attachmentIds?: string[];
};
/**
 * Its arguments.
 */
export type GroupFields = {
    name?: string | null;
    visibility?: Visibility;
    joinPolicy?: JoinPolicy;
    frozen?: boolean;
    slowModeSeconds?: number;
    topic?: string;
    history?: History;
};
/**
 * in place of the old ones, if
 * they have this version; needs `editable_metadata`
 */
export type NewMetadata = {
    metadata?: Json;
    metadataVersion?: number;
};
/**
 * to the admins, where they decide
 */
export type Note = {
    message?: string;
};
/**
 * messages: times are ISO strings
 */
export type Which = {
    conversationId?: string;
    since?: string;
    until?: string;
    contains?: string;
};
/**
 * The events of the stream.
 */
export type ChatMessageEvent = {
    type: "message.created" | "message.updated" | "message.deleted";
    conversationId: string;
    message: Message;
};
/**
 * The events of the stream.
 */
export type ReactionEvent = {
    type: "reaction.added" | "reaction.removed";
    conversationId: string;
    actorId: string;
    emoji: string;
    message: Message;
};
/**
 * The events of the stream.
 */
export type ConversationEvent = {
    type: "participant.added" | "participant.removed" | "conversation.updated" | "conversation.created";
    conversationId: string;
    actorId: string;
    affectedUserIds: string[];
    conversation: Conversation;
};
/**
 * The events of the stream.
 */
export type ConversationDeletedEvent = {
    type: "conversation.deleted";
    conversationId: string;
    actorId: string;
};
/**
 * The events of the stream.
 */
export type JoinRequestEvent = {
    type: "join_request.created" | "join_request.resolved";
    conversationId: string;
    joinRequest: JoinRequest;
};
/**
 * The events of the stream.
 */
export type ConversationBanEvent = {
    type: "conversation_ban.created" | "conversation_ban.removed";
    conversationId: string;
    conversationBan: ConversationBan;
};
/**
 * The events of the stream.
 */
export type ReportEvent = {
    type: "report.created" | "report.updated";
    report: Report;
};
/**
 * The events of the stream.
 */
export type ReadEvent = {
    type: "read.updated";
    conversationId: string;
    messageId: string;
    unreadCount: number;
};
/**
 * The events of the stream.
 */
export type ViewEvent = {
    type: "view.updated";
    conversationId: string;
    view: ConversationView;
    unreadCount: number;
};
/**
 * The events of the stream.
 */
export type UnreadEvent = UnreadTotals & {
    type: "unread.updated";
};
/**
 * The events of the stream.
 */
export type EphemeralEvent = {
    type: "typing.started" | "typing.stopped" | "presence.online" | "presence.offline" | "receipt.delivered" | "receipt.read" | "draft.updated" | "draft.ended";
    ephemeral: true;
    conversationId?: string;
    senderId: string;
    payload: any;
    at: string;
};
/**
 * The events of the stream.
 */
export type ChatEvent = ChatMessageEvent | ReactionEvent | ConversationEvent | ConversationDeletedEvent | JoinRequestEvent | ConversationBanEvent | ReportEvent | ReadEvent | ViewEvent | UnreadEvent | EphemeralEvent;
/**
 * The events of the stream.
 */
export type ResetEvent = {
    type: "stream.reset";
    reason: string;
};
/**
 * ids of conversations, by kind
 */
export type ChangedConversations = {
    name: string[];
    removed: string[];
    members: string[];
    metadata: string[];
    reactions: string[];
    pins: string[];
    ownMarks: string[];
};
/**
 * The events of the stream.
 */
export type ChangedEvent = {
    type: "stream.changed";
    all: boolean;
    conversations: ChangedConversations;
};
/**
 * The events of the stream.
 */
export type StreamStatus = "connecting" | "live" | "reconnecting" | "closed";
/**
 * The events of the stream.
 */
export type StreamOptions = {
    /**
     * each event; a message's created event once,
     * also when the service repeats it
     */
    onEvent?: ((event: ChatEvent) => void) | undefined;
    /**
     * it is open: fetch all that is on the
     * screen, unless it has resumed: then `onChanged` or `onReset` follows
     */
    onOpen?: ((opening: {
        isResumed: boolean;
    }) => void) | undefined;
    /**
     * it has resumed, and the missed messages have
     * come: refetch what the event names; with `all`, everything, as from a service without
     * `extra_events`
     */
    onChanged?: ((event: ChangedEvent) => void) | undefined;
    /**
     * the missed events cannot be replayed: refetch
     */
    onReset?: ((event: ResetEvent) => void) | undefined;
    /**
     * the answer was no stream; EventSource
     * does not show its status, but the answer to any request may. It is tried again, after a pause
     * that grows
     */
    onRefused?: ((refusal: {
        status?: number;
    }) => void) | undefined;
    /**
     * `userId` is no longer logged in: drop all that is on the
     * screen. The stream is tried again, and opens as a new one once they are
     */
    onSignedOut?: (() => void) | undefined;
    onStatus?: ((status: StreamStatus) => void) | undefined;
    /**
     * the current user, as the service's login knows them: then tabs share
     * a stream, and none of another user is read
     */
    userId?: string | undefined;
    /**
     * events of your plugins
     */
    types?: string[] | undefined;
    /**
     * follow these conversations, also those that the user is
     * not in; needs `supervisors`. Nothing is replayed: after a reconnect `onChanged` names all
     */
    conversationIds?: string[] | undefined;
};
export type PushOptions = {
    /**
     * where push-worker.js is; default `/chat-aio/push-worker.js`
     */
    worker?: string | undefined;
    /**
     * of the worker; default its folder. The number at an app's icon is set
     * for apps within it
     */
    scope?: string | undefined;
    /**
     * of a conversation in your app, with `{conversationId}` and, if you like,
     * `{messageId}`; default this page
     */
    url?: string | undefined;
    /**
     * a notification
     * was clicked, and this tab is to show its conversation; without it, a new tab opens `url`
     */
    onOpen?: ((opened: {
        conversationId: string;
        messageId: string;
    }) => void) | undefined;
    /**
     * of notifications whose sender has no image
     */
    icon?: string | undefined;
    /**
     * where a push cannot be read; default the page's
     */
    title?: string | undefined;
    /**
     * false: ask nothing, and do nothing unless the browser has it enabled;
     * it then belongs to the current user
     */
    ask?: boolean | undefined;
};
/**
 * a function is called each time
 */
export type Given<Value> = Value | (() => Value | Promise<Value>);
export type ChatOptions = {
    /**
     * as `Authorization: Bearer`; EventSource, which can send
     * no headers, sends it as `?access_token=`
     */
    token?: Given<string | null> | undefined;
    /**
     * of requests; of the stream with `fetch` only
     */
    headers?: Given<{
        [name: string]: string;
    }> | undefined;
    /**
     * of requests and of the stream
     */
    query?: Given<{
        [name: string]: string;
    }> | undefined;
    /**
     * "include": cookies to another origin, too
     */
    credentials?: RequestCredentials | undefined;
    /**
     * for each request; default 20,000
     */
    timeoutMs?: number | undefined;
    /**
     * how often a send or forward is retried; default 2
     */
    retries?: number | undefined;
    /**
     * called for every failed request
     */
    onError?: ((error: ChatError) => void) | undefined;
    /**
     * in place of the browser's, as is EventSource
     */
    fetch?: typeof fetch | undefined;
    EventSource?: {
        new (url: string | URL, eventSourceInitDict?: EventSourceInit | undefined): EventSource;
        prototype: EventSource;
        readonly CLOSED: number;
        readonly CONNECTING: number;
        readonly OPEN: number;
    } | undefined;
    /**
     * reads the stream; `fetch` sends headers
     */
    streamWith?: "fetch" | "EventSource" | undefined;
    /**
     * false: the tabs of a browser have a stream each
     */
    shareStream?: boolean | undefined;
};
