"""The directory of public groups."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from chat_aio.store import conversations, keyset_query
from chat_aio.store.database import Database
from chat_aio.store.documents import CounterDocument
from chat_aio.store.rows import Rows, read_rows
from chat_aio.store.shapes import readable


class ChannelDocument(TypedDict):
    """The fields of a group in the directory. MongoDB counts, so 256 participants are not sent.
    `topic` is missing until set."""

    _id: str
    name: str | None
    joinPolicy: Literal["open", "approval"]
    createdAt: datetime
    metadata: dict[str, Any]
    participantCount: int
    alreadyParticipant: bool
    topic: NotRequired[str]


async def list_public_heads(
    database: Database, *, position: keyset_query.After | None, limit: int
) -> list[CounterDocument]:
    """Heads of public groups behind a position, most recently active first."""
    chosen: dict[str, object] = {"public": True}
    if position:
        # Implied by the position, but an `$or` alone gives the index no bound.
        chosen["activityAt"] = {"$lte": position[0]}
    return await conversations.find_heads(database, chosen, limit=limit, position=position)


async def ids_containing(database: Database, ids: Sequence[str], text: str) -> set[str]:
    """The public groups among `ids` with a text in their name, or in their topic with
    `room_controls`."""
    # A topic that is not shown must not be found: a search would reveal it.
    fields = ("name", "topic") if database.optional_fields.room_controls else ("name",)
    found = {
        "_id": {"$in": list(ids)},
        "visibility": "public",
        "$or": [{field: conversations.with_text(text)} for field in fields],
    }
    rows = await database.read(lambda: database.conversations.find(found, {"_id": 1}).to_list(None))
    return {row["_id"] for row in rows}


async def read_many(
    database: Database, ids: Sequence[str], *, viewer_id: str
) -> Rows[ChannelDocument]:
    """The public groups among `ids`, as shown to `viewer_id`, in any order."""
    users = "$participants.userId"
    shown = {
        "name": 1,
        "topic": 1,
        "joinPolicy": 1,
        "createdAt": 1,
        "metadata": 1,
        "participantCount": {"$size": users},
        # `$literal`: an id that starts with `$` would be read as the name of a field.
        "alreadyParticipant": {"$in": [{"$literal": viewer_id}, users]},
    }
    public = {
        "_id": {"$in": list(ids)},
        "visibility": "public",
        # `$size` fails the whole query for a row of another program without a list.
        "participants": {"$type": "array"},
    }
    # A find and not an aggregation, whose raw batches start with an empty one.
    rows = await read_rows(
        database,
        database.conversations,
        lambda: database.conversations.find_raw_batches(public, shown),
    )
    kept = readable("conversations", rows.documents, shape=ChannelDocument)
    return replace(rows, documents=kept)
