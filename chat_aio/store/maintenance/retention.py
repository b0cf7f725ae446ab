"""Retention: the old messages of a conversation are emptied or removed.

Old messages are those up to some seq, because `createdAt` never falls as `seq` rises. The head
records how far retention has come, so that nothing is examined twice (docs/reference/data-model.md,
counters).
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, cast

from pymongo import UpdateOne

from chat_aio.errors import ConversationNotFound
from chat_aio.store import conversations
from chat_aio.store.database import Database
from chat_aio.store.documents import Change, CounterDocument
from chat_aio.store.edits import emptied
from chat_aio.store.maintenance.progress import Advance
from chat_aio.store.sent_counts import WITHOUT_COUNTS

MESSAGES_AT_A_TIME = 250
HEADS_AT_A_TIME = 10_000
SECONDS = 60.0

TOMBSTONES_PER_SECOND = 1_000
"""Every tombstone is an event on the streams, in addition to users' messages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Old:
    """The old messages of a conversation: those with a seq in (after, upto]."""

    conversation_id: str
    after: int
    upto: int

    def __len__(self) -> int:
        return self.upto - self.after

    @property
    def whole(self) -> dict[str, Any]:
        span = {"$gt": self.after, "$lte": self.upto}
        return {"conversationId": self.conversation_id, "seq": span}

    def parts(self) -> Iterator[tuple[dict[str, Any], int]]:
        """Queries for some of them at a time, oldest first, and the number of seqs each query
        spans."""
        for start in range(self.after, self.upto, MESSAGES_AT_A_TIME):
            end = min(start + MESSAGES_AT_A_TIME, self.upto)
            span = {"$gt": start, "$lte": end}
            yield {"conversationId": self.conversation_id, "seq": span}, end - start


async def list_heads(
    database: Database, *, conversation_id: str | None = None
) -> list[CounterDocument]:
    """The head of a conversation, or all heads. Raises ConversationNotFound."""
    if conversation_id is not None:
        head = await conversations.find_head(database, conversation_id)
        if head is None:
            raise ConversationNotFound
        return [head]
    heads: list[CounterDocument] = []
    while True:
        behind = {"_id": {"$gt": heads[-1]["_id"]}} if heads else {}
        # Conversations without a message have none that is old.
        rows = database.counters.find({**behind, "seq": {"$gt": 0}}, WITHOUT_COUNTS)
        rows = rows.sort("_id", 1).limit(HEADS_AT_A_TIME)
        found = await database.read(partial(rows.to_list, None), seconds=SECONDS)
        heads += found
        if len(found) < HEADS_AT_A_TIME:
            return heads


async def find_old_to_empty(
    database: Database, head: CounterDocument, *, before: datetime
) -> Old | None:
    """The messages from before a moment that are not known to be tombstones; None if none."""
    return await _find_old(database, head, before, done=head.get("emptiedSeq", 0))


async def find_old_to_remove(
    database: Database, head: CounterDocument, *, before: datetime
) -> Old | None:
    """The messages from before a moment, and those left by an interrupted removal."""
    return await _find_old(database, head, before, done=0)


async def _find_old(
    database: Database, head: CounterDocument, before: datetime, *, done: int
) -> Old | None:
    """A message that follows a younger one, or one without a valid time, does not count as old."""
    known = max(done, head.get("floorSeq", 0))
    here = {"conversationId": head["_id"]}
    young = {"seq": {"$gt": known, "$lte": head["seq"]}, "createdAt": {"$not": {"$lt": before}}}
    # Old messages come first, so the first young one is where they end.
    first_young = await database.read(
        lambda: database.messages.find_one({**here, **young}, {"seq": 1}, sort=[("seq", 1)]),
        seconds=SECONDS,
    )
    upto = first_young["seq"] - 1 if first_young else head["seq"]
    if upto <= done:
        return None
    # Not from the floor on: an interrupted removal has left messages below it.
    oldest = await database.read(
        lambda: database.messages.find_one(
            {**here, "seq": {"$gt": done, "$lte": upto}}, {"seq": 1}, sort=[("seq", 1)]
        )
    )
    if oldest is None:
        return None
    return Old(conversation_id=head["_id"], after=oldest["seq"] - 1, upto=upto)


async def count(database: Database, old: Old, *, live: bool) -> int:
    """The number of old messages; with `live`, of those that are no tombstones."""
    chosen = {**old.whole, "deletedAt": None} if live else old.whole
    return cast(
        int, await database.read(lambda: database.messages.count_documents(chosen), seconds=SECONDS)
    )


async def empty(
    database: Database, old: Old, *, change: Callable[[], Change], advance: Advance
) -> int:
    """Turn old messages into tombstones, as a deletion does, and record that in the head; returns
    their number.

    `change` returns the stamp of a write; `advance` is called with the number of seqs passed.
    """
    done = 0
    for part, size in old.parts():
        live = {**part, "deletedAt": None}
        written = await database.write(
            partial(database.messages.update_many, live, emptied(change()))
        )
        done += written.modified_count
        advance(size)
        await asyncio.sleep(written.modified_count / TOMBSTONES_PER_SECOND)
    # Only at the end: an interrupted run starts again where the last complete one has ended.
    await database.write(
        lambda: database.counters.update_one(
            {"_id": old.conversation_id}, {"$max": {"emptiedSeq": old.upto}}
        )
    )
    # A moderator may have restored a message that was passed. From here on, nobody can.
    for part, _ in old.parts():
        live = {**part, "deletedAt": None}
        update = emptied(change())
        done += (
            await database.write(partial(database.messages.update_many, live, update))
        ).modified_count
    return done


async def raise_floors(database: Database, olds: Iterable[Old]) -> None:
    """Record in the heads which messages will be removed: unread counts then leave them out."""
    # `$max`: an earlier run, or one in another process, may have come further.
    updates = [
        UpdateOne({"_id": old.conversation_id}, {"$max": {"floorSeq": old.upto}}) for old in olds
    ]
    for start in range(0, len(updates), MESSAGES_AT_A_TIME):
        some = updates[start : start + MESSAGES_AT_A_TIME]
        await database.write(partial(database.counters.bulk_write, some, ordered=False))


async def remove(database: Database, old: Old, *, advance: Advance) -> int:
    """Remove the messages below the floor; returns their number."""
    done = 0
    for part, size in old.parts():
        deleted = await database.write(partial(database.messages.delete_many, part))
        done += deleted.deleted_count
        advance(size)
    return done
