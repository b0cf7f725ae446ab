"""Messages, with their reactions and mentions, and their earlier versions."""

from datetime import datetime
from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from chat_aio.store.documents.attachments import AttachedDocument
from chat_aio.store.documents.changes import Stamp


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
