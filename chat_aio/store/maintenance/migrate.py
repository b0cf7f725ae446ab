"""The schema version of the database, stored in `settings`, and the migrations between versions."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from chat_aio.errors import SetupError
from chat_aio.store.database import Database
from chat_aio.store.maintenance.progress import Progress, silent

SCHEMA = "schema"
FIRST = 1
"""The version of the first release. A database without a stored version has it."""


@dataclass(frozen=True, slots=True)
class Migration:
    """The migration from the previous version to `to`, in steps: `step` gets a position (None at
    first) and returns the next one, or None at the end.

    Chats of the previous version may run during it, unless it is `finishing`: this code also works
    before a finishing migration, the previous version does not work during it. A step may run
    twice, also at the same time; positions must be BSON values. A step handles about `at_a_time`
    documents of `collection`.
    """

    to: int
    step: Callable[[Database, Any], Awaitable[Any]]
    finishing: bool = False
    collection: str = "messages"
    at_a_time: int = 1


MIGRATIONS: Sequence[Migration] = ()
"""The migrations in order, one for each version after the first; finishing ones are last."""


def newest() -> int:
    """The newest version that this code works with."""
    return MIGRATIONS[-1].to if MIGRATIONS else FIRST


def oldest() -> int:
    """The oldest version that this code works with: the one before the finishing migrations."""
    finishing = sum(migration.finishing for migration in MIGRATIONS)
    return newest() - finishing


async def find(database: Database) -> int:
    """The version of a database; without a stored one the newest if it has no conversations, else
    the first. Raises SetupError if the stored version is malformed."""
    row = await database.read(lambda: database.settings.find_one({"_id": SCHEMA}))
    if row is None:
        used = await database.read(lambda: database.conversations.find_one({}, {"_id": 1}))
        return FIRST if used else newest()
    version = row.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 0:
        raise SetupError(f"settings: the row {SCHEMA!r} has no version that can be read")
    return version


async def require_known(database: Database) -> int:
    """The version of a database. Raises SetupError if it is newer than this code."""
    version = await find(database)
    if version > newest():
        raise SetupError(
            f"the database has schema version {version}, and this chat-aio knows {newest()}: "
            "install the newer chat-aio that has raised it"
        )
    return version


async def require_current(database: Database) -> None:
    """Raise SetupError, with the remedy, unless this code works with a database's version."""
    version = await require_known(database)
    if version < oldest():
        raise SetupError(
            f"the database has schema version {version}, and this chat-aio needs {oldest()}: "
            "run `chat-aio migrate` first"
        )


async def note_version(database: Database) -> None:
    """Store the version if there is none."""
    if await database.read(lambda: database.settings.find_one({"_id": SCHEMA}, {"_id": 1})):
        return
    version = await find(database)
    # `$setOnInsert`: a version that another process has stored since then stays.
    await database.write(
        lambda: database.settings.update_one(
            {"_id": SCHEMA}, {"$setOnInsert": {"version": version}}, upsert=True
        )
    )


async def pending(database: Database, *, finish: bool = False) -> list[Migration]:
    """The migrations that `migrate` would run now. Raises the same SetupError."""
    version = await require_known(database)
    return [
        migration
        for migration in MIGRATIONS
        if migration.to > version and (finish or not migration.finishing)
    ]


async def size_of(database: Database, migration: Migration) -> int:
    """The approximate number of documents that a migration reads."""
    rows = database.collection(migration.collection)
    count: int = await database.read(rows.estimated_document_count)
    return count


async def migrate(
    database: Database,
    *,
    finish: bool = False,
    progress: Progress = silent,
) -> int:
    """Migrate a database as far as the previous version of the chat can still run, or to the end
    with `finish`; returns the resulting version. Continues after an interruption.

    Only the end of a migration raises the version. Raises SetupError if the database has a newer
    version than this code.
    """
    await note_version(database)
    for migration in await pending(database, finish=finish):
        # Another `migrate` may have been faster.
        if await find(database) == migration.to - 1:
            stage = f"Migrating to schema version {migration.to}"
            # Each write is conditional on the version: a second `migrate` that is behind changes
            # nothing.
            before = {"_id": SCHEMA, "version": migration.to - 1}
            with progress(stage, await size_of(database, migration)) as advance:
                row = await database.read(partial(database.settings.find_one, before))
                position = ((row or {}).get("migrating") or {}).get("position")
                while (position := await migration.step(database, position)) is not None:
                    advance(migration.at_a_time)
                    reached = {"$set": {"migrating": {"to": migration.to, "position": position}}}
                    await database.write(partial(database.settings.update_one, before, reached))
                done = {"$set": {"version": migration.to}, "$unset": {"migrating": ""}}
                await database.write(partial(database.settings.update_one, before, done))
    return await find(database)
