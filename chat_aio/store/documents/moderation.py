"""Reports, bans, held messages, legal holds and the audit log."""

from datetime import datetime
from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from chat_aio.store.documents.attachments import AttachedDocument


class ReportDocument(TypedDict):
    """`openKey` is set while the report is open or triaged. Its unique index allows one open report
    per reporter and target."""

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
    # Missing, not null, once the report is settled: the partial unique index has only strings.
    openKey: NotRequired[str]


class HeldMessageDocument(TypedDict):
    """A message that waits for a moderator; `_id` becomes the message's. If the request has no
    idempotency key, one is generated. `releasedBy` is set before the message is sent, and the row
    removed afterwards."""

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
    alsoSendToMain: bool
    clientMessageId: str
    requestHash: bytes
    reason: str
    createdAt: datetime
    expiresAt: NotRequired[datetime]
    # The release is decided by this field before the message is sent: if the process dies between
    # the two, another one completes the send, and nobody can discard it.
    releasedBy: str | None
    silent: NotRequired[bool]


class LegalHoldDocument(TypedDict):
    """Keeps all data of a user or a conversation from removal. `_id` is such as `user:mallory`."""

    _id: str
    targetType: Literal["user", "conversation"]
    targetId: str
    reason: str
    createdByUserId: str
    createdAt: datetime


class BanDocument(TypedDict):
    """`activeUserId` is set until the ban is revoked or replaced. Its unique index allows one such
    ban per user. A ban of another program is in force if it has the required fields."""

    _id: str
    userId: str
    createdByUserId: NotRequired[str]
    reason: NotRequired[str | None]
    createdAt: NotRequired[datetime]
    expiresAt: NotRequired[datetime | None]
    revokedAt: NotRequired[datetime | None]
    revokedByUserId: NotRequired[str | None]
    # An index cannot follow the clock: an expired ban keeps this until the next ban of the user.
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
