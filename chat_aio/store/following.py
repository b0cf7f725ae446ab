"""A change stream from a stored position on, for a reader that must not miss anything."""

import json
import logging
import re
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any, Generic, TypeVar

from pymongo.errors import PyMongoError

from chat_aio.errors import StorageUnavailable
from chat_aio.store import change_stream
from chat_aio.store.calls import LateCall
from chat_aio.store.change_stream import ENDS, HistoryLost, broken
from chat_aio.store.clock import Clock
from chat_aio.store.database import Database, is_out_of_reach
from chat_aio.store.drivers import maybe_await

log = logging.getLogger(__name__)

MOST_TOGETHER = 256
AWAIT_MS = 200
GATHER_SECONDS = 0.2

_TOKEN = re.compile("[0-9A-F]{18,}")
"""Hexadecimal digits, which begin with the time in the cluster."""

T = TypeVar("T")
Changes = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Position:
    """How far a reader has read: the change stream's token, None before its first change, and a
    time. Changes up to a minute before that time have been read. `pipeline` is the hash of the
    pipeline that has made the token; no other one can resume it."""

    token: Mapping[str, Any] | None
    at: datetime
    pipeline: str | None = None

    @property
    def order(self) -> str:
        """A text that is larger for a later position: MongoDB's tokens are compared as text. Empty
        without a token."""
        text = str(self.token.get("_data")) if self.token else ""
        return text if _TOKEN.fullmatch(text) else ""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Source(Generic[T]):
    """A followed pipeline of the collection `collection`, or of the whole database if it
    is None. `read` makes results of changes, without those of other programs in another shape;
    `time_of` is the time of a result."""

    name: str
    collection: str | None
    pipeline: Callable[[Database], list[dict[str, Any]]]
    read: Callable[[Database, Changes], Awaitable[Sequence[T]]]
    time_of: Callable[[T], datetime]

    def hash_of(self, database: Database) -> str:
        text = json.dumps(self.pipeline(database), sort_keys=True)
        return sha256(text.encode()).hexdigest()[:16]


class Followed(Generic[T]):
    """A change stream from a position on. Its reads are never cancelled."""

    def __init__(
        self,
        database: Database,
        cursor: Any,
        source: Source[T],
        *,
        clock: Clock,
        position: Position,
    ) -> None:
        self._database = database
        self._cursor = cursor
        self._source = source
        self._pipeline = source.hash_of(database)
        self._clock = clock
        self.position = position

    async def next(self) -> Sequence[T]:
        """The results since, after a moment if there are none; moves `position`.

        Raises HistoryLost if something is missing, and StorageUnavailable; reopen it after both.
        """

        async def gather() -> list[Mapping[str, Any]]:
            found: list[Mapping[str, Any]] = []
            until = time.monotonic() + GATHER_SECONDS
            while len(found) < MOST_TOGETHER:
                raw = await self._cursor.try_next()
                if raw is not None:
                    found.append(raw)
                if raw is None or time.monotonic() > until:
                    break
            return found

        began = self._clock()
        try:
            changes = await self._database.calls.run(gather, seconds=self._database.timeout)
        except LateCall:
            raise StorageUnavailable from None
        except PyMongoError as error:
            lost = broken(error)
            log.warning("the stream of %s was lost: %s", self._source.name, lost)
            raise lost if isinstance(lost, HistoryLost) else StorageUnavailable from error
        if any(change["operationType"] in ENDS for change in changes):
            raise HistoryLost("a collection was dropped or renamed")
        token = self._cursor.resume_token or self.position.token
        found = await self._source.read(self._database, changes) if changes else ()
        # Without changes, everything committed before the read has been seen.
        at = self._source.time_of(found[-1]) if found else began
        at = at if changes else max(self.position.at, at)
        self.position = Position(token, at, self._pipeline)
        return found

    def close(self) -> None:
        self._database.calls.leave(change_stream.close_cursor(self._cursor))


async def follow(
    database: Database, source: Source[T], *, clock: Clock, after: Position | None
) -> Followed[T]:
    """Follow a source after a position, or from now on.

    Raises HistoryLost if the database no longer has the changes after the position, or if another
    pipeline has made the position, and StorageUnavailable.
    """
    if after is not None and after.token and after.pipeline != source.hash_of(database):
        raise HistoryLost("the position was made with another pipeline")
    began = clock()

    async def watch() -> Followed[T]:
        token = after and after.token
        # By its module: tests start their change streams later than those of earlier tests.
        now = None if token else await change_stream.operation_time(database)
        start = {"resume_after": token} if token else {"start_at_operation_time": now}
        name = source.collection
        watched = database.handle if name is None else database.collection(name)
        watching = watched.watch(
            source.pipeline(database), batch_size=MOST_TOGETHER, max_await_time_ms=AWAIT_MS, **start
        )
        position = after if after is not None and token else Position(None, began)
        cursor = await maybe_await(watching)
        return Followed(database, cursor, source, clock=clock, position=position)

    try:
        return await database.calls.run(watch, seconds=database.timeout)
    except LateCall:
        raise StorageUnavailable from None
    except PyMongoError as error:
        if is_out_of_reach(error):
            raise StorageUnavailable from error
        # An error about this position will occur again.
        raise HistoryLost(str(error)) from error
