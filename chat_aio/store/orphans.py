"""Ends orphaned transactions: their process was killed, and their locks last for a minute."""

import logging
import time
from functools import partial
from typing import Any
from uuid import uuid4

from bson.binary import UUID_SUBTYPE, Binary
from bson.codec_options import CodecOptions
from pymongo.errors import OperationFailure, PyMongoError
from pymongo.read_concern import ReadConcern
from pymongo.read_preferences import ReadPreference

from chat_aio.errors import StorageUnavailable
from chat_aio.store.database import Database
from chat_aio.store.drivers import maybe_await

PATIENCE_SECONDS = 1.0
LOOK_SECONDS = 1.0
IDLE_MICROSECONDS = 1_000_000

log = logging.getLogger(__name__)

_IDLE: list[dict[str, Any]] = [
    {"$currentOp": {"idleSessions": True}},
    {
        "$match": {
            "type": "idleSession",
            "transaction.timeInactiveMicros": {"$gt": IDLE_MICROSECONDS},
            "shard": {"$exists": False},  # On shards the connections are those of mongos.
        }
    },
    {"$project": {"lsid.id": 1, "connectionId": 1}},
]


async def end_orphans(database: Database, *, since: float) -> None:
    """End idle transactions whose connection is closed. Writers call this on every conflict, with
    the time of their first try (`since`, monotonic). It does nothing in the first second after
    that, and queries at most once a second for all writers of a process.
    """
    # No privilege is needed: MongoDB shows and ends the sessions of the same user. If it refuses,
    # they end after a minute. A live client that lost only its connection finds its transaction
    # aborted, which every driver treats as a reason to try again.
    now = time.monotonic()
    if now - max(since, database.looked_for_orphans) < PATIENCE_SECONDS:
        return
    database.looked_for_orphans = now
    admin = _admin(database)
    try:
        if orphans := await database.read(lambda: _orphans(admin), seconds=LOOK_SECONDS):
            kill = partial(admin.command, "killSessions", orphans)
            await database.read(kill, seconds=LOOK_SECONDS)
            log.warning("ended %d transactions whose processes are gone", len(orphans))
    except OperationFailure as error:
        if not database.refuses_orphans:
            log.warning(
                "MongoDB refuses to end transactions of killed processes (code %s): they hold "
                "their conversations for up to a minute",
                error.code,
            )
        database.refuses_orphans = True
    except (PyMongoError, StorageUnavailable):
        pass


async def refusal(database: Database) -> str | None:
    """The reason why MongoDB would not end orphaned transactions; None if it would. Ends
    nothing."""
    admin = _admin(database)
    unknown = {"id": Binary(uuid4().bytes, UUID_SUBTYPE)}
    try:
        await database.read(lambda: _orphans(admin), seconds=LOOK_SECONDS)
        kill = partial(admin.command, "killSessions", [unknown])
        await database.read(kill, seconds=LOOK_SECONDS)
    except OperationFailure as error:
        return f"MongoDB answers with code {error.code}"
    return None


def _admin(database: Database) -> Any:
    # `$currentOp` allows only the read concern `local`.
    return database.client.get_database(
        "admin", CodecOptions(), ReadPreference.PRIMARY, read_concern=ReadConcern("local")
    )


async def _orphans(admin: Any) -> list[dict[str, Any]]:
    """Sessions whose transaction is idle and whose connection no longer exists."""
    idle = await _listed(admin, _IDLE)
    if not idle:
        return []
    theirs = {
        "type": "op",
        "connectionId": {"$in": [session.get("connectionId") for session in idle]},
    }
    look: list[dict[str, Any]] = [
        {"$currentOp": {"idleConnections": True, "idleSessions": False}},
        {"$match": theirs},
        {"$project": {"connectionId": 1}},
    ]
    connected = {operation["connectionId"] for operation in await _listed(admin, look)}
    return [session["lsid"] for session in idle if session.get("connectionId") not in connected]


async def _listed(admin: Any, pipeline: list[dict[str, Any]]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = await (await maybe_await(admin.aggregate(pipeline))).to_list(None)
    return found
