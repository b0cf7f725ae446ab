"""The created messages of a chat, from the change stream and from storage."""

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from chat_aio.store.change_stream import ENDS
from chat_aio.store.database import Database
from chat_aio.store.following import Changes, Followed, Source
from chat_aio.store.maintenance.scanning import listed, scan
from chat_aio.store.shapes import WHOLE

EARLIER = timedelta(minutes=1)
"""Messages need not be committed in the order of their times: storage is read from earlier on."""

_FIELDS = ("conversationId", "seq", "senderId", "createdAt")
_WITHOUT = ("importedAt", "silent")


class CreatedMessage(NamedTuple):
    """A message that was sent or forwarded; imported messages are not included."""

    message_id: str
    conversation_id: str
    seq: int
    sender_id: str
    created_at: datetime


CreatedMessages = Followed[CreatedMessage]


async def created_since(
    database: Database, at: datetime, *, silent: bool = False
) -> AsyncIterator[list[CreatedMessage]]:
    """The messages that were created since a minute before `at`, by conversation, also those that
    are `silent` if wanted. The heads of all conversations are read."""
    since = {"$gte": at - EARLIER}
    without = ("importedAt",) if silent else _WITHOUT
    async for _, heads in scan(database, database.counters, {"activityAt": since}, {"_id": 1}):
        for head in heads:
            chosen = {
                "conversationId": head["_id"],
                "createdAt": since,
                **{field: {"$exists": False} for field in without},
                "seq": {"$type": WHOLE},
            }
            async for found in listed(database, database.messages, chosen):
                yield [*filter(None, map(created_from, found))]


def created_from(document: Mapping[str, Any]) -> CreatedMessage | None:
    """None if another program has written the document in another shape."""
    match document:
        case {
            "_id": str(message_id),
            "conversationId": str(conversation_id),
            "seq": int(seq),
            "senderId": str(sender_id),
            "createdAt": datetime() as at,
        }:
            at = at if at.tzinfo else at.replace(tzinfo=UTC)
            return CreatedMessage(message_id, conversation_id, seq, sender_id, at)
    return None


async def _read(_: Database, changes: Changes) -> Sequence[CreatedMessage]:
    return [*filter(None, (created_from(change["fullDocument"]) for change in changes))]


# A stream cannot be resumed with another pipeline.
_PIPELINE: list[dict[str, Any]] = [
    {
        "$match": {
            "$or": [
                {
                    "operationType": "insert",
                    **{f"fullDocument.{field}": {"$exists": False} for field in _WITHOUT},
                },
                {"operationType": {"$in": [*ENDS]}},
            ]
        }
    },
    {
        "$project": {
            "operationType": 1,
            **{f"fullDocument.{field}": 1 for field in ("_id", *_FIELDS)},
        }
    },
]

CREATED_MESSAGES = Source(
    name="created messages",
    collection="messages",
    pipeline=lambda _: _PIPELINE,
    read=_read,
    time_of=lambda message: message.created_at,
)
"""Without imported and silent messages."""
