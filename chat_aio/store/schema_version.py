"""The schema version of the database, stored in `settings`, and the migrations between versions."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from chat_aio.errors import SetupError
from chat_aio.store.database import Database
from chat_aio.store.maintenance.recount import count_some

SCHEMA = "schema"
FIRST = 1
"""The version of a database that is older than the versions themselves."""


@dataclass(frozen=True, slots=True)
class Migration:
    """The migration from the previous version to `to`, in steps: `step` does the one at a position
    (None at first) and returns the next position, or None at the end.

    Chats of the previous version run meanwhile. A step may run twice, also at the same time;
    positions must be BSON values.
    """

    to: int
    step: Callable[[Database, Any], Awaitable[Any]]


MIGRATIONS: Sequence[Migration] = (Migration(to=2, step=count_some),)
"""The migrations in order, one for each version after the first."""


def newest(migrations: Sequence[Migration] = MIGRATIONS) -> int:
    """The version that this code works with."""
    return migrations[-1].to if migrations else FIRST


async def find(database: Database, migrations: Sequence[Migration] = MIGRATIONS) -> int:
    """The version of a database; without a stored one the newest if it has no conversations, else
    the first. Raises SetupError if the stored version is malformed."""
    found = await database.read(lambda: database.settings.find_one({"_id": SCHEMA}))
    if found is None:
        used = await database.read(lambda: database.conversations.find_one({}, {"_id": 1}))
        return FIRST if used else newest(migrations)
    version = found.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < FIRST:
        raise SetupError(f"settings: the row {SCHEMA!r} has no version that can be read")
    return version


async def require_known(database: Database, migrations: Sequence[Migration] = MIGRATIONS) -> int:
    """The version of a database. Raises SetupError if it is newer than this code."""
    version, known = await find(database, migrations), newest(migrations)
    if version > known:
        raise SetupError(
            f"the database is of schema version {version}, and this chat-aio knows {known}: "
            "install the newer chat-aio that has raised it"
        )
    return version


async def require(database: Database, migrations: Sequence[Migration] = MIGRATIONS) -> None:
    """Raise SetupError, saying what to do, unless this code works with a database's version."""
    version, needed = await require_known(database, migrations), newest(migrations)
    if version < needed:
        raise SetupError(
            f"the database is of schema version {version}, and this chat-aio needs {needed}: "
            "run `chat-aio migrate` first"
        )


async def note(database: Database, migrations: Sequence[Migration] = MIGRATIONS) -> None:
    """Store the version if there is none."""
    if await database.read(lambda: database.settings.find_one({"_id": SCHEMA}, {"_id": 1})):
        return
    version = await find(database, migrations)
    # `$setOnInsert`: a version that another process has stored since stays.
    await database.write(
        lambda: database.settings.update_one(
            {"_id": SCHEMA}, {"$setOnInsert": {"version": version}}, upsert=True
        )
    )


async def migrate(
    database: Database,
    *,
    migrations: Sequence[Migration] = MIGRATIONS,
    say: Callable[[str], None] = lambda _: None,
) -> int:
    """Migrate a database to the newest version and return it; continues after an interruption.

    Only the end of a migration raises the version. Raises SetupError if the database is of a newer
    version than this code.
    """
    await note(database, migrations)
    await require_known(database, migrations)
    for migration in migrations:
        if await find(database, migrations) == migration.to - 1:
            say(f"migrating to schema version {migration.to}")
            await _run(database, migration)
    return await find(database, migrations)


async def _run(database: Database, migration: Migration) -> None:
    # Each write asks for the version: a second `migrate` that is behind changes nothing.
    before = {"_id": SCHEMA, "version": migration.to - 1}
    found = await database.read(lambda: database.settings.find_one(before))
    position = ((found or {}).get("migrating") or {}).get("position")
    while (position := await migration.step(database, position)) is not None:
        await database.write(
            lambda: database.settings.update_one(
                before, {"$set": {"migrating": {"to": migration.to, "position": position}}}
            )
        )
    await database.write(
        lambda: database.settings.update_one(
            before, {"$set": {"version": migration.to}, "$unset": {"migrating": ""}}
        )
    )
