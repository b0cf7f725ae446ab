"""What each of `Options` means: `chat-aio serve --help` and the documents say it in these words."""

MEANINGS = {
    "collection_prefix": "a prefix for the name of every collection",
    "manage_indexes": "create missing collections, indexes and validators at start; if `false`, "
    "only verify them",
    "without": "capabilities to switch off: any of `channels`, `invites`, `moderation`, `search` "
    "and `streams`",
    "threads": "replies in threads",
    "enforce_bans": "refuse banned users",
    "extra_events": "events beyond the contract: `read.updated`, `conversation.created`, "
    "`join_request.created` and `join_request.resolved`; recommended",
    "inbox": "users see their mentions and threads of all conversations, and mark messages as "
    "unread",
    "room_controls": "bans from one conversation, frozen conversations, slow mode, topics, "
    "history since joining and pinned messages",
    "moderation_desk": "routes and methods for moderators: look at messages of any conversation, "
    "remove and restore them, grouped reports",
    "prefix_search": "searches may ask for words that begin with the last one, while it is typed; "
    "takes an index of its own",
    "history_days": "how long moderators see what a message was before it was edited, deleted or "
    "removed; only with `moderation_desk`, 0 keeps nothing",
    "separate_blocked": "users who have blocked one another get no presence, typing or receipts of "
    "each other and cannot add each other to groups; recommended",
    "presence_needs_exchange": "show presence only to users who have both written in one "
    "conversation; recommended if strangers can write to users",
    "allowed_origins": "origins, such as `https://example.org`, whose pages may change something "
    "or open a stream; list your own too. `null` checks nothing. Needed if your login is a cookie",
    "gzip": "compress JSON of 4 KiB and more for clients that send `Accept-Encoding: gzip`; leave "
    "it to a proxy if there is one",
    "rate_limits": "limits per user and method, counted by each process, such as "
    '`{"send_message": "5/second;100/minute", "*": "20/second"}`; methods are those of the server '
    "API and of plugins (`typing`). Needs `chat-aio[limits]`",
    "quotas": "how much one user may do over HTTP, where it differs from the defaults, such as "
    '`{"messages_per_minute": 60}`; `null` (in a file `false`) switches one or all of them off',
    "max_body_bytes": "maximum size of a request body",
    "max_message_length": "maximum length of a message, in characters",
    "max_metadata_bytes": "maximum size of metadata, as JSON",
    "max_emoji_per_message": "maximum number of different emoji on a message",
    "max_emoji_per_user": "maximum number of reactions of one user to a message",
    "max_reactions_per_message": "maximum number of reactions to a message",
    "hook_timeout_seconds": "time for each call of an async hook",
    "storage_timeout_seconds": "time that a request may spend in MongoDB before it is answered "
    "with 503",
    "slow_request_seconds": "a request that takes longer is a warning in the log, with its parts",
    "heartbeat_interval_ms": "interval of keep-alive comments on streams",
    "streams_per_user": "maximum number of open streams of one user, in each process",
    "downloads_per_user": "maximum number of files that one user downloads at once, in each "
    "process; files of up to 64 KiB do not count",
    "download_buffer_bytes": "maximum size of all parts of files that a process holds for "
    "downloads; each download takes up to 1 MiB",
    "stream_buffer_bytes": "a stream is closed if it has more unsent bytes than this for 10 s, or "
    "four times as many at any moment",
    "stream_buffer_events": "maximum number of events held back while a stream opens; with more it "
    "is closed",
    "replay_limit": "maximum number of events in a replay; if more were missed, the stream sends "
    "`stream.reset`",
    "replay_bytes": "maximum size of a replay",
    "ring_seconds": "how far back a process reads the change stream at start, to fill its replay "
    "buffer",
    "ring_events": "maximum number of events in the replay buffer",
    "ring_bytes": "maximum size of the replay buffer",
    "feed_stall_seconds": "if the change stream shows no sign of life for this long, streams are "
    "closed",
}
