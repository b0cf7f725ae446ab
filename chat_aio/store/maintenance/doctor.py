"""The state of MongoDB, for `chat-aio doctor`, which judges it. Nothing is written."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from chat_aio.store.change_stream import ChangesBroken, open_changes
from chat_aio.store.clock import HELLO_SECONDS
from chat_aio.store.database import Database
from chat_aio.store.drivers import maybe_await
from chat_aio.store.privileges import MissingRight, lacking_for

FULL = 0.9
"""An oplog that is filled to this part has started, or is about to start, to drop entries."""


@dataclass(frozen=True, slots=True)
class Oplog:
    """How far the oplog reaches back, and whether it has started to drop entries."""

    seconds: int
    is_full: bool


async def hello(database: Database) -> Mapping[str, Any]:
    return await database.hello(seconds=HELLO_SECONDS)


async def version(database: Database) -> str:
    """The version of the member that answers, such as `6.0.5`."""
    found = await database.read(lambda: database.handle.command("buildInfo"))
    return str(found["version"])


async def feature_compatibility(database: Database) -> str:
    """Raises OperationFailure without the right to query it."""
    asked = {"getParameter": 1, "featureCompatibilityVersion": 1}
    found = await database.read(lambda: database.client.admin.command(asked))
    return str(found["featureCompatibilityVersion"]["version"])


async def privileges(database: Database) -> Sequence[Mapping[str, Any]] | None:
    """The privileges of our user; None if there is no user."""
    asked = {"connectionStatus": 1, "showPrivileges": True}
    found = await database.read(lambda: database.handle.command(asked))
    info = found["authInfo"]
    return info["authenticatedUserPrivileges"] if info["authenticatedUsers"] else None


async def missing_rights(database: Database, command: str) -> list[MissingRight]:
    """The rights that a command of operators needs and our user lacks."""
    granted = await privileges(database)
    # Without authentication everybody may do everything.
    if granted is None:
        return []
    return lacking_for(command, granted, database.handle.name, database.prefix)


async def clock_difference(database: Database, now: Callable[[], float] = time.time) -> float:
    """The seconds by which this machine's clock is ahead of the primary's."""
    before = now()
    found = await hello(database)
    half_way = (before + now()) / 2
    local: datetime = found["localTime"]
    return half_way - (local if local.tzinfo else local.replace(tzinfo=UTC)).timestamp()


async def oplog(database: Database) -> Oplog:
    """Raises OperationFailure without the right to read it."""
    rows = database.client["local"]["oplog.rs"]

    async def ask() -> Oplog:
        # `$natural` is the order of the oplog, and reads one entry at each end.
        ends = [await rows.find_one(sort=[("$natural", order)]) for order in (1, -1)]
        stages: list[dict[str, Any]] = [{"$collStats": {"storageStats": {}}}]
        cursor = await maybe_await(rows.aggregate(stages))
        (stats,) = await cursor.to_list(None)
        kept = stats["storageStats"]
        seconds = ends[1]["ts"].time - ends[0]["ts"].time
        return Oplog(seconds, kept["size"] > FULL * kept["maxSize"])

    return await database.read(ask)


async def try_change_stream(database: Database) -> None:
    """Open the chat's change stream, and close it. Raises ChangesBroken."""
    if not await database.answers(seconds=HELLO_SECONDS):
        raise ChangesBroken("MongoDB is not a replica set")
    changes = await open_changes(database)
    changes.stop()
