"""Data written directly to MongoDB, as `chat_aio.store.documents` has them, many at a time."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import Any, cast

from pymongo import UpdateOne, WriteConcern

from benchmarks.stage import BenchDatabase, Stage
from chat_aio.store.database import Database
from chat_aio.store.documents import ConversationDocument, CounterDocument, MessageDocument
from chat_aio.store.maintenance import migrate
from chat_aio.store.messages import new_message
from chat_aio.store.metadata import escaped

BEGINNING = datetime(2026, 1, 1, tzinfo=UTC)
BODY = "Shall we meet at the station at half past six, or is that too early for you?"
BATCH = 10_000
WRITERS = 2

Bodies = Callable[[int], str]
"""The body of the message with a seq."""


@dataclass(frozen=True, slots=True)
class Place:
    """A conversation and its users; `messages` is the number of messages it has already."""

    id: str
    user_ids: tuple[str, ...]
    messages: int = 0


def places(prefix: str, count: int, *, members: int = 4, messages: int = 0) -> list[Place]:
    """`count` conversations with `members` users each, no user in two of them."""
    return [
        Place(
            f"{prefix}-{number:04}",
            tuple(f"{prefix}-{number:04}-u{user:03}" for user in range(members)),
            messages,
        )
        for number in range(count)
    ]


def conversation_document(place: Place) -> ConversationDocument:
    return {
        "_id": place.id,
        "type": "group",
        "pairKey": None,
        "name": place.id,
        "createdAt": BEGINNING,
        "metadata": {},
        "visibility": "private",
        "joinPolicy": "approval",
        "epoch": 1,
        "participants": [
            {
                "userId": user_id,
                "role": "member" if number else "admin",
                "joinedAt": BEGINNING,
                "lastReadMessageId": None,
                "lastReadSeq": 0,
                "sentUpToSeq": 0,
                "sentCount": 0,
            }
            for number, user_id in enumerate(place.user_ids)
        ],
        "change": {
            "id": place.id,
            "at": BEGINNING,
            "kind": "conversation.created",
            "actorId": place.user_ids[0],
            "addedUserIds": [],
        },
    }


def counter_document(place: Place) -> CounterDocument:
    return {
        "_id": place.id,
        "seq": place.messages,
        "activityAt": BEGINNING,
        "epoch": 1,
        "fence": 0,
        "public": False,
        "floorSeq": 0,
    }


def message_document(
    conversation_id: str,
    seq: int,
    sender_id: str,
    *,
    message_id: str,
    body: str = BODY,
    searchable: bool = False,
) -> MessageDocument:
    """A message without search fields, unless `searchable`: most rows would only wait for the text
    index over all loaded messages."""
    message = new_message(
        message_id, conversation_id, sender_id, body, at=BEGINNING, searchable=searchable
    )
    message["seq"] = seq
    return message


async def put_conversations(database: BenchDatabase, found: Sequence[Place]) -> None:
    """Write the conversations with their heads, into a database of the newest version."""
    await migrate.note_version(Database(database))
    await insert(database, "conversations", map(conversation_document, found))
    await insert(database, "counters", map(counter_document, found))


async def put_messages(
    stage: Stage,
    database: BenchDatabase,
    found: Iterable[tuple[Place, Sequence[str]]],
    *,
    bodies: Bodies | None = None,
) -> None:
    """Fill conversations with their `messages`, senders taking turns; with `bodies` searchable.

    Fastest before there are indexes: a service creates them when it starts.
    """
    chosen = list(found)
    total = sum(place.messages for place, _ in chosen)
    stage.tell(f"loading {total:,} messages")
    documents = (
        message_document(
            place.id,
            seq,
            senders[seq % len(senders)],
            message_id=f"{place.id}-{seq:07}",
            body=bodies(seq) if bodies else BODY,
            searchable=bodies is not None,
        )
        for place, senders in chosen
        for seq in range(1, place.messages + 1)
    )
    await insert(database, "messages", documents)
    await database["counters"].bulk_write(
        [
            UpdateOne({"_id": place.id}, {"$set": _counts(place, senders)})
            for place, senders in chosen
        ]
    )


def _counts(place: Place, senders: Sequence[str]) -> dict[str, Any]:
    """A head's counts of the messages of a place."""
    sent = Counter(senders[seq % len(senders)] for seq in range(1, place.messages + 1))
    return {"counted": place.messages, "sent": escaped(dict(sent))}


async def insert(database: BenchDatabase, collection: str, documents: Iterable[Any]) -> None:
    """Two writers take turns at the generator: one encodes while the server works for the other."""
    remaining: Iterator[Any] = iter(documents)
    target = database[collection].with_options(write_concern=WriteConcern("majority"))

    async def write() -> None:
        while batch := list(islice(remaining, BATCH)):
            await target.insert_many(cast(list[dict[str, Any]], batch), ordered=False)

    await asyncio.gather(*(write() for _ in range(WRITERS)))
