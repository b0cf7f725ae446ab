"""The change stream of the database as typed changes, and the ticks that prove it is up to date."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any, Literal, NamedTuple

import pymongo
from bson import Timestamp
from pymongo.errors import OperationFailure, PyMongoError

from chat_aio.errors import StorageUnavailable
from chat_aio.store.calls import LateCall
from chat_aio.store.database import Database
from chat_aio.store.drivers import maybe_await

BATCH = 256
CLOSE_SECONDS = 1.0

AWAIT_MS = 400
"""How long the server holds a read open while nothing changes. Stopping may take as long."""

# The server removes fields that nobody reads, so that they are neither sent nor decoded.
_UNREAD = ("clusterTime", "lsid", "txnNumber", "updateDescription.removedFields")
_UNREAD_OF_MESSAGES = ("requestHash", "terms", "search")

FOLLOWED = ("conversations", "messages", "signals", "blocks", "bans")

# CappedPositionLost, InvalidResumeToken, ChangeStreamFatalError and ChangeStreamHistoryLost.
_HISTORY_LOST = frozenset({136, 260, 280, 286})
ENDS = ("drop", "rename", "dropDatabase", "invalidate")
"""After these a stream cannot be resumed."""


class StreamChange(NamedTuple):
    """One change of a document. `collection` is the name without the prefix; `document` is the
    whole document if the change contains it, else empty; `updated` are the fields set by an update.

    Documents are not validated: other programs also write to these collections.
    """

    collection: str
    operation: Literal["insert", "update", "replace", "delete"]
    document_id: Any
    document: Any
    updated: Mapping[str, Any]
    token: Mapping[str, Any]
    written_at: datetime | None

    @property
    def tick_id(self) -> str | None:
        """The id of the tick that this change is; None for any other change."""
        is_tick = self.collection == "signals" and self.document.get("kind") == "tick"
        return self.document_id if is_tick else None


class ChangesBroken(Exception):
    """The change stream failed; it can be resumed after the last change that was read."""


class HistoryLost(ChangesBroken):
    """Missed changes are no longer in the oplog, or a collection was dropped: there is a gap."""


class Changes:
    """An open change stream over the FOLLOWED collections of a chat.

    Its reader is stopped by a flag and never cancelled: a cancelled call can break the client.
    """

    def __init__(self, database: Database, cursor: Any) -> None:
        self._database = database
        self._cursor = cursor
        self._stopped = False
        self._names = {database.collection(name).name: name for name in FOLLOWED}

    def start(self, take: Callable[[StreamChange], Awaitable[None]]) -> asyncio.Task[None]:
        """Call `take` with every change, in order, until `stop`. The returned task raises
        ChangesBroken if the stream fails."""
        return self._database.calls.leave(self._read(take))

    def stop(self) -> None:
        """Take no more changes, and close the cursor.

        MongoDB does not end a read that is waiting for changes when its cursor is killed. The task
        of `start` ends when that read does: after `AWAIT_MS` at most, or by its timeout.
        """
        if not self._stopped:
            self._stopped = True
            self._database.calls.leave(close_cursor(self._cursor))

    async def _read(self, take: Callable[[StreamChange], Awaitable[None]]) -> None:
        try:
            while not self._stopped:
                # Bounded, since a paused server would hold the read for ever. One bound for many
                # changes, because making one costs as much as reading a change; but only for a
                # tenth of its time, so that the last read has nearly the whole time left.
                until = time.monotonic() + self._database.timeout / 10
                with pymongo.timeout(self._database.timeout):
                    while not self._stopped and time.monotonic() < until:
                        raw: Mapping[str, Any] | None = await self._cursor.try_next()
                        if raw is None or self._stopped:
                            break
                        kind = raw["operationType"]
                        if kind in ENDS:
                            raise HistoryLost(f"the change stream ended with {kind}")
                        change = StreamChange(
                            self._names[raw["ns"]["coll"]],
                            kind,
                            raw["documentKey"]["_id"],
                            raw.get("fullDocument") or {},
                            raw.get("updateDescription", {}).get("updatedFields", {}),
                            raw["_id"],
                            raw.get("wallTime"),
                        )
                        await take(change)
        except PyMongoError as error:
            # A read that fails after `stop` loses nothing: its cursor was killed.
            if not self._stopped:
                raise broken(error) from error
        finally:
            self.stop()


async def close_cursor(cursor: Any) -> None:
    """Close the cursor of a change stream, which the server would keep for minutes."""
    # If the server cannot be reached at once, its own time limit closes the cursor.
    with suppress(PyMongoError), pymongo.timeout(CLOSE_SECONDS):
        await maybe_await(cursor.close())


async def open_changes(
    database: Database,
    *,
    after: Mapping[str, Any] | None = None,
    past: float = 0.0,
    timed: bool = False,
) -> Changes:
    """Open the stream after the change with the token `after`, or `past` seconds ago. `timed`
    changes have `written_at`. Raises ChangesBroken."""
    wanted = True

    async def watch() -> Changes:
        start = (
            {"resume_after": after}
            if after
            else {"start_at_operation_time": await operation_time(database, past)}
        )
        watching = database.handle.watch(
            _pipeline(database, timed=timed),
            batch_size=BATCH,
            max_await_time_ms=AWAIT_MS,
            **start,
        )
        opened = Changes(database, await maybe_await(watching))
        if not wanted:  # Opened after the caller got an error: nobody else would close it.
            opened.stop()
        return opened

    try:
        return await database.calls.run(watch, seconds=database.timeout)
    except (LateCall, StorageUnavailable) as error:
        raise ChangesBroken("the change stream could not be opened in time") from error
    except PyMongoError as error:
        raise broken(error) from error
    finally:
        wanted = False


async def tick(database: Database, *, tick_id: str, at: datetime) -> None:
    """Write a tick, which must come back through the change stream. Raises StorageUnavailable."""
    await database.write(
        lambda: database.signals.insert_one({"_id": tick_id, "kind": "tick", "at": at})
    )


def lag_of(changes: Sequence[StreamChange], *, now: datetime) -> float | None:
    """How many seconds ago the oldest of these changes was written; None without `written_at`."""
    written = [change.written_at for change in changes if change.written_at]
    return max(0.0, (now - min(written)).total_seconds()) if written else None


def broken(error: PyMongoError) -> ChangesBroken:
    """The driver's error as HistoryLost or ChangesBroken."""
    lost = isinstance(error, OperationFailure) and error.code in _HISTORY_LOST
    return HistoryLost(str(error)) if lost else ChangesBroken(str(error))


def _pipeline(database: Database, *, timed: bool) -> list[dict[str, Any]]:
    """The pipeline of the stream: inserts, stamped updates, and all changes of blocks and bans.
    Imported messages are left out: a hundred thousand of them would displace new messages from
    every process's replay buffer. The conversation is inserted last, and is included.

    It must always be the same: a stream cannot be resumed with another pipeline.
    """
    # MongoDB compares every write of the database with it: plain branches take a third less time
    # than inserts of all five collections with `$nor` imported messages.
    kept = [collection.name for collection in (database.conversations, database.messages)]
    whole = [collection.name for collection in (database.blocks, database.bans)]
    ours = [*kept, *whole, database.signals.name]
    unread = _UNREAD if timed else (*_UNREAD, "wallTime")
    rest = [database.conversations.name, database.signals.name]
    live = {"fullDocument.importedAt": {"$exists": False}}
    stamped = {"updateDescription.updatedFields.change": {"$exists": True}}
    return [
        {
            "$match": {
                "$or": [
                    {"operationType": "insert", "ns.coll": database.messages.name, **live},
                    {"operationType": "insert", "ns.coll": {"$in": rest}},
                    {"operationType": "update", "ns.coll": {"$in": kept}, **stamped},
                    {"ns.coll": {"$in": whole}},
                    {"operationType": {"$in": ["drop", "rename"]}, "ns.coll": {"$in": ours}},
                    {"operationType": {"$in": ["dropDatabase", "invalidate"]}},
                ]
            }
        },
        {"$unset": [*unread, *(f"fullDocument.{field}" for field in _UNREAD_OF_MESSAGES)]},
    ]


async def operation_time(database: Database, past: float = 0.0) -> Timestamp:
    """The time from which a change stream starts now, or `past` seconds ago."""
    hello = await database.handle.command("hello")
    # `startAtOperationTime` includes the operation of that time, which is over already.
    now: Timestamp = hello["operationTime"]
    return Timestamp(max(1, now.time - int(past)), 1) if past else Timestamp(now.time, now.inc + 1)
