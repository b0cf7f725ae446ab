"""An installation's own rows: settings, signals and daily statistics."""

from datetime import datetime
from typing import Any, NotRequired

from typing_extensions import TypedDict


class SettingDocument(TypedDict):
    """A setting of an installation. The fields depend on the `_id`:

    `direct_conversation_key` has `value`; a pseudonym `erasures`; a pair of users `deletions`, of
    their direct conversation; `schema` has `version`, and during a migration its progress
    (`migrating`); `restored` has `at`, the time when a backup was restored; `daily_stats` has `at`,
    the end of the rolled-up days, and in `rolling` the progress of a run; `notifications` has the
    delivering process (`holder`, `fence`, `until`), and how far the created messages are read
    (`token`, `at`); `webhooks:` and a name has the same of a webhook; `legal_holds:` and a number
    has `fence`, which deletions of conversations and new holds on users raise.
    """

    _id: str
    value: NotRequired[bytes]
    erasures: NotRequired[int]
    deletions: NotRequired[int]
    version: NotRequired[int]
    migrating: NotRequired[dict[str, Any]]
    at: NotRequired[datetime]
    rolling: NotRequired[dict[str, Any]]
    holder: NotRequired[str]
    fence: NotRequired[int]
    until: NotRequired[datetime]
    token: NotRequired[dict[str, Any] | None]


class SignalDocument(TypedDict):
    """A short-lived row that carries ephemeral events and ticks through the change stream, and the
    deletion of a conversation: the `conversation` without its participants, whose ids are in
    `userIds`. In one about a user's own state in a conversation, `hiddenUpToSeq` is set if they
    have cleared it. `name` and `data` are for plugins."""

    _id: str
    kind: str
    at: datetime
    notes: NotRequired[list[dict[str, Any]]]
    conversationId: NotRequired[str]
    actorId: NotRequired[str]
    userIds: NotRequired[list[str]]
    hiddenUpToSeq: NotRequired[int]
    conversation: NotRequired[dict[str, Any]]
    name: NotRequired[str]
    data: NotRequired[dict[str, Any]]


class DailyStatsDocument(TypedDict):
    """The messages of a conversation on a day in UTC, such as `2026-01-31`; `_id` is
    `{day}:{conversationId}`. `answers` contains the number of answers per bucket of seconds
    (docs/operations/statistics.md), without zeros at the end."""

    _id: str
    day: str
    conversationId: str
    public: bool
    messages: int
    # Ids and not a number: an active user of several conversations is counted once.
    senderIds: list[str]
    answers: list[int]
