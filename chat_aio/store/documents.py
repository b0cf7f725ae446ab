"""What is kept: the documents of each collection, in camelCase as they stand in MongoDB.

The collections' validators and what readers leave out follow from these (`store/shapes.py`). What
every running version writes is required; a field that is new is `NotRequired`.
"""

from datetime import datetime
from typing import Annotated, Any, Literal, NotRequired

from pydantic import SkipValidation
from typing_extensions import TypedDict

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
    """The stamp of a write that clients hear of, set as a whole in the same atomic update."""

    id: str
    at: datetime
    kind: EventName
    actorId: str
    addedUserIds: NotRequired[list[str]]
    removedUserIds: NotRequired[list[str]]
    affectedUserIds: NotRequired[list[str]]
    emoji: NotRequired[str]


Stamp = Annotated[Change, SkipValidation]
"""A change as it stands in a row: one that cannot be told spoils nothing else of the row."""

OwnCount = TypedDict("OwnCount", {"from": int, "to": int, "count": int})
"""A check-point: the participant sent `count` messages with a seq in (from, to]."""


class ParticipantDocument(TypedDict):
    userId: str
    role: Literal["admin", "member"]
    joinedAt: datetime
    lastReadMessageId: str | None
    lastReadSeq: int
    own: NotRequired[OwnCount]


class ConversationDocument(TypedDict):
    """`blockedBy`, of a direct conversation: who of the two has blocked the other."""

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
    """One for each user and group; asking again after a decision replaces it."""

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
    """`openKey` is there while the report is open or triaged: one at a time for each reporter and
    target."""

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


class BanDocument(TypedDict):
    """`activeUserId` is there until the ban is revoked, or another one follows it: one at a time
    for each user. Another program's ban is in force with no more than is required here."""

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
"""One decision of a moderator; never changed afterwards."""


class CounterDocument(TypedDict):
    """The head of a conversation: small, hot, and the first lock of every transaction about it.

    Messages up to `floorSeq` are removed, those up to `emptiedSeq` are tombstones, by retention.
    """

    _id: str
    seq: int
    activityAt: datetime
    epoch: int
    fence: int
    public: bool
    floorSeq: int
    emptiedSeq: NotRequired[int]


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
    """What a message is found by: its terms in order, and the text index's words for them."""

    terms: list[str]
    search: str


class MessageDocument(TypedDict):
    """`timelines` names the lists it stands in: its conversation's, its thread root's, or both.

    `changedAt` is when it was last edited or deleted. `terms` and `search` are not there on
    tombstones, and never read but by a search.
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
    clientMessageId: NotRequired[str]
    requestHash: NotRequired[bytes]
    changedAt: NotRequired[datetime]
    terms: NotRequired[list[str]]
    search: NotRequired[str]
    change: NotRequired[Stamp]


class ParentDocument(TypedDict):
    """What a reply shows of the message it answers; `body` is its beginning."""

    _id: str
    senderId: str
    body: str
    deletedAt: datetime | None


class SettingDocument(TypedDict):
    """What an installation keeps for itself; each has one of these.

    `direct_conversation_key` a `value`, a pseudonym its `erasures`, `schema` a `version` and while
    it is raised where that stands (`migrating`), `restored` the time `at` which a backup came back.
    """

    _id: str
    value: NotRequired[bytes]
    erasures: NotRequired[int]
    version: NotRequired[int]
    migrating: NotRequired[dict[str, Any]]
    at: NotRequired[datetime]


class PresenceDocument(TypedDict):
    """`_id` is the user; `processes` name where they have streams open."""

    _id: str
    processes: list[str]
    lastSeenAt: datetime


class ProcessDocument(TypedDict):
    """A process that keeps presence; `seenAt` is in the database's own time."""

    _id: str
    seenAt: datetime
    dead: NotRequired[bool]


class SignalDocument(TypedDict):
    """Short-lived news between processes."""

    _id: str
    kind: str
    at: datetime
    notes: NotRequired[list[dict[str, Any]]]
