"""Stored documents of the inbox."""

from typing_extensions import TypedDict


class ThreadStateDocument(TypedDict):
    """`_id` is `{userId, rootId}`. `follows` is null if it was neither followed nor unfollowed."""

    _id: dict[str, str]
    userId: str
    rootId: str
    conversationId: str
    follows: bool | None
    lastReadSeq: int
