"""The database's change stream, and the ticks by which its reader knows that it is not behind."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

import pymongo
from bson import Timestamp
from pymongo.errors import OperationFailure, PyMongoError

from chat_aio.store.database import Database, settled

RawChange = Mapping[str, Any]
BATCH = 256
AWAIT_MS = 400

_UNREAD = ("clusterTime", "lsid", "txnNumber", "updateDescription.removedFields")
_UNREAD_OF_MESSAGES = ("requestHash", "terms", "search")

_WRITES = ("insert", "update", "replace", "delete")

_HISTORY_LOST = frozenset({136, 260, 280, 286})
_ENDS = frozenset({"invalidate", "dropDatabase", "drop", "rename"})


class ChangesBroken(Exception):
    """The change stream failed; it can be resumed after the last change that was read."""


class HistoryLost(ChangesBroken):
    """What was missed is gone from the oplog, or a collection was dropped: there is a gap."""


class Changes:
    """An open change stream over conversations, messages, signals, blocks and bans of a chat."""

    def __init__(self, cursor: Any) -> None:
        self._cursor = cursor

    async def next(self) -> RawChange | None:
        """The next change; None after a moment without one. Raises ChangesBroken."""
        try:
            change: RawChange | None = await self._cursor.try_next()
        except PyMongoError as error:
            raise _broken(error) from error
        if change and change["operationType"] in _ENDS:
            raise HistoryLost(f"the change stream ended with {change['operationType']}")
        return change

    async def close(self) -> None:
        """Let the server forget the cursor, if it can be reached at once."""
        with suppress(PyMongoError, TimeoutError):
            async with asyncio.timeout(1):
                await settled(self._cursor.close())


async def open_changes(
    database: Database,
    *,
    after: Mapping[str, Any] | None = None,
    past: float = 0.0,
    timed: bool = False,
) -> Changes:
    """Open the stream after a change's `_id`, or `past` seconds ago; `timed` changes say when they
    were written. Raises ChangesBroken."""
    try:
        with pymongo.timeout(database.timeout):
            start = (
                {"resume_after": after}
                if after
                else {"start_at_operation_time": await _operation_time(database, past)}
            )
        # Not pymongo.timeout: its limit would stay with the cursor for all of its life.
        async with asyncio.timeout(database.timeout):
            watching = database.handle.watch(
                _pipeline(database, timed=timed),
                batch_size=BATCH,
                max_await_time_ms=AWAIT_MS,
                **start,
            )
            cursor = await settled(watching)
    except TimeoutError as error:
        raise ChangesBroken("the change stream could not be opened in time") from error
    except PyMongoError as error:
        raise _broken(error) from error
    return Changes(cursor)


async def tick(database: Database, *, tick_id: str, at: datetime) -> None:
    """Write a signal that the change stream must show. Raises StorageUnavailable."""
    await database.write(
        lambda: database.signals.insert_one({"_id": tick_id, "kind": "tick", "at": at})
    )


def lag_of(changes: Sequence[RawChange], *, now: datetime) -> float | None:
    """How many seconds ago the oldest of these changes was written; None if they do not say."""
    written = [each["wallTime"] for each in changes if "wallTime" in each]
    return max(0.0, (now - min(written)).total_seconds()) if written else None


def tick_id_of(change: RawChange, database: Database) -> str | None:
    """The id of the tick that a change shows, None for any other change."""
    if change["ns"]["coll"] != database.signals.name:
        return None
    signal = change["fullDocument"]
    return signal["_id"] if signal.get("kind") == "tick" else None


def _broken(error: PyMongoError) -> ChangesBroken:
    lost = isinstance(error, OperationFailure) and error.code in _HISTORY_LOST
    return HistoryLost(str(error)) if lost else ChangesBroken(str(error))


def _pipeline(database: Database, *, timed: bool) -> list[dict[str, Any]]:
    """Constant: a stream cannot be resumed under another pipeline."""
    kept = [each.name for each in (database.conversations, database.messages)]
    whole = [each.name for each in (database.blocks, database.bans)]
    ours = [*kept, *whole, database.signals.name]
    unread = _UNREAD if timed else (*_UNREAD, "wallTime")
    stamped = {"updateDescription.updatedFields.change": {"$exists": True}}
    return [
        {
            "$match": {
                "$or": [
                    {"operationType": "insert", "ns.coll": {"$in": ours}},
                    {"operationType": "update", "ns.coll": {"$in": kept}, **stamped},
                    {"operationType": {"$in": _WRITES}, "ns.coll": {"$in": whole}},
                    {"operationType": {"$in": ["drop", "rename"]}, "ns.coll": {"$in": ours}},
                    {"operationType": {"$in": ["dropDatabase", "invalidate"]}},
                ]
            }
        },
        {"$unset": [*unread, *(f"fullDocument.{each}" for each in _UNREAD_OF_MESSAGES)]},
    ]


async def _operation_time(database: Database, past: float) -> Timestamp:
    hello = await database.handle.command("hello")
    now: Timestamp = hello["operationTime"]
    return Timestamp(max(1, now.time - int(past)), 1) if past else Timestamp(now.time, now.inc + 1)
