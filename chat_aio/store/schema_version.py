"""The schema version of the database, stored in `settings`, and the migrations between versions."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

from chat_aio.errors import SetupError
from chat_aio.store.database import Database
from chat_aio.store.maintenance import recount, retoken
from chat_aio.store.maintenance.recount import count_some
from chat_aio.store.maintenance.retoken import shorten_tokens

Progress = Callable[[str, int], AbstractContextManager[Callable[[int], object]]]
"""Opens a stage: its name, and about how many documents it goes through."""

SCHEMA = "schema"
FIRST = 1
"""The version of a database that is older than the versions themselves."""

OF_SHORT_TOKENS = 3
"""The first version in which all messages have short tokens (docs/decisions/0056)."""


@dataclass(frozen=True, slots=True)
class Migration:
    """The migration from the previous version to `to`, in steps: `step` does the one at a position
    (None at first) and returns the next position, or None at the end.

    Chats of the previous version run meanwhile, unless it is `finishing`: this code works before it
    as well, and the previous one does not work during it. A step may run twice, also at the same
    time; positions must be BSON values. A step goes through `at_a_time` documents of `collection`.
    """

    to: int
    step: Callable[[Database, Any], Awaitable[Any]]
    finishing: bool = False
    collection: str = "messages"
    at_a_time: int = 1


MIGRATIONS: Sequence[Migration] = (
    Migration(to=2, step=count_some, collection="counters", at_a_time=recount.AT_A_TIME),
    Migration(to=OF_SHORT_TOKENS, step=shorten_tokens, finishing=True, at_a_time=retoken.AT_A_TIME),
)
"""The migrations in order, one for each version after the first; finishing ones are last."""


def newest(migrations: Sequence[Migration] = MIGRATIONS) -> int:
    """The newest version that this code works with."""
    return migrations[-1].to if migrations else FIRST


def oldest(migrations: Sequence[Migration] = MIGRATIONS) -> int:
    """The oldest version that this code works with."""
    return newest([each for each in migrations if not each.finishing])


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
    version, needed = await require_known(database, migrations), oldest(migrations)
    if version < needed:
        raise SetupError(
            f"the database is of schema version {version}, and this chat-aio needs {needed}: "
            "run `chat-aio migrate` first"
        )


async def look(database: Database) -> None:
    """Set `database.older_tokens`: before the upgrade to short tokens is finished, processes of an
    earlier version may be at work."""
    database.older_tokens = await find(database) < OF_SHORT_TOKENS


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


async def pending(
    database: Database, *, migrations: Sequence[Migration] = MIGRATIONS, finish: bool = False
) -> list[Migration]:
    """The migrations that `migrate` would run now. Raises SetupError as that."""
    version = await require_known(database, migrations)
    return [
        migration
        for migration in migrations
        if migration.to > version and (finish or not migration.finishing)
    ]


async def size_of(database: Database, migration: Migration) -> int:
    """About how many documents a migration goes through."""
    rows = database.collection(migration.collection)
    found: int = await database.read(rows.estimated_document_count)
    return found


async def migrate(
    database: Database,
    *,
    migrations: Sequence[Migration] = MIGRATIONS,
    finish: bool = False,
    progress: Progress = lambda *_: nullcontext(lambda _: None),
) -> int:
    """Migrate a database as far as the previous version of the chat may run beside it, or to the
    end with `finish`; returns the version it has then. Continues after an interruption.

    Only the end of a migration raises the version. Raises SetupError if the database is of a newer
    version than this code.
    """
    await note(database, migrations)
    await require_known(database, migrations)
    for migration in migrations:
        if migration.finishing and not finish:
            break
        if await find(database, migrations) == migration.to - 1:
            stage = f"Migrating to schema version {migration.to}"
            with progress(stage, await size_of(database, migration)) as advance:
                await _run(database, migration, advance)
    return await find(database, migrations)


async def _run(database: Database, migration: Migration, advance: Callable[[int], object]) -> None:
    # Each write asks for the version: a second `migrate` that is behind changes nothing.
    before = {"_id": SCHEMA, "version": migration.to - 1}
    found = await database.read(lambda: database.settings.find_one(before))
    position = ((found or {}).get("migrating") or {}).get("position")
    while (position := await migration.step(database, position)) is not None:
        advance(migration.at_a_time)
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
