"""Stored attachments: in messages, and the documents of the plugin's collections."""

from datetime import datetime
from typing import Literal, NotRequired

from typing_extensions import TypedDict


class AttachedDocument(TypedDict):
    """A file in the messages that carry it; `id` is the `_id` of its row."""

    id: str
    name: str
    contentType: str
    size: int
    width: int | None
    height: int | None
    hasThumbnail: bool


class AttachmentDocument(TypedDict):
    """A file that a user has sent to a conversation. `store` names the place of its bytes.

    Until `keepUntil` no search for messages that carry it is made. A row that is `gone` counts in
    its user's limits until `expiresAt`. `size` is at first the size that the request declares.
    """

    _id: str
    userId: str
    conversationId: str
    state: Literal["uploading", "stored", "removing", "gone"]
    store: str
    name: str
    contentType: str
    size: int
    width: int | None
    height: int | None
    hasThumbnail: bool
    thumbnailSize: NotRequired[int]
    createdAt: datetime
    keepUntil: datetime
    usedAt: NotRequired[datetime]
    expiresAt: NotRequired[datetime]


class StoredFileDocument(TypedDict):
    """A file in GridFS; it is written after all of its chunks."""

    _id: str
    length: int
    chunkSize: int
    uploadDate: datetime


class StoredChunkDocument(TypedDict):
    """The bytes from `n` times `chunkSize` on, at most `chunkSize`, of a file in GridFS."""

    _id: str
    files_id: str
    n: int
    data: bytes
