"""Stored drafts: the documents of the plugin's collection."""

from datetime import datetime

from typing_extensions import TypedDict


class DraftDocument(TypedDict):
    """A message that is being written, in the parts in which it arrived; `length` is their total
    length in code points. It is kept until `expiresAt`, which every part postpones."""

    _id: str
    conversationId: str
    senderId: str
    askedByUserId: str | None
    replyToMessageId: str | None
    threadRootMessageId: str | None
    clientMessageId: str
    parts: list[str]
    count: int
    length: int
    stoppedBy: str | None
    isFinished: bool
    startedAt: datetime
    expiresAt: datetime
