"""The schema version: what a start refuses, and migrations that are interrupted, run twice, or run
next to live chats. The version 0 and its migration are made up."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from click.testing import CliRunner, Result

from chat_aio import Chat, Options, SetupError
from chat_aio.admin.cli import main
from chat_aio.store.database import Database as Store
from chat_aio.store.maintenance import migrate
from chat_aio.store.maintenance.migrate import Migration
from chat_aio.store.maintenance.progress import Advance
from tests.conftest import Database, MakeChat

Patch = pytest.MonkeyPatch


async def version_in(database: Database) -> Any:
    row = await database["settings"].find_one({"_id": "schema"})
    return row and row["version"]


async def set_version(database: Database, version: object) -> None:
    await database["settings"].replace_one(
        {"_id": "schema"}, {"version": version}, upsert=True, bypass_document_validation=True
    )


async def command(database: Database, client_url: str, *words: str) -> Result:
    place = ("--mongo-url", client_url, "--database", database.name)
    return await asyncio.to_thread(CliRunner().invoke, main, [*words, *place])


class Colouring:
    """The migration from version 0: it gives each of the messages 1 to 5 a colour, one a step."""

    def __init__(self) -> None:
        self.seen: list[Any] = []
        self.cut_at = -1

    async def step(self, database: Store, position: Any) -> Any:
        self.seen.append(position)
        if position == self.cut_at:
            raise ConnectionError
        seq = (position or 0) + 1
        await database.messages.update_one({"seq": seq}, {"$set": {"colour": "red"}})
        return seq if seq < 5 else None


async def in_one_step(_: Store, __: Any) -> None:
    return None


@pytest.fixture
def colouring(monkeypatch: Patch) -> Colouring:
    """The only migration that the code has."""
    made_up = Colouring()
    monkeypatch.setattr(migrate, "MIGRATIONS", (Migration(to=1, step=made_up.step),))
    return made_up


async def test_a_chat_notes_the_version(make_chat: MakeChat, database: Database) -> None:
    await make_chat()
    assert await version_in(database) == migrate.newest() == 1


async def test_a_used_database_without_a_version_is_of_the_first(
    make_chat: MakeChat, database: Database, monkeypatch: Patch
) -> None:
    """An unused one is as new as the code."""
    chat = await make_chat()
    monkeypatch.setattr(migrate, "MIGRATIONS", (Migration(to=2, step=in_one_step),))
    await database["settings"].delete_one({"_id": "schema"})
    await migrate.note_version(Store(database))
    assert await version_in(database) == 2
    await chat.api.create_group_conversation("ada")
    await database["settings"].delete_one({"_id": "schema"})
    await migrate.note_version(Store(database))
    assert await version_in(database) == 1


@pytest.mark.parametrize(
    ("version", "text"),
    [
        (2, "has schema version 2, and this chat-aio knows 1: install the newer"),
        ("x", "no version that can be read"),
        (-1, "no version that can be read"),
        (None, "no version that can be read"),
    ],
)
async def test_unknown_versions_are_refused(
    make_chat: MakeChat, client_url: str, database: Database, version: object, text: str
) -> None:
    await (await make_chat()).close()
    await set_version(database, version)
    for manage_indexes in (True, False):
        with pytest.raises(SetupError, match=text) as refused:
            await Chat(database, options=Options(manage_indexes=manage_indexes)).open()
        assert "\n" not in str(refused.value)
    for words in (("migrate",), ("indexes", "apply")):
        run = await command(database, client_url, *words)
        assert (run.exit_code, len(run.output.splitlines())) == (1, 1)
        assert text in run.output


async def test_a_start_on_an_older_version_names_the_command(
    database: Database, make_chat: MakeChat
) -> None:
    await (await make_chat()).close()
    await set_version(database, 0)
    with pytest.raises(SetupError, match="run `chat-aio migrate` first"):
        await make_chat()


async def test_a_migration_next_to_a_live_chat_continues_after_an_interruption(
    make_chat: MakeChat, database: Database, colouring: Colouring, monkeypatch: Patch
) -> None:
    """Only its end raises the version."""
    chat = await make_chat()
    group = await chat.api.create_group_conversation("ada")
    for _ in range(5):
        await chat.api.send_message("ada", group.id, "hello")
    await set_version(database, 0)
    both = (*migrate.MIGRATIONS, Migration(to=2, step=in_one_step))
    monkeypatch.setattr(migrate, "MIGRATIONS", both)
    colouring.cut_at = 3
    with pytest.raises(ConnectionError):
        await migrate.migrate(Store(database))
    assert (colouring.seen, await version_in(database)) == ([None, 1, 2, 3], 0)
    await chat.api.send_message("ada", group.id, "in between")
    colouring.cut_at, colouring.seen = -1, []
    stages: list[tuple[str, list[int]]] = []

    @contextmanager
    def progress(stage: str, _length: int) -> Iterator[Advance]:
        steps: list[int] = []
        stages.append((stage, steps))
        yield steps.append

    assert await migrate.migrate(Store(database), progress=progress) == 2
    assert colouring.seen == [3, 4]
    assert stages == [("Migrating to schema version 1", [1]), ("Migrating to schema version 2", [])]
    assert await database["messages"].count_documents({"colour": "red"}) == 5
    stored = await database["settings"].find_one({"_id": "schema"})
    assert stored == {"_id": "schema", "version": 2}
    page = await chat.api.list_messages("ada", group.id)
    assert len(page.messages) == 6


async def test_several_migrate_at_once(
    make_chat: MakeChat, database: Database, monkeypatch: Patch
) -> None:
    await make_chat()
    await set_version(database, 0)
    together = asyncio.Barrier(4)

    async def step(_: Store, position: Any) -> Any:
        if position is None:
            async with asyncio.timeout(30):
                await together.wait()
            return 1
        return None

    both = (Migration(to=1, step=step), Migration(to=2, step=in_one_step))
    monkeypatch.setattr(migrate, "MIGRATIONS", both)
    runs = (migrate.migrate(Store(database)) for _ in range(4))
    assert await asyncio.gather(*runs) == [2] * 4
    assert await version_in(database) == 2


async def test_there_is_nothing_to_migrate(database: Database, client_url: str) -> None:
    run = await command(database, client_url, "migrate")
    assert (run.exit_code, run.output) == (0, "the database has schema version 1\n")
    assert await version_in(database) == 1


async def test_an_upgrade_as_documented(
    make_chat: MakeChat, database: Database, mongo_url: str, colouring: Colouring
) -> None:
    """docs/operations/upgrading.md: a start names the command, and three commands upgrade."""
    chat = await make_chat()
    group = await chat.api.create_group_conversation("ada", user_ids=["bob"])
    for sender in ("ada", "bob", "bob"):
        await chat.api.send_message(sender, group.id, "hello")
    await chat.close()
    await set_version(database, 0)
    with pytest.raises(SetupError, match="run `chat-aio migrate` first"):
        await make_chat()
    for words, version in (("indexes apply", 0), ("migrate", 1), ("check --repair", 1)):
        run = await command(database, mongo_url, *words.split())
        assert (run.exit_code, await version_in(database)) == (0, version), run.output
        assert ("Migrating to schema version 1" in run.output) == (words == "migrate")
    assert colouring.seen == [None, 1, 2, 3, 4]
    (listed,) = (await (await make_chat()).api.list_conversations("bob")).conversations
    assert listed.unread_count == 1


async def test_a_finishing_migration_waits_for_its_option(
    make_chat: MakeChat,
    database: Database,
    mongo_url: str,
    colouring: Colouring,
    monkeypatch: Patch,
) -> None:
    """This version starts before it, since processes of the previous one may still run."""
    await (await make_chat()).close()
    await set_version(database, 0)
    finishing = Migration(to=1, step=in_one_step, finishing=True)
    monkeypatch.setattr(migrate, "MIGRATIONS", (finishing,))
    await make_chat()
    run = await command(database, mongo_url, "migrate")
    assert (run.exit_code, await version_in(database)) == (0, 0)
    assert "when no process of an earlier version is left" in run.output
    run = await command(database, mongo_url, "migrate", "--finish", "--yes")
    assert (run.exit_code, await version_in(database)) == (0, 1), run.output
