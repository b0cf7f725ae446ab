"""The rule for commands that remove data or cannot be undone: a dry run shows the plan, a terminal
is asked, and anything else needs --yes."""

import asyncio
import os
import pty
import re
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import click
import pytest

from chat_aio.admin.cli import main
from chat_aio.plugins import Filter
from tests.admin.life import HELD
from tests.admin.running import AS_MOD, Moderate, People, Tool, kept, run
from tests.admin.test_records import age
from tests.conftest import Database, MakePeople
from tests.support.people import PATIENCE

ROOT = Path(__file__).parents[2]
SOMETHING = "0d6f2c9f8a4be1d3c7a95e02"
CONVERSATION = "1d6f2c9f8a4be1d3c7a95e02"

ASKING: dict[tuple[str, ...], tuple[str, ...]] = {
    ("attachments", "sweep"): (),
    ("users", "erase"): ("mallory", *AS_MOD),
    ("conversations", "delete"): (CONVERSATION, *AS_MOD),
    ("migrate",): ("--finish",),
    ("moderation", "discard-held"): (SOMETHING, *AS_MOD),
    ("moderation", "remove-message"): (SOMETHING, *AS_MOD),
    ("moderation", "remove-messages"): ("--user", "mallory", *AS_MOD),
    ("purge-records",): ("--bans", "30", *AS_MOD),
    ("mark-restored",): (),
    ("retention",): ("--older-than", "30", *AS_MOD),
    ("stats", "update"): ("--keep-days", "30"),
}
"""The commands of the rule, each with arguments."""


def commands(
    group: click.Group = main, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """All commands of `chat-aio`, by their words."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))
        else:
            yield (*path, name), command


def test_all_of_them_have_the_options_and_are_documented() -> None:
    options = {words: {o for p in found.params for o in p.opts} for words, found in commands()}
    assert {words for words, found in options.items() if "--yes" in found} == ASKING.keys()
    assert all("--dry-run" in options[words] for words in ASKING)
    page = (ROOT / "docs/reference/cli.md").read_text()
    _, _, listed = page.partition("## Confirmation")
    rows = re.findall(r"^\| `([a-z -]+?)(?: --[a-z-]+)?` \|", listed.partition("\n## ")[0], re.M)
    assert {tuple(row.split()) for row in rows} == ASKING.keys()


@pytest.mark.parametrize("words", ASKING)
async def test_where_nobody_can_be_asked(words: tuple[str, ...], tool: Tool) -> None:
    """No database is needed to refuse."""
    refused = await tool(*words, *ASKING[words])
    assert (refused.code, refused.output) == (2, "")
    line = refused.errors.splitlines()[-1]
    assert line.startswith("Error: ")
    assert all(name in line for name in ("--yes", "--dry-run"))


async def test_a_dry_run_writes_nothing(people: People, tool: Tool, database: Database) -> None:
    """Also where it is given together with --yes."""
    mallory = people("mallory")
    group = await mallory.group()
    sent = await mallory.send(group, "hello")
    there = {SOMETHING: sent["id"], CONVERSATION: group}
    collections = [name for name in await database.list_collection_names() if name != "signals"]
    before = await kept(database, *collections)
    for words, arguments in ASKING.items():
        if words == ("moderation", "discard-held"):
            continue
        given = [there.get(argument, argument) for argument in arguments]
        for options in (("--dry-run",), ("--dry-run", "--yes")):
            done = await tool(*words, *given, *options)
            assert (done.code, "Dry run: nothing was written." in done.output) == (0, True), done
    assert await kept(database, *collections) == before


class Terminal:
    """`chat-aio` on a terminal, answered by a person."""

    def __init__(self, *arguments: str) -> None:
        self._arguments = arguments
        self.shown = ""

    async def __aenter__(self) -> "Terminal":
        self._ours, theirs = pty.openpty()
        os.set_blocking(self._ours, False)
        self._more = asyncio.Event()
        asyncio.get_running_loop().add_reader(self._ours, self._read)
        self.process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "chat_aio", *self._arguments),
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            # Tests may run where it is ignored, and a process inherits that.
            preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
        )
        os.close(theirs)
        return self

    async def __aexit__(self, *_: object) -> None:
        asyncio.get_running_loop().remove_reader(self._ours)
        if self.process.returncode is None:
            self.process.kill()
            await self.process.wait()
        os.close(self._ours)

    def _read(self) -> None:
        try:
            self.shown += os.read(self._ours, 65536).decode()
        except OSError:  # Nobody holds the other end any more.
            asyncio.get_running_loop().remove_reader(self._ours)
        self._more.set()

    async def until(self, text: str) -> None:
        async with asyncio.timeout(30):
            while text not in self.shown:
                self._more.clear()
                await self._more.wait()

    def answer(self, text: str) -> None:
        os.write(self._ours, f"{text}\n".encode())

    async def end(self) -> int:
        async with asyncio.timeout(30):
            return await self.process.wait()


@pytest.mark.parametrize(("answer", "code"), [("y", 0), ("n", 1)])
async def test_a_question_at_a_terminal(
    people: People, client_url: str, database: Database, answer: str, code: int
) -> None:
    """It shows the plan first, and goes on with what it has shown."""
    mallory = people("mallory")
    group = await mallory.group("alice")
    await mallory.send(group, "hello")
    place = ("--mongo-url", client_url, "--database", database.name)
    async with Terminal("users", "erase", "mallory", *AS_MOD, *place) as terminal:
        await terminal.until("Erase mallory? [y/N]")
        assert re.search(r"1 +messages", terminal.shown)
        terminal.answer(answer)
        assert await terminal.end() == code
        if code:
            await terminal.until("Aborted!")
        else:
            await terminal.until("Erased mallory")
    (message,) = (await kept(database, "messages"))[0]
    assert message["body"] == ("hello" if code else "")


async def test_what_comes_during_a_question_stays(
    people: People, client_url: str, database: Database
) -> None:
    """The command does what it has shown, though more could be done by then."""
    mallory = people("mallory")
    await mallory.send(await mallory.group(), "shown")
    await age(database, "messages")
    place = ("--mongo-url", client_url, "--database", database.name)
    async with Terminal("retention", "--older-than", "30", *AS_MOD, *place) as terminal:
        await terminal.until("[y/N]")
        await mallory.send(await mallory.group(), "later")
        await age(database, "messages")
        terminal.answer("y")
        assert await terminal.end() == 0
    messages = (await kept(database, "messages"))[0]
    assert sorted(message["body"] for message in messages) == ["", "later"]


async def test_ctrl_c_ends_a_question(people: People, client_url: str, database: Database) -> None:
    mallory = people("mallory")
    await mallory.send(await mallory.group(), "hello")
    place = ("--mongo-url", client_url, "--database", database.name)
    async with Terminal("users", "erase", "mallory", *AS_MOD, *place) as terminal:
        await terminal.until("Erase mallory? [y/N]")
        # Once is enough, unless it meets a destructor, in which Python drops exceptions.
        async with asyncio.timeout(PATIENCE):
            while terminal.process.returncode is None:
                terminal.process.send_signal(signal.SIGINT)
                with suppress(TimeoutError):
                    await asyncio.wait_for(terminal.process.wait(), 2)
        assert terminal.process.returncode == 1
    assert (await kept(database, "messages"))[0][0]["body"] == "hello"


async def test_ctrl_c_amid_the_work_says_how_to_go_on(
    tool: Tool, monkeypatch: pytest.MonkeyPatch, people: People
) -> None:
    async def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    await people("mallory").send(await people("mallory").group(), "hello")
    monkeypatch.setattr("chat_aio.actions.maintenance.erasure.erase_user", interrupted)
    done = await tool("users", "erase", "mallory", *AS_MOD, "--yes")
    assert (done.code, "run the command again to do the rest" in done.errors) == (1, True)


async def test_what_was_shown_is_what_is_done(
    serve: MakePeople, moderate: Moderate, tool: Tool, database: Database
) -> None:
    """The plan of each command has the numbers of what --yes then does."""
    people = await serve(plugins=[Filter([HELD])])
    mallory = people("mallory")
    group = await mallory.group()
    await mallory.send(group, "one")
    await mallory.send(group, "two")
    many = ("remove-messages", "--user", "mallory", *AS_MOD, "--json")
    would = (await moderate(*many, "--dry-run")).json
    assert (would["would"], would["removed"]["messages"]) == (
        *("remove 2 messages in 1 conversation of mallory", 2),
    )
    assert (await moderate(*many, "--yes")).json["removed"] == would["removed"]


async def test_restored_explains_itself_and_is_taken_back(
    people: People, tool: Tool, database: Database
) -> None:
    await people("alice").group()
    would = await tool("mark-restored", "--dry-run")
    assert "For 7 days clients with a position from before now get stream.reset" in would.output
    assert "chat-aio mark-restored --undo" in would.output
    assert await database["settings"].find_one({"_id": "restored"}) is None
    nothing = await tool("mark-restored", "--undo", "--yes")
    assert (nothing.code, nothing.output) == (0, "no restore is noted\n")
    done = await tool("mark-restored", "--yes", "--json")
    assert done.json["behind"] == []
    again = await tool("mark-restored", "--dry-run")
    assert f"A restore is noted already, at {done.json['restoredAt']}" in again.output
    undone = await tool("mark-restored", "--undo", "--yes")
    assert (undone.code, undone.output) == (0, "the note of the restore is removed\n")
    assert (await database["settings"].find_one({"_id": "restored"}) or {}).get("at") is None
    assert (await run("mark-restored", "--undo", "--repair", "--yes")).code == 2


async def test_ctrl_c_during_an_import(
    tool: Tool, people: People, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    group = await people("ada").group()
    file = str(tmp_path / "room.jsonl")
    assert (await tool("conversations", "export", group, "--output", file)).code == 0

    async def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("chat_aio.admin.conversations.plan_import", interrupted)
    done = await tool("conversations", "import", file)
    assert (done.code, "run the command again to do the rest" in done.errors) == (1, True)


async def test_one_form_of_output(tool: Tool) -> None:
    refused = await tool("moderation", "bans", "--json-lines", "--json")
    assert (refused.code, "--json or --json-lines, not both" in refused.errors) == (2, True)
