"""The schema version of the database, stored in `settings`, and the migrations between versions."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from chat_aio.errors import SetupError
from chat_aio.store.database import Database

SCHEMA = "schema"
FIRST = 1
"""The version of a database without one: it is older than the versions themselves."""


@dataclass(frozen=True, slots=True)
class Migration:
    """The migration from the previous version to `to`, in steps: `step` does the one at a position
    (None at first) and returns the next position, or None at the end.

    Chats of the previous version run meanwhile. A step may run twice, also at the same time;
    positions must be BSON values.
    """

    to: int
    step: Callable[[Database, Any], Awaitable[Any]]


MIGRATIONS: Sequence[Migration] = ()
"""The migrations in order, one for each version after the first."""


def newest(migrations: Sequence[Migration] = MIGRATIONS) -> int:
    """The version that this code works with."""
    return migrations[-1].to if migrations else FIRST


async def find(database: Database) -> int:
    """The version of a database. Raises SetupError if the stored version is malformed."""
    found = await database.read(lambda: database.settings.find_one({"_id": SCHEMA}))
    version = found.get("version") if found else FIRST
    if not isinstance(version, int) or isinstance(version, bool) or version < FIRST:
        raise SetupError(f"settings: the row {SCHEMA!r} has no version that can be read")
    return version


async def require(database: Database, migrations: Sequence[Migration] = MIGRATIONS) -> None:
    """Raise SetupError, saying what to do, unless this code works with a database's version."""
    version, known = await find(database), newest(migrations)
    if version > known:
        raise SetupError(
            f"the database is of schema version {version}, and this chat-aio knows {known}: "
            "install the newer chat-aio that has raised it"
        )
    if version < known:
        raise SetupError(
            f"the database is of schema version {version}, and this chat-aio needs {known}: "
            "run `chat-aio migrate` first"
        )


async def note(database: Database, migrations: Sequence[Migration] = MIGRATIONS) -> None:
    """Store the version if there is none: the newest for a database without conversations, else
    the first."""
    known = {"_id": SCHEMA}
    if await database.read(lambda: database.settings.find_one(known, {"_id": 1})):
        return
    is_new = await database.read(lambda: database.conversations.find_one({}, {"_id": 1})) is None
    version = newest(migrations) if is_new else FIRST
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
    if await find(database) > newest(migrations):
        await require(database, migrations)
    for migration in migrations:
        if await find(database) == migration.to - 1:
            say(f"migrating to schema version {migration.to}")
            await _run(database, migration)
    return await find(database)


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
