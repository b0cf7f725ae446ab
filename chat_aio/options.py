"""The settings of one chat; each has a default that suits a new installation."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields

from chat_aio.capabilities import Capability

_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://[^/\s*?#@A-Z]+")

MAY_BE_ZERO = {"ring_seconds", "ring_events", "ring_bytes", "history_days", "profile_seconds"}
"""Without a replay buffer every replay is read from storage; without a history nothing is kept of
what messages were before; profiles that are not kept are asked for each time."""


@dataclass(frozen=True, kw_only=True)
class Quotas:
    """How much each user may do within any hour or minute; None for no limit. Each process counts
    for itself (docs/behaviour.md 1.12). Raises ValueError for less than one."""

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
            if most is not None and not (whole and most >= 1):
                raise ValueError(f"Quotas({quota.name}={most!r}): must be None or an int from 1 on")


@dataclass(frozen=True, kw_only=True)
class Options:
    """Settings of `Chat(...)`. Raises ValueError for a value that is out of range.

    Sizes are in bytes of UTF-8 JSON, `max_message_length` is in code points.
    """

    collection_prefix: str = ""
    manage_indexes: bool = True
    without: frozenset[Capability] = field(default_factory=frozenset)
    threads: bool = True
    enforce_bans: bool | None = None
    extra_events: bool = False
    inbox: bool = False
    room_controls: bool = False
    moderation_desk: bool = False
    prefix_search: bool = False
    history_days: float = 30.0
    reauthenticate: bool = False
    separate_blocked: bool = False
    presence_needs_exchange: bool = False
    allowed_origins: Collection[str] | None = None
    gzip: bool = False
    rate_limits: Mapping[str, str] = field(default_factory=dict)
    quotas: Quotas | None = field(default_factory=Quotas)

    max_body_bytes: int = 1024 * 1024
    max_message_length: int = 16_384
    max_metadata_bytes: int = 16 * 1024
    max_emoji_per_message: int = 128
    max_emoji_per_user: int = 32
    max_reactions_per_message: int = 2_000

    hook_timeout_seconds: float = 5.0
    storage_timeout_seconds: float = 10.0
    slow_request_seconds: float | None = None
    profile_seconds: float = 60.0

    heartbeat_interval_ms: int = 15_000
    streams_per_user: int = 50
    downloads_per_user: int = 20
    download_buffer_bytes: int = 256 * 1024 * 1024
    stream_buffer_bytes: int = 512 * 1024
    stream_buffer_events: int = 2_000
    replay_limit: int = 1_000
    replay_bytes: int = 4 * 1024 * 1024

    ring_seconds: float = 300.0
    ring_events: int = 50_000
    ring_bytes: int = 64 * 1024 * 1024
    feed_stall_seconds: float = 15.0

    @property
    def flags(self) -> frozenset[str]:
        """The names of the options that are simply on."""
        return frozenset(
            option.name for option in fields(self) if getattr(self, option.name) is True
        )

    def __post_init__(self) -> None:
        object.__setattr__(self, "without", frozenset(self.without))
        if self.allowed_origins is not None:
            object.__setattr__(self, "allowed_origins", _origins_from(self.allowed_origins))
        for option in fields(self):
            value = getattr(self, option.name)
            number = isinstance(value, int | float) and not isinstance(value, bool)
            if number and (value < 0 or (value == 0 and option.name not in MAY_BE_ZERO)):
                raise ValueError(f"Options({option.name}={value!r}): must be a positive number")


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
