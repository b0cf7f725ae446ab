"""Conversations, their heads, and the documents that control who may join."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from chat_aio.store.documents.changes import ConversationPart, Stamp

ALL, SINCE_JOIN = "all", "since_join"

ROOM_CONTROLS: Mapping[str, Any] = {
    "frozen": False,
    "slowModeSeconds": 0,
    "topic": "",
    "history": ALL,
}
"""The fields of room controls, with the values that apply if they were never set. Reading,
changing, export and import of conversations follow this list."""


class ViewDocument(TypedDict):
    """A participant's view of a conversation (decision 0080). It is not listed while its last
    message has a seq up to `unlistedUpToSeq`."""

    archived: NotRequired[bool]
    favourite: NotRequired[bool]
    unlistedUpToSeq: NotRequired[int]


class ParticipantDocument(TypedDict):
    """`sentCount` of the messages that the head counts for the participant have a seq up to
    `sentUpToSeq` (store/sent_counts.py). From `unreadFrom` on, they have marked all messages as
    unread. Messages with a seq up to `hiddenUpToSeq` are hidden from them (decision 0068): those
    from before they joined, and those that they have cleared. `view` is missing until set.
    `markedAt`, with `extra_events`, is when their read state last changed (decision 0083)."""

    userId: str
    role: Literal["admin", "member"]
    joinedAt: datetime
    lastReadMessageId: str | None
    lastReadSeq: int
    sentUpToSeq: NotRequired[int]
    sentCount: NotRequired[int]
    unreadFrom: NotRequired[int]
    hiddenUpToSeq: NotRequired[int]
    view: NotRequired[ViewDocument]
    markedAt: NotRequired[datetime]


class ConversationDocument(TypedDict):
    """`blockedBy`, of a direct conversation: the users who have blocked the other one. The fields
    of ROOM_CONTROLS and `pins` are missing until set (decision 0058). `namedBy` and `topicBy`
    are the users who wrote the name and the topic. `epoch` is raised with every change of who may
    write (decision 0002). `key` is the host's name for a group, unique and never changed, and
    missing in groups without one (decision 0077). An imported conversation has `importedAt`,
    and in `importDigest` the digest of its lines (decision 0062). `metadataVersion` counts as
    1 while it is missing, until the metadata are changed (decision 0078). `changedAt`, with
    `extra_events`, has the time of the last change of each part (decision 0083)."""

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
    key: NotRequired[str]
    metadataVersion: NotRequired[int]
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
    changedAt: NotRequired[dict[ConversationPart, datetime]]
    # The feed sees an update by this field, which must be set as a whole by `$set`: a pipeline or
    # a replacement announces nothing, and one field of it is written where nobody must be notified.
    change: NotRequired[Stamp]


class CounterDocument(TypedDict):
    """The head of a conversation: small, hot, and the first lock of every transaction on it.

    A transaction that changes who may write raises `epoch`; one that only needs the lock raises
    `fence`. Retention has removed messages up to `floorSeq`, and emptied messages up to
    `emptiedSeq`. `sent` has the number of messages of each participant among `counted` messages
    (store/sent_counts.py). `lastSentAt`, by user, is kept in slow mode only (store/slow_mode.py).
    """

    _id: str
    # A block of two users without a conversation leaves a stub: `_id` and `epoch`, nothing else.
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
    """One per user and group; a new request after a decision replaces it."""

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
    """One per user and group; it is removed when the ban is lifted."""

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


class PositionDocument(TypedDict):
    """A message of a deleted conversation, from which clients may resume: when it was created."""

    seq: int
    at: datetime


class DeletedConversationDocument(TypedDict):
    """A conversation that was deleted; its id is never used again. `lastSeq` is the number of its
    last message, and `positions` has some of its messages (decision 0079).

    Its rows are being removed in the state `removing`. In `settling` they are gone, and are looked
    for a second time at `dueAt`. Until then, `dueAt` is when another process may continue.
    """

    _id: str
    deletedAt: datetime
    lastSeq: int
    positions: list[PositionDocument]
    state: Literal["removing", "settling", "removed"]
    dueAt: NotRequired[datetime]


class DepartureDocument(TypedDict):
    """A user and a conversation that they were removed from, or that was deleted.
    `_id` is `{userId, conversationId}`. It is kept for a week."""

    _id: dict[str, str]
    userId: str
    conversationId: str
    at: datetime
