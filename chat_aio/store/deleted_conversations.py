"""The rows of deleted conversations: an id that has one is never used again."""

from collections.abc import Collection, Sequence
from datetime import datetime
from functools import partial
from typing import cast

from chat_aio.store.database import Database
from chat_aio.store.documents import DeletedConversationDocument
from chat_aio.store.shapes import one_readable, readable
from chat_aio.store.transactions import Session


class IdDeleted(Exception):
    """The id is that of a deleted conversation; nothing was written."""


async def find(database: Database, conversation_id: str) -> DeletedConversationDocument | None:
    """The row of a deleted conversation; None if the id is not that of one."""
    rows = database.deleted_conversations
    found = await database.read(lambda: rows.find_one({"_id": conversation_id}))
    return one_readable("deleted_conversations", cast(DeletedConversationDocument | None, found))


async def find_many(
    database: Database, conversation_ids: Collection[str]
) -> dict[str, DeletedConversationDocument]:
    """The deleted conversations among these ids."""
    rows = database.deleted_conversations.find({"_id": {"$in": [*conversation_ids]}})
    found = await database.read(partial(rows.to_list, None))
    deleted = readable("deleted_conversations", cast(list[DeletedConversationDocument], found))
    return {row["_id"]: row for row in deleted}


async def require_unused(
    database: Database, conversation_ids: Sequence[str], session: Session
) -> None:
    """Raise IdDeleted if one of these ids is that of a deleted conversation. A transaction calls it
    after it has locked the heads, which a deletion locks as well."""
    chosen = {"_id": {"$in": [*conversation_ids]}}
    if await database.deleted_conversations.find_one(chosen, {"_id": 1}, session=session):
        raise IdDeleted


def time_of(deleted: DeletedConversationDocument, seq: int) -> datetime | None:
    """A time at which a message had not been created yet, or that of its creation; None if no
    message that old was there any longer."""
    earlier = [position["at"] for position in deleted["positions"] if position["seq"] <= seq]
    return earlier[-1] if earlier else None
