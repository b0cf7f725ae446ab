"""What an installation keeps for itself."""

from datetime import datetime
from typing import Any, NotRequired

from typing_extensions import TypedDict


class SettingDocument(TypedDict):
    """A row of what an installation keeps for itself. The fields depend on the `_id`:

    `direct_conversation_key` has `value`; a pseudonym `erasures`; `schema` has `version`, and
    during a migration its progress (`migrating`); `restored` has `at`, when a backup came back;
    `daily_stats` has `at`, up to when days are rolled up, and in `rolling` where a run is;
    `notifications` has who delivers them (`holder`, `fence`, `until`), and how far the created
    messages are read (`token`, `at`).
    """

    _id: str
    value: NotRequired[bytes]
    erasures: NotRequired[int]
    version: NotRequired[int]
    migrating: NotRequired[dict[str, Any]]
    at: NotRequired[datetime]
    rolling: NotRequired[dict[str, Any]]
    holder: NotRequired[str]
    fence: NotRequired[int]
    until: NotRequired[datetime]
    token: NotRequired[dict[str, Any] | None]


class SignalDocument(TypedDict):
    """A short-lived row that carries ephemeral events and ticks through the change stream."""

    _id: str
    kind: str
    at: datetime
    notes: NotRequired[list[dict[str, Any]]]


class DailyStatsDocument(TypedDict):
    """The messages of a conversation on a day in UTC, such as `2026-01-31`; `_id` is
    `{day}:{conversationId}`. `answers` counts the answers of each bucket of seconds
    (docs/statistics.md), without zeros at the end."""

    _id: str
    day: str
    conversationId: str
    public: bool
    messages: int
    senderIds: list[str]
    answers: list[int]
