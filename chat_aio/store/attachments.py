"""Which messages carry an attachment: those of the database are what counts."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, cast

from chat_aio.store.database import Database
from chat_aio.store.documents import MessageDocument
from chat_aio.store.messages import READ

KEPT_FOR_A_SEND = timedelta(minutes=5)
"""So long a file is kept for a message that is about to carry it: longer than a send can take from
its last question to its commit (docs/decisions/0067)."""


async def list_carriers(
    database: Database, attachment_id: str, *, participant: str | None, after: str, limit: int
) -> list[MessageDocument]:
    """Messages that carry an attachment and are not deleted, by ascending id; with `participant`
    only those of conversations that this user is in."""
    chosen = {"attachments.id": attachment_id, "deletedAt": None, "_id": {"$gt": after}}
    stages: list[dict[str, Any]] = [{"$match": chosen}, {"$sort": {"_id": 1}}]
    if participant is not None:
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
    """Those of some attachments that a message carries, or a held one, or an earlier version of
    one."""
    ids = list(attachment_ids)
    stages: list[dict[str, Any]] = [
        {"$match": {"attachments.id": {"$in": ids}}},
        {"$unwind": "$attachments"},
        {"$match": {"attachments.id": {"$in": ids}}},
        {"$group": {"_id": "$attachments.id"}},
    ]
    found: set[str] = set()
    for collection in (database.messages, database.held_messages, database.message_versions):
        found |= {row["_id"] for row in await database.aggregate(collection, stages)}
    return found
