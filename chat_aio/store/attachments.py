"""Finds messages that carry an attachment: only the messages in the database count."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, cast

from chat_aio.store.database import Database
from chat_aio.store.documents import MessageDocument
from chat_aio.store.messages import READ

ATTACHMENT_GRACE_PERIOD = timedelta(minutes=5)
"""How long a file is kept for a message that is about to carry it: longer than a send can take from
its last check to its commit (decision 0067)."""


async def list_carriers(
    database: Database, attachment_id: str, *, participant: str | None, after: str, limit: int
) -> list[MessageDocument]:
    """Messages that carry an attachment and are not deleted, by ascending id; with `participant`
    only those of conversations that this user is in."""
    chosen = {"attachments.id": attachment_id, "deletedAt": None, "_id": {"$gt": after}}
    stages: list[dict[str, Any]] = [{"$match": chosen}, {"$sort": {"_id": 1}}]
    if participant is not None:
        # Joined before the limit: a page would otherwise be short where others' messages are many.
        joined = {
            "from": database.conversations.name,
            "localField": "conversationId",
            "foreignField": "_id",
            "pipeline": [
                {"$match": {"participants.userId": participant}},
                {"$project": {"_id": 1}},
            ],
            "as": "inside",
        }
        stages += [{"$lookup": joined}, {"$match": {"inside": {"$ne": []}}}, {"$unset": "inside"}]
    stages += [{"$limit": limit}, {"$project": READ}]
    found = await database.aggregate(database.messages, stages)
    return cast(list[MessageDocument], found)


async def carried(database: Database, attachment_ids: Sequence[str]) -> set[str]:
    """The attachments, among these, that a message carries, or a held message, or an earlier
    version of a message."""
    ids = list(attachment_ids)
    stages: list[dict[str, Any]] = [
        # Twice: the first match uses the index, the second one leaves out other attachments of the
        # same messages.
        {"$match": {"attachments.id": {"$in": ids}}},
        {"$unwind": "$attachments"},
        {"$match": {"attachments.id": {"$in": ids}}},
        {"$group": {"_id": "$attachments.id"}},
    ]
    found: set[str] = set()
    for collection in (database.messages, database.held_messages, database.message_versions):
        found |= {row["_id"] for row in await database.aggregate(collection, stages)}
    return found
