"""The created messages of a chat from a stored position on, for a reader that must not miss any."""

import json
import logging
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any, NamedTuple

import pymongo
from pymongo.errors import PyMongoError

from chat_aio.errors import StorageUnavailable
from chat_aio.store import change_stream
from chat_aio.store.calls import LateCall
from chat_aio.store.change_stream import HistoryLost, broken
from chat_aio.store.clock import Clock
from chat_aio.store.database import Database, is_out_of_reach
from chat_aio.store.drivers import maybe_await
from chat_aio.store.maintenance.scanning import listed, scan
from chat_aio.store.shapes import WHOLE

log = logging.getLogger(__name__)

MOST_TOGETHER = 256
AWAIT_MS = 200
GATHER_SECONDS = 0.2
CLOSE_SECONDS = 1.0

EARLIER = timedelta(minutes=1)
"""Messages need not be committed in the order of their times: storage is read from earlier on."""

_FIELDS = ("conversationId", "seq", "senderId", "createdAt")
_WITHOUT = ("importedAt", "silent")
_ENDS = ["drop", "rename", "dropDatabase", "invalidate"]


class CreatedMessage(NamedTuple):
    """A message that was sent or forwarded; imported and silent messages are not included."""

    message_id: str
    conversation_id: str
    seq: int
    sender_id: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Position:
    """How far a reader has read: the change stream's token, None before its first change, and a
    time. Messages created up to a minute before that time have been read. `pipeline` is the hash of
    the pipeline that has made the token; no other one can resume it."""

    token: Mapping[str, Any] | None
    at: datetime
    pipeline: str | None = None


class CreatedMessages:
    """A change stream of created messages. Its reads are never cancelled."""

    def __init__(
        self, database: Database, cursor: Any, *, clock: Clock, position: Position
    ) -> None:
        self._database = database
        self._cursor = cursor
        self._clock = clock
        self.position = position

    async def next(self) -> Sequence[CreatedMessage]:
        """The messages created since, after a moment if there are none; moves `position`.

        Raises HistoryLost if some are missing, and StorageUnavailable; reopen it after both.
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
            found = await self._database.calls.run(gather, seconds=self._database.timeout)
        except LateCall:
            raise StorageUnavailable from None
        except PyMongoError as error:
            lost = broken(error)
            log.warning("the stream of created messages was lost: %s", lost)
            raise lost if isinstance(lost, HistoryLost) else StorageUnavailable from error
        if any(change["operationType"] != "insert" for change in found):
            raise HistoryLost("the messages were dropped or renamed")
        created = [*filter(None, (_message_from(change["fullDocument"]) for change in found))]
        # Without changes, everything committed before the read has been seen.
        at = created[-1].created_at if found and created else began
        token = self._cursor.resume_token or self.position.token
        at = at if found else max(self.position.at, at)
        self.position = Position(token, at, pipeline_hash())
        return created

    def close(self) -> None:
        """Close the cursor, which the server would keep for minutes."""

        async def close() -> None:
            with suppress(PyMongoError), pymongo.timeout(CLOSE_SECONDS):
                await maybe_await(self._cursor.close())

        self._database.calls.leave(close())


async def follow(database: Database, *, clock: Clock, after: Position | None) -> CreatedMessages:
    """Follow the created messages after a position, or from now on.

    Raises HistoryLost if the database no longer has the changes after the position, or if another
    pipeline has made the position, and StorageUnavailable.
    """
    if after is not None and after.token and after.pipeline != pipeline_hash():
        raise HistoryLost("the position was made with another pipeline")
    began = clock()

    async def watch() -> CreatedMessages:
        token = after and after.token
        # By its module: tests start their change streams later than those of earlier tests.
        now = None if token else await change_stream.operation_time(database)
        start = {"resume_after": token} if token else {"start_at_operation_time": now}
        watching = database.messages.watch(
            _PIPELINE, batch_size=MOST_TOGETHER, max_await_time_ms=AWAIT_MS, **start
        )
        position = after if after is not None and token else Position(None, began)
        cursor = await maybe_await(watching)
        return CreatedMessages(database, cursor, clock=clock, position=position)

    try:
        return await database.calls.run(watch, seconds=database.timeout)
    except LateCall:
        raise StorageUnavailable from None
    except PyMongoError as error:
        if is_out_of_reach(error):
            raise StorageUnavailable from error
        # An error about this position will occur again.
        raise HistoryLost(str(error)) from error


async def created_since(database: Database, at: datetime) -> AsyncIterator[list[CreatedMessage]]:
    """The messages that were created since a minute before `at`, by conversation. The heads of all
    conversations are read."""
    since = {"$gte": at - EARLIER}
    async for _, heads in scan(database, database.counters, {"activityAt": since}, {"_id": 1}):
        for head in heads:
            chosen = {
                "conversationId": head["_id"],
                "createdAt": since,
                **{field: {"$exists": False} for field in _WITHOUT},
                "seq": {"$type": WHOLE},
            }
            async for found in listed(database, database.messages, chosen):
                yield [*filter(None, map(_message_from, found))]


def _message_from(document: Mapping[str, Any]) -> CreatedMessage | None:
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


# A stream cannot be resumed with another pipeline.
_PIPELINE: list[dict[str, Any]] = [
    {
        "$match": {
            "$or": [
                {
                    "operationType": "insert",
                    **{f"fullDocument.{field}": {"$exists": False} for field in _WITHOUT},
                },
                {"operationType": {"$in": _ENDS}},
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


def pipeline_hash() -> str:
    return sha256(json.dumps(_PIPELINE, sort_keys=True).encode()).hexdigest()[:16]
