"""The settings of one chat; each has a default that suits a new installation."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

from chat_aio.capabilities import Capability
from chat_aio.schema.models import OptionalFields

_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://[^/\s*?#@A-Z]+")

_FIELD = re.compile(r"[^$.\0]{1,100}")

MAX_METADATA_INDEXES = 8

MAY_BE_ZERO = {
    "replay_buffer_seconds",
    "replay_buffer_events",
    "replay_buffer_bytes",
    "message_version_days",
    "profile_cache_seconds",
}
"""Without a replay buffer every replay is read from storage; without a history nothing is kept of
what messages were before; profiles that are not kept are asked for each time."""


@dataclass(frozen=True, kw_only=True)
class Quotas:
    """How much each user may do within any hour or minute; None for no limit. Each process counts
    for itself (specification 1.12). 0 allows none. Raises ValueError for less."""

    conversations_per_hour: int | None = 200
    invites_per_hour: int | None = 100
    reports_per_hour: int | None = 60
    blocks_per_hour: int | None = 100
    people_per_hour: int | None = 2_000
    messages_per_minute: int | None = 300
    reactions_per_minute: int | None = 300
    user_lookups_per_minute: int | None = 300
    requests_per_minute: int | None = 1_200

    def __post_init__(self) -> None:
        for quota in fields(self):
            most = getattr(self, quota.name)
            whole = isinstance(most, int) and not isinstance(most, bool)
            if most is not None and not (whole and most >= 0):
                raise ValueError(f"Quotas({quota.name}={most!r}): must be None or an int from 0 on")


def option(default: Any, meaning: str) -> Any:
    """A field of `Options`; a type as default is called for it. `chat-aio serve --help` and the
    documents show the meaning."""
    metadata = {"meaning": meaning}
    if isinstance(default, type):
        return field(default_factory=default, metadata=metadata)
    return field(default=default, metadata=metadata)


@dataclass(frozen=True, kw_only=True)
class Options:
    """Settings of `Chat(...)`. Raises ValueError for a value that is out of range.

    Sizes are in bytes of UTF-8 JSON, `max_message_length` is in code points.
    """

    collection_prefix: str = option("", "a prefix for the name of every collection")
    manage_indexes: bool = option(
        True,
        "create missing collections, indexes and validators at start; if off, only verify them",
    )
    disabled_capabilities: frozenset[Capability] = option(
        frozenset,
        "capabilities to switch off: any of `channels`, `invites`, `moderation`, `search` and "
        "`streams`",
    )
    threads: bool = option(True, "replies in threads")
    enforce_bans: bool | None = option(
        None,
        "refuse banned users: always, never, or (`None`) if there is a `can_moderate` hook",
    )
    extra_events: bool = option(
        False,
        "events beyond the contract: `read.updated`, `conversation.created`, "
        "`join_request.created` and `join_request.resolved`, and `stream.changed`, with `inbox` "
        "also `view.updated` and `unread.updated`; recommended",
    )
    inbox: bool = option(
        False,
        "users see their mentions and threads of all conversations, mark messages as unread, "
        "archive, hide and clear conversations, and get one number of unread messages",
    )
    room_controls: bool = option(
        False,
        "bans from one conversation, frozen conversations, slow mode, topics, history since "
        "joining and pinned messages",
    )
    conversation_keys: bool = option(
        False,
        "groups have a key of your app, such as `order:7`, by which they are found or created, and "
        "their participants are set as a whole",
    )
    editable_metadata: bool = option(
        False,
        "metadata of groups and messages may be changed; each change has a version, so that no "
        "writer overwrites another one's change",
    )
    metadata_indexes: tuple[str, ...] = option(
        (),
        "up to 8 fields of conversations' metadata, such as `orderId`, by which they are found; "
        "each takes an index, which `chat-aio indexes apply` creates and no start does",
    )
    moderation_tools: bool = option(
        False,
        "routes and methods for moderators: look at messages of any conversation, remove and "
        "restore them, grouped reports",
    )
    supervisors: bool = option(
        False,
        "users whom your `can_read` lets read conversations that they are not in may follow up "
        "to 20 of them live (`GET /stream?conversationIds=`)",
    )
    audit_supervisors: bool = option(
        True,
        "each conversation that a supervisor begins to follow is an entry of the audit log",
    )
    prefix_search: bool = option(
        False,
        "searches may ask for words that begin with the last one, while it is typed; takes an "
        "index of its own",
    )
    search_filters: bool = option(
        False,
        "searches may select messages by sender, time, attachments and mentions, also without "
        "words; takes four indexes",
    )
    message_version_days: float = option(
        30.0,
        "how long moderators see what a message was before it was edited, deleted or removed; "
        "only with `moderation_tools`, 0 keeps nothing",
    )
    reauthenticate: bool = option(
        False,
        "call the `auth` hook again at each heartbeat of a stream, with the request that opened "
        "it; if the login is no longer valid, the stream ends",
    )
    hide_blocked_users: bool = option(
        False,
        "users who have blocked one another get no presence, typing or receipts of each other "
        "and cannot add each other to groups; recommended",
    )
    presence_requires_mutual_messages: bool = option(
        False,
        "show presence only to users who have both written in one conversation; recommended if "
        "strangers can write to users",
    )
    allowed_origins: Collection[str] | None = option(
        None,
        "origins, such as `https://example.org`, whose pages may change something or open a "
        "stream; list your own too. Without a list nothing is checked. Needed if your login is "
        "a cookie",
    )
    gzip: bool = option(
        False,
        "compress JSON of 4 KiB and more for clients that send `Accept-Encoding: gzip`; leave "
        "it to a proxy if there is one",
    )
    rate_limits: Mapping[str, str] = option(
        dict,
        'limits per user and method, counted by each process, such as `{"send_message": '
        '"5/second;100/minute", "*": "20/second"}`; methods are those of the server API and of '
        "plugins (`typing`). Needs `chat-aio[limits]`",
    )
    quotas: Quotas | None = option(
        Quotas,
        "how much one user may do over HTTP, where it differs from the defaults, such as "
        '`{"messages_per_minute": 60}`; `null` (`None`, in a file `false`) means no limit',
    )

    max_body_bytes: int = option(1024 * 1024, "maximum size of a request body")
    max_message_length: int = option(16_384, "maximum length of a message, in characters")
    max_metadata_bytes: int = option(16 * 1024, "maximum size of metadata, as JSON")
    max_emoji_per_message: int = option(128, "maximum number of different emoji on a message")
    max_emoji_per_user: int = option(32, "maximum number of reactions of one user to a message")
    max_reactions_per_message: int = option(2_000, "maximum number of reactions to a message")

    hook_timeout_seconds: float = option(5.0, "time for each call of an async hook")
    storage_timeout_seconds: float = option(
        10.0,
        "time that a request may spend in MongoDB before it is answered with 503",
    )
    slow_request_seconds: float | None = option(
        None,
        "a request that takes longer is a warning in the log, with its parts",
    )
    profile_cache_seconds: float = option(
        60.0,
        "how long what the hook `profiles` has returned is kept; 0 asks each time",
    )

    heartbeat_interval_ms: int = option(15_000, "interval of keep-alive comments on streams")
    streams_per_user: int = option(
        50,
        "maximum number of open streams of one user, in each process",
    )
    downloads_per_user: int = option(
        20,
        "maximum number of files that one user downloads at once, in each process; files of up "
        "to 64 KiB do not count",
    )
    download_buffer_bytes: int = option(
        256 * 1024 * 1024,
        "maximum size of all parts of files that a process holds for downloads; each download "
        "takes up to 1 MiB",
    )
    stream_buffer_bytes: int = option(
        512 * 1024,
        "a stream is closed if it has more unsent bytes than this for 10 s, or four times as "
        "many at any moment",
    )
    stream_buffer_events: int = option(
        2_000,
        "maximum number of events held back while a stream opens; with more it is closed",
    )
    replay_limit: int = option(
        1_000,
        "maximum number of events in a replay; if more were missed, the stream sends "
        "`stream.reset`",
    )
    replay_bytes: int = option(4 * 1024 * 1024, "maximum size of a replay")

    replay_buffer_seconds: float = option(
        300.0,
        "how far back a process reads the change stream at start, to fill its replay buffer",
    )
    replay_buffer_events: int = option(50_000, "maximum number of events in the replay buffer")
    replay_buffer_bytes: int = option(64 * 1024 * 1024, "maximum size of the replay buffer")
    change_stream_timeout_seconds: float = option(
        15.0,
        "if the change stream shows no sign of life for this long, streams are closed",
    )

    @cached_property
    def optional_fields(self) -> OptionalFields:
        """The fields that these options add to conversations and messages."""
        return OptionalFields(
            room_controls=self.room_controls,
            keys=self.conversation_keys,
            metadata_versions=self.editable_metadata,
            views=self.inbox,
        )

    @property
    def sends_unread(self) -> bool:
        """Whether streams get `unread.updated`."""
        return self.inbox and self.extra_events

    @property
    def flags(self) -> frozenset[str]:
        """The names of the options that are simply on."""
        return frozenset(
            option.name for option in fields(self) if getattr(self, option.name) is True
        )

    def __post_init__(self) -> None:
        object.__setattr__(self, "disabled_capabilities", frozenset(self.disabled_capabilities))
        if self.allowed_origins is not None:
            object.__setattr__(self, "allowed_origins", _origins_from(self.allowed_origins))
        object.__setattr__(self, "metadata_indexes", _indexed_from(self.metadata_indexes))
        for option in fields(self):
            value = getattr(self, option.name)
            number = isinstance(value, int | float) and not isinstance(value, bool)
            if number and (value < 0 or (value == 0 and option.name not in MAY_BE_ZERO)):
                raise ValueError(f"Options({option.name}={value!r}): must be a positive number")


def _indexed_from(given: Collection[str]) -> tuple[str, ...]:
    """Names of top-level fields of metadata. Raises ValueError for others, and for too many."""
    names = tuple(dict.fromkeys((given,) if isinstance(given, str) else given))
    wrong = [name for name in names if not _FIELD.fullmatch(name)]
    if isinstance(given, str) or wrong:
        raise ValueError(
            f"Options(metadata_indexes=...): {(wrong or names)[0]!r} is not a list of names "
            "without `$`, `.` and NUL, of 1 to 100 characters, such as ['orderId', 'status']"
        )
    if len(names) > MAX_METADATA_INDEXES:
        raise ValueError(f"Options(metadata_indexes=...): at most {MAX_METADATA_INDEXES}")
    return names


def _origins_from(given: Collection[str]) -> frozenset[str]:
    """Origins as browsers send them. Raises ValueError for any other text, and for wildcards."""
    # One string is a collection, too, of its characters: a likely mistake.
    for value in (given,) if isinstance(given, str) else given:
        if isinstance(given, str) or not _ORIGIN.fullmatch(value):
            raise ValueError(
                f"Options(allowed_origins=...): {value!r} is not an origin as browsers send it, "
                "such as ['https://example.org', 'http://localhost:8080']"
            )
    return frozenset(given)
