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
    """`timelines` names the lists that contain it: its conversation's, its thread root's, or both.

    `changedAt` is the time of the last edit, deletion or change of metadata, `reactedAt`, with
    `extra_events`, that of the last change of its reactions (decision 0083). `metadataVersion`
    counts as 1 while it is missing, until the metadata are changed. Tombstones have no `terms` and
    `search`, which only searches and forwards read. The feed leaves out messages inserted with
    `importedAt`. Nobody is notified of a `silent` one.
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
    metadataVersion: NotRequired[int]
    attachments: NotRequired[list[AttachedDocument]]
    # Missing without a key, not null: the partial unique index has only strings.
    clientMessageId: NotRequired[str]
    requestHash: NotRequired[bytes]
    changedAt: NotRequired[datetime]
    reactedAt: NotRequired[datetime]
    terms: NotRequired[list[str]]
    search: NotRequired[str]
    importedAt: NotRequired[datetime]
    silent: NotRequired[bool]
    change: NotRequired[Stamp]


class VersionDocument(TypedDict):
    """A message before a change, whose id is the `_id`: it was `edited`, `deleted` by its sender,
    or `removed` by a moderator. It is kept until `expiresAt`, for moderators only; under a legal
    hold it has no `expiresAt`."""

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
