"""Conversations, their heads, and the documents that say who may join."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from chat_aio.store.documents.changes import Stamp

ALL, SINCE_JOIN = "all", "since_join"

ROOM_CONTROLS: Mapping[str, Any] = {
    "frozen": False,
    "slowModeSeconds": 0,
    "topic": "",
    "history": ALL,
}
"""The fields of room controls, each with what holds where it was never set. Reading, changing,
export and import of conversations follow this list."""


class ParticipantDocument(TypedDict):
    """`sentCount` of the messages that the head counts for the participant have a seq up to
    `sentUpto` (store/sent_counts.py). From `unreadFrom` on, they have marked all as unread. What
    has a seq up to `hiddenUpto` is not there for them (docs/decisions/0068)."""

    userId: str
    role: Literal["admin", "member"]
    joinedAt: datetime
    lastReadMessageId: str | None
    lastReadSeq: int
    sentUpto: NotRequired[int]
    sentCount: NotRequired[int]
    unreadFrom: NotRequired[int]
    hiddenUpto: NotRequired[int]


class ConversationDocument(TypedDict):
    """`blockedBy`, of a direct conversation: the users who have blocked the other one. The fields
    of ROOM_CONTROLS and `pins` are missing until set (docs/decisions/0058). `namedBy` and `topicBy`
    are the users who wrote the name and the topic. `epoch` is raised with every change of who may
    write (docs/decisions/0002). An imported one has `importedAt`, and in `importDigest` what its
    lines were (docs/decisions/0062)."""

    _id: str
    type: Literal["direct", "group"]
    pairKey: str | None
    name: str | None
    createdAt: datetime
    metadata: dict[str, Any]
    visibility: Literal["private", "public"]
    joinPolicy: Literal["open", "approval"]
    epoch: int
    participants: list[ParticipantDocument]
    blockedBy: NotRequired[list[str]]
    frozen: NotRequired[bool]
    slowModeSeconds: NotRequired[int]
    namedBy: NotRequired[str]
    topic: NotRequired[str]
    topicBy: NotRequired[str]
    history: NotRequired[Literal["all", "since_join"]]
    pins: NotRequired[list[str]]
    importedAt: NotRequired[datetime]
    importDigest: NotRequired[str]
    change: NotRequired[Stamp]


class CounterDocument(TypedDict):
    """The head of a conversation: small, hot, and the first lock of every transaction about it.

    A transaction that changes who may write raises `epoch`; one that only needs the lock raises
    `fence`. Retention has removed messages up to `floorSeq`, and emptied those up to `emptiedSeq`.
    `sent` counts what each participant has sent among `counted` messages (store/sent_counts.py).
    `lastSentAt`, by user, is kept in slow mode only (store/slow_mode.py).
    """

    _id: str
    seq: int
    activityAt: datetime
    epoch: int
    fence: int
    public: bool
    floorSeq: int
    emptiedSeq: NotRequired[int]
    counted: NotRequired[int]
    sent: NotRequired[dict[str, int]]
    lastSentAt: NotRequired[dict[str, datetime]]


class InviteDocument(TypedDict):
    """`_id` is the code."""

    _id: str
    conversationId: str
    createdBy: str
    createdAt: datetime
    expiresAt: datetime | None
    maxUses: int | None
    uses: int
    requiresApproval: bool
    metadata: dict[str, Any]


class JoinRequestDocument(TypedDict):
    """One for each user and group; a new request after a decision replaces it."""

    _id: str
    conversationId: str
    userId: str
    status: Literal["pending", "approved", "denied"]
    message: str | None
    inviteCode: str | None
    createdAt: datetime
    resolvedAt: datetime | None
    resolvedBy: str | None
    metadata: dict[str, Any]


class ConversationBanDocument(TypedDict):
    """One for each user and group; it is removed when the ban is lifted."""

    _id: str
    conversationId: str
    userId: str
    createdByUserId: str
    reason: str | None
    createdAt: datetime


class BlockDocument(TypedDict):
    """`_id` is `{blockerUserId, blockedUserId}`."""

    _id: dict[str, str]
    blockerUserId: str
    blockedUserId: str
    createdAt: datetime


class MuteDocument(TypedDict):
    """`_id` is `{userId, conversationId}`."""

    _id: dict[str, str]
    userId: str
    conversationId: str
    createdAt: datetime
