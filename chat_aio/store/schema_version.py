"""The version of the data's shape, in `settings`, and the migrations from one to the next."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from chat_aio.errors import SetupError
from chat_aio.store.database import Database

SCHEMA = "schema"
FIRST = 1
"""What a database has that does not say: it is of a time before versions were noted."""


@dataclass(frozen=True, slots=True)
class Migration:
    """The way from the version before to `to`, in pieces: `step` does the one at a position (None
    at first), and returns the next position, or None at the end.

    The chat is at work meanwhile, in the version before. A step may be done twice, and by two at
    once; positions must be what BSON can hold.
    """

    to: int
    step: Callable[[Database, Any], Awaitable[Any]]


MIGRATIONS: Sequence[Migration] = ()
"""One for each version after the first, in order."""


def newest(migrations: Sequence[Migration] = MIGRATIONS) -> int:
    """The version that this code works with."""
    return migrations[-1].to if migrations else FIRST


async def find(database: Database) -> int:
    """The version of a database. Raises SetupError where it says something else than a version."""
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
    """Write down the version where there is none yet: a database without conversations has the
    newest, another one the first."""
    known = {"_id": SCHEMA}
    if await database.read(lambda: database.settings.find_one(known, {"_id": 1})):
        return
    is_new = await database.read(lambda: database.conversations.find_one({}, {"_id": 1})) is None
    version = newest(migrations) if is_new else FIRST
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
    """Bring a database to the newest version; returns that. Cut short, it goes on where it was.

    Only the end of a migration raises the version. Raises SetupError for a version that is newer
    than this code.
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
