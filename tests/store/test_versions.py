"""The schema's version: what is refused at start, and migrations that are cut short."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from click.testing import CliRunner

from chat_aio import Chat, Options, SetupError
from chat_aio.actions.maintenance.operators import Advance
from chat_aio.admin.cli import main
from chat_aio.store import schema_version
from chat_aio.store.database import Database as Store
from chat_aio.store.schema_version import Migration
from tests.conftest import Database, MakeChat


async def version_in(database: Database) -> Any:
    found = await database["settings"].find_one({"_id": "schema"})
    return found and found["version"]


async def test_a_chat_notes_the_version(make_chat: MakeChat, database: Database) -> None:
    await make_chat()
    assert await version_in(database) == schema_version.newest() == 3


async def test_a_database_of_before_versions_is_of_the_first(
    make_chat: MakeChat, database: Database
) -> None:
    """Only one that nobody has used is as new as the code."""
    chat = await make_chat()
    later = (Migration(to=4, step=only_once),)
    await database["settings"].delete_one({"_id": "schema"})
    await schema_version.note(Store(database), later)
    assert await version_in(database) == 4
    await chat.api.create_group_conversation("ada")
    await database["settings"].delete_one({"_id": "schema"})
    await schema_version.note(Store(database), later)
    assert await version_in(database) == 1


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"version": 4}, "is of schema version 4, and this chat-aio knows 3: install the newer"),
        ({"version": "x"}, "no version that can be read"),
        ({}, "no version that can be read"),
    ],
)
async def test_what_is_not_known_is_refused(
    make_chat: MakeChat, client_url: str, database: Database, row: dict[str, Any], said: str
) -> None:
    await (await make_chat()).close()
    await database["settings"].replace_one({"_id": "schema"}, row, bypass_document_validation=True)
    for manage_indexes in (True, False):
        with pytest.raises(SetupError, match=said) as refused:
            await Chat(database, options=Options(manage_indexes=manage_indexes)).open()
        assert "\n" not in str(refused.value)
    place = ("--mongo-url", client_url, "--database", database.name)
    for command in (("migrate",), ("indexes", "apply")):
        run = await asyncio.to_thread(CliRunner().invoke, main, [*command, *place])
        assert (run.exit_code, len(run.output.splitlines())) == (1, 1)
        assert said in run.output


async def test_an_older_one_names_the_command(database: Database, make_chat: MakeChat) -> None:
    await make_chat()
    with pytest.raises(SetupError, match="run `chat-aio migrate` first"):
        await schema_version.require(Store(database), (Migration(to=4, step=only_once),))


async def only_once(_: Store, __: Any) -> None:
    return None


class Renaming:
    """A migration in pieces, that is cut short when it is told to."""

    def __init__(self) -> None:
        self.seen: list[Any] = []
        self.cut_at: int | None = None

    async def step(self, database: Store, position: Any) -> Any:
        self.seen.append(position)
        if position == self.cut_at:
            raise ConnectionError
        at = position or 0
        await database.messages.update_one({"seq": at + 1}, {"$set": {"colour": "red"}})
        return at + 1 if at < 4 else None


async def test_a_migration_goes_on_where_it_was_cut_short(
    make_chat: MakeChat, database: Database
) -> None:
    """While people write; only its end raises the version."""
    chat = await make_chat()
    group = await chat.api.create_group_conversation("ada")
    for _ in range(5):
        await chat.api.send_message("ada", group.id, "hello")
    renaming = Renaming()
    both = (Migration(to=4, step=renaming.step), Migration(to=5, step=only_once))
    renaming.cut_at = 3
    with pytest.raises(ConnectionError):
        await schema_version.migrate(Store(database), migrations=both)
    assert (renaming.seen, await version_in(database)) == ([None, 1, 2, 3], 3)
    await chat.api.send_message("ada", group.id, "meanwhile")
    renaming.cut_at, renaming.seen = None, []
    stages: list[tuple[str, list[int]]] = []

    @contextmanager
    def progress(stage: str, _length: int) -> Iterator[Advance]:
        steps: list[int] = []
        stages.append((stage, steps))
        yield steps.append

    assert await schema_version.migrate(Store(database), migrations=both, progress=progress) == 5
    assert renaming.seen == [3, 4]
    assert stages == [("Migrating to schema version 4", [1]), ("Migrating to schema version 5", [])]
    assert await database["messages"].count_documents({"colour": "red"}) == 5
    kept = await database["settings"].find_one({"_id": "schema"})
    assert kept == {"_id": "schema", "version": 5}


async def test_two_who_migrate_at_once(make_chat: MakeChat, database: Database) -> None:
    await make_chat()
    together = asyncio.Barrier(4)

    async def step(_: Store, position: Any) -> Any:
        if position is None:
            async with asyncio.timeout(5):
                await together.wait()
            return 1
        return None

    both = (Migration(to=4, step=step), Migration(to=5, step=only_once))
    runs = (schema_version.migrate(Store(database), migrations=both) for _ in range(4))
    assert await asyncio.gather(*runs) == [5] * 4
    assert await version_in(database) == 5


async def test_there_is_nothing_to_migrate(database: Database, client_url: str) -> None:
    place = ("--mongo-url", client_url, "--database", database.name)
    run = await asyncio.to_thread(CliRunner().invoke, main, ["migrate", *place])
    assert (run.exit_code, run.output) == (0, "the database is of schema version 3\n")
    assert await version_in(database) == 3


async def test_an_upgrade_as_documented(
    make_chat: MakeChat, database: Database, mongo_url: str
) -> None:
    """docs/database.md, Upgrading: a start says what is needed, and four commands do it."""
    chat = await make_chat()
    group = await chat.api.create_group_conversation("ada", user_ids=["bob"])
    for sender in ("ada", "bob", "bob"):
        await chat.api.send_message(sender, group.id, "hello")
    await chat.close()
    await database["settings"].update_one({"_id": "schema"}, {"$set": {"version": 1}})
    await database["counters"].update_many({}, {"$unset": {"counted": "", "sent": ""}})
    of_participants = {"participants.$[].sentUpto": "", "participants.$[].sentCount": ""}
    await database["conversations"].update_many({}, {"$unset": of_participants})
    with pytest.raises(SetupError, match="run `chat-aio migrate` first"):
        await make_chat()
    place = ("--mongo-url", mongo_url, "--database", database.name)
    for command, version in (("indexes apply", 1), ("migrate", 2), ("check --repair", 2)):
        run = await asyncio.to_thread(CliRunner().invoke, main, [*command.split(), *place])
        assert (run.exit_code, await version_in(database)) == (0, version), run.output
    head = await database["counters"].find_one({"_id": group.id})
    assert head is not None
    assert (head["counted"], head["sent"]) == (3, {"ada": 1, "bob": 2})
    (listed,) = (await (await make_chat()).api.list_conversations("bob")).conversations
    assert listed.unread_count == 1
    run = await asyncio.to_thread(CliRunner().invoke, main, ["migrate", *place])
    assert "when no process of an earlier version is left" in run.output
    run = await asyncio.to_thread(
        CliRunner().invoke, main, ["migrate", "--finish", "--yes", *place]
    )
    assert (run.exit_code, await version_in(database)) == (0, 3), run.output
