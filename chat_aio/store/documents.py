"""What is stored: the documents of each collection, in camelCase as in MongoDB.

The collections' validators, and the rows that readers leave out, follow from these types
(`store/shapes.py`). Fields that every running version writes are required; new ones `NotRequired`.
"""

from datetime import datetime
from typing import Annotated, Any, Literal, NotRequired

from pydantic import SkipValidation
from typing_extensions import TypedDict

from chat_aio.store.attachment_documents import AttachedDocument

EventName = Literal[
    "conversation.created",
    "conversation.updated",
    "participant.added",
    "participant.removed",
    "message.updated",
    "message.deleted",
    "reaction.added",
    "reaction.removed",
]


class Change(TypedDict):
    """The stamp of a write, from which the feed makes an event. It is always set as a whole, in the
    atomic update that it describes. `hiddenUpto` is that of those it adds."""

    id: str
    at: datetime
    kind: EventName
    actorId: str
    addedUserIds: NotRequired[list[str]]
    removedUserIds: NotRequired[list[str]]
    affectedUserIds: NotRequired[list[str]]
    hiddenUpto: NotRequired[int]
    emoji: NotRequired[str]


Stamp = Annotated[Change, SkipValidation]
"""The stamp of a row. Not validated on reading: a malformed stamp costs an event, not the row."""


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
    """`blockedBy`, of a direct conversation: the users who have blocked the other one. `frozen`,
    `slowModeSeconds`, `topic`, `history` and `pins` are missing until set (docs/decisions/0058).
    `namedBy` and `topicBy` are the users who wrote the name and the topic.
    `epoch` is raised with every change of who may write (docs/decisions/0002). An imported one has
    `importedAt`, and in `importDigest` what its lines were (docs/decisions/0062)."""

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


class ReportDocument(TypedDict):
    """`openKey` is set while the report is open or triaged. Its unique index allows one open report
    for each reporter and target."""

    _id: str
    reporterUserId: str
    targetType: Literal["user", "message", "conversation"]
    targetId: str
    reason: str
    status: Literal["open", "triaged", "resolved", "dismissed"]
    moderatorNote: str | None
    evidence: dict[str, Any]
    createdAt: datetime
    updatedAt: datetime
    resolvedBy: str | None
    openKey: NotRequired[str]


class HeldMessageDocument(TypedDict):
    """A message that waits for a moderator; `_id` becomes the message's. Without an idempotency key
    it has one of its own. `releasedBy` is set before the message is sent, and the row removed
    afterwards."""

    _id: str
    conversationId: str
    senderId: str
    body: str
    role: Literal["user", "assistant", "system"]
    metadata: dict[str, Any]
    mentions: list[str]
    attachments: NotRequired[list[AttachedDocument]]
    replyToMessageId: str | None
    threadRootMessageId: str | None
    alsoInMain: bool
    clientMessageId: str
    requestHash: bytes
    reason: str
    createdAt: datetime
    expiresAt: NotRequired[datetime]
    releasedBy: str | None


class LegalHoldDocument(TypedDict):
    """Keeps all of a user, or of a conversation, from removal. `_id` is such as `user:mallory`."""

    _id: str
    targetType: Literal["user", "conversation"]
    targetId: str
    reason: str
    createdByUserId: str
    createdAt: datetime


class BanDocument(TypedDict):
    """`activeUserId` is set until the ban is revoked or replaced. Its unique index allows one such
    ban for each user. A ban of another program is in force if it has the required fields."""

    _id: str
    userId: str
    createdByUserId: NotRequired[str]
    reason: NotRequired[str | None]
    createdAt: NotRequired[datetime]
    expiresAt: NotRequired[datetime | None]
    revokedAt: NotRequired[datetime | None]
    revokedByUserId: NotRequired[str | None]
    activeUserId: NotRequired[str]


AuditEntry = TypedDict(
    "AuditEntry",
    {
        "_id": str,
        "at": datetime,
        "actorUserId": str,
        "action": str,
        "targetId": str,
        "from": str | None,
        "to": str | None,
        "details": dict[str, Any],
    },
)
"""One decision of a moderator; it is never changed."""


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


class ReactionDocument(TypedDict):
    emoji: str
    userId: str
    createdAt: datetime


class MentionDocument(TypedDict):
    userId: str
    createdAt: datetime


class ForwardedFromDocument(TypedDict):
    messageId: str
    conversationId: str
    senderId: str


class ThreadDocument(TypedDict):
    replyCount: int
    lastReplyAt: datetime


class SearchFields(TypedDict):
    """The terms of a message in order, and the text index's tokens for them, with spaces."""

    terms: list[str]
    search: str


class MessageDocument(TypedDict):
    """`timelines` names the lists that have it: its conversation's, its thread root's, or both.

    `changedAt` is when it was last edited or deleted. Tombstones have no `terms` and `search`,
    which only searches and forwards read. The feed leaves out what is inserted with `importedAt`.
    """

    _id: str
    conversationId: str
    seq: int
    senderId: str
    body: str
    role: Literal["user", "assistant", "system"]
    createdAt: datetime
    editedAt: datetime | None
    deletedAt: datetime | None
    replyToMessageId: str | None
    threadRootMessageId: str | None
    timelines: list[str]
    thread: NotRequired[ThreadDocument]
    reactions: list[ReactionDocument]
    mentions: list[MentionDocument]
    forwardedFrom: ForwardedFromDocument | None
    metadata: dict[str, Any]
    attachments: NotRequired[list[AttachedDocument]]
    clientMessageId: NotRequired[str]
    requestHash: NotRequired[bytes]
    changedAt: NotRequired[datetime]
    terms: NotRequired[list[str]]
    search: NotRequired[str]
    importedAt: NotRequired[datetime]
    change: NotRequired[Stamp]


class VersionDocument(TypedDict):
    """What a message was before a change, whose id is the `_id`: it was `edited`, `deleted` by its
    sender, or `removed` by a moderator. It is kept until `expiresAt`, for moderators only; without
    that under a legal hold."""

    _id: str
    messageId: str
    conversationId: str
    senderId: str
    body: str
    mentions: list[MentionDocument]
    metadata: dict[str, Any]
    attachments: NotRequired[list[AttachedDocument]]
    writtenAt: datetime
    replacedAt: datetime
    replacedByUserId: str
    how: Literal["edited", "deleted", "removed"]
    expiresAt: NotRequired[datetime]


class ParentDocument(TypedDict):
    """The fields of a parent message that a reply shows; `body` is only its beginning."""

    _id: str
    seq: int
    senderId: str
    body: str
    deletedAt: datetime | None


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
