"""The command line: what goes wrong is one clear line and an exit code."""

import asyncio
import os
import re
import socket
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession
from click.testing import CliRunner, Result

from chat_aio import Options, SetupError, embedded
from chat_aio.admin.cli import main
from chat_aio.server import clients
from chat_aio.store.database import Database as Store
from chat_aio.store.database import database_over
from tests.conftest import Database
from tests.support.people import Tab
from tests.support.processes import serving, without_own_variables


async def run(*arguments: str, env: dict[str, str] | None = None) -> Result:
    """In a thread, because commands have an event loop of their own."""
    return await asyncio.to_thread(CliRunner().invoke, main, arguments, env=env)


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        yield other.getsockname()[1]


@pytest.mark.parametrize("command", [["demo"], ["serve", "--auth-header", "X-User"]])
async def test_a_taken_port(command: list[str], taken_port: int, tmp_path: Path) -> None:
    arguments = [*command, "--port", str(taken_port)]
    result = await run(*arguments, *(("--data", str(tmp_path)) if command == ["demo"] else ()))
    assert result.exit_code == 1
    assert f"cannot listen on 127.0.0.1:{taken_port}" in result.output
    assert "--port" in result.output
    assert len(result.output.splitlines()) == 1
    assert os.listdir(tmp_path) == []


async def test_a_missing_mongod(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("shutil.which", lambda _: None)
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    result = await run("demo", "--port", "0", "--data", str(tmp_path))
    assert result.exit_code == 1
    assert "the extra `embedded`" in result.output.splitlines()[-1]
    assert "Traceback" not in result.output


async def test_serve_wants_to_know_who_is_calling() -> None:
    for arguments in ((), ("--auth-header", "X", "--app", "a:b")):
        result = await run("serve", *arguments)
        assert (result.exit_code, len(result.output.splitlines())) == (2, 1)
        assert "--auth-header" in result.output


AWAY = "mongodb://127.0.0.1:9/?serverSelectionTimeoutMS=200"
WORKERS = ("--workers", "2")


async def failing_process(*arguments: str) -> str:
    """What a process says that ends with exit code 1; never a traceback."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "chat_aio", *arguments),
        stderr=asyncio.subprocess.PIPE,
        env=without_own_variables(),
    )
    _, errors = await asyncio.wait_for(process.communicate(), 240)
    assert process.returncode == 1
    assert b"Traceback" not in errors
    return errors.decode()


async def test_a_database_that_is_away_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    serve = ("serve", "--auth-header", "X", "--port", "0", "--mongo-url", AWAY)
    # The driver looks at its timeout every half second: it would be late for the chat's own.
    short = (*serve, "--storage-timeout-seconds", "1.1")
    said = await asyncio.gather(*(failing_process(*short, *options) for options in ((), WORKERS)))

    def briefly(handle: Database, options: Options) -> Store:
        return database_over(handle, replace(options, storage_timeout_seconds=1.1))

    monkeypatch.setattr(clients, "database_over", briefly)
    for command in (("indexes", "check"), ("indexes", "apply"), ("check",)):
        failed = await run(*command, "--mongo-url", AWAY)
        assert failed.exit_code == 1
        said.append(failed.output)
    for text in said:
        assert text.startswith("Error: MongoDB was not reached: 127.0.0.1:9: ")
        assert "configured timeouts" not in text
        assert len(text.splitlines()) == 1


async def test_a_wrong_url_is_one_line(tmp_path: Path) -> None:
    serve = ("serve", "--auth-header", "X", "--port", "0")
    demo = ("demo", "--port", "0", "--data", str(tmp_path))
    for command in (serve, demo, ("indexes", "check"), ("indexes", "apply")):
        said = await run(*command, "--mongo-url", "mongodb://127.0.0.1:99999/")
        assert said.exit_code == 2
        assert re.fullmatch(r"Error: --mongo-url: .+\n", said.output), said.output


async def test_an_app_that_cannot_be_made() -> None:
    said = await failing_process("serve", "--app", "nowhere:make", "--port", "0")
    assert "--app nowhere:make" in said
    for place in ("chat_aio:nothing", "chat_aio", "chat_aio:Hooks"):
        failed = await run("serve", "--app", place, "--port", "0")
        assert (failed.exit_code, len(failed.output.splitlines())) == (1, 1)
        assert f"--app {place}" in failed.output


async def test_indexes_are_checked_and_applied(mongo_url: str, database: Database) -> None:
    options = ("--mongo-url", mongo_url, "--database", database.name)
    result = await run("indexes", "check", *options)
    assert (result.exit_code, "conversations" in result.output) == (3, True)
    result = await run("indexes", "apply", *options)
    assert result.exit_code == 0
    result = await run("indexes", "check", *options)
    assert (result.exit_code, result.output) == (0, "All indexes are there, and no others.\n")


async def test_a_served_chat(mongo_url: str, database: Database) -> None:
    """Without options there are no plugins and no events beyond the contract."""
    logged: list[str] = []
    async with (
        serving(mongo_url, database.name, logged=logged) as base,
        ClientSession(headers=ADA) as session,
    ):
        async with session.get(f"{base}/conversations") as response:
            assert response.status == 200
        async with ClientSession() as nobody, nobody.get(f"{base}/conversations") as response:
            assert response.status == 401
        async with session.get(f"{base}/search/messages", params={"q": "😀" * 2_048}) as response:
            assert response.status == 200
        assert await statuses_of_plugins(session, base) == [404, 404]
        assert "conversation.created" not in await events_of_a_conversation(session, base)
        code = await use_an_invite(session, base)
    text = "\n".join(logged)
    assert code not in text
    assert "POST /api/chat/invites/{code}/accept 200" in text
    assert "GET (no route) 404" in text


async def test_a_served_chat_with_plugins(mongo_url: str, database: Database) -> None:
    """By option or by environment."""
    options, environment = ("--plugins", "typing"), {"CHAT_AIO_PLUGINS": " presence ,receipts"}
    async with (
        serving(mongo_url, database.name, *options, "--extra-events") as typing,
        serving(mongo_url, database.name, environment=environment) as presence,
        ClientSession(headers=ADA) as session,
    ):
        assert await statuses_of_plugins(session, typing) == [200, 404]
        assert await statuses_of_plugins(session, presence) == [404, 200]
        assert "conversation.created" in await events_of_a_conversation(session, typing)
        assert await are_kept_apart(session, presence) == (False, False)


async def test_a_served_chat_may_keep_people_apart(mongo_url: str, database: Database) -> None:
    on = ("--plugins", "presence", "--hide-blocked-users", "--presence-requires-mutual-messages")
    async with (
        serving(mongo_url, database.name, *on) as base,
        ClientSession(headers=ADA) as session,
    ):
        assert await are_kept_apart(session, base) == (True, True)


ADA, EVE = {"X-User": "ada"}, {"X-User": "eve"}


async def statuses_of_plugins(session: ClientSession, base: str) -> list[int]:
    """Of typing and of presence."""
    async with session.post(f"{base}/conversations/group") as response:
        group = (await response.json())["conversation"]["id"]
    async with session.post(f"{base}/conversations/{group}/typing") as response:
        typing = response.status
    async with session.get(f"{base}/presence?userIds=ada") as response:
        return [typing, response.status]


async def events_of_a_conversation(session: ClientSession, base: str) -> set[str | None]:
    """What a stream says while one is made and written in."""
    async with session.get(f"{base}/stream") as response:
        tab = Tab(response)
        async with session.post(f"{base}/conversations", json={"otherUserId": "bob"}) as made:
            conversation = (await made.json())["conversation"]["id"]
        path = f"{base}/conversations/{conversation}/messages"
        async with session.post(path, json={"body": "hi"}) as sent:
            assert sent.status == 201
        told = await tab.until(lambda frame: frame.event == "message.created")
        return {frame.event for frame in told}


async def are_kept_apart(session: ClientSession, base: str) -> tuple[bool, bool]:
    """Who has not written from presence, and who is blocked from a group."""
    async with session.post(f"{base}/conversations", json={"otherUserId": "eve"}) as made:
        assert made.status == 200
    async with session.get(f"{base}/presence?userIds=eve") as answer:
        hidden = "eve" not in (await answer.json())["presence"]
    async with session.post(f"{base}/moderation/blocks", json={"targetUserId": "bob"}) as made:
        assert made.status == 200
    async with session.post(f"{base}/conversations/group", json={"userIds": ["bob"]}) as made:
        assert made.status in (201, 403)
        return hidden, made.status == 403


async def use_an_invite(session: ClientSession, base: str) -> str:
    """Its code, after eve has called all that has it in its address."""
    async with session.post(f"{base}/conversations/group") as response:
        group = f"{base}/conversations/{(await response.json())['conversation']['id']}"
    async with session.post(f"{group}/invites") as response:
        code: str = (await response.json())["invite"]["code"]
    for method, url in (
        ("GET", f"{base}/invites/{code}"),
        ("POST", f"{base}/invites/{code}/accept"),
        ("GET", f"{base}/invites/{code}/nothing?code={code}"),
        ("DELETE", f"{group}/invites/{code}"),
    ):
        await (await session.request(method, url, headers=EVE)).read()
    return code


async def test_mongod_over_the_same_data_says_so(tmp_path: Path) -> None:
    async with embedded.Mongod(tmp_path) as mongod:
        with pytest.raises(SetupError, match=r"Is another one running.*end that one.*`--data`"):
            await embedded.Mongod(tmp_path).__aenter__()
        assert mongod.pid


async def test_a_mongod_that_closes_a_connection_while_it_starts_is_ready_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it may while it reads the settings of an earlier start."""
    from pymongo.errors import AutoReconnect

    become_primary, tries = embedded._become_primary, 0

    async def cut_once(client: Any, host: str) -> None:
        nonlocal tries
        tries += 1
        await become_primary(client, host)
        if tries == 1:
            raise AutoReconnect("connection closed")

    monkeypatch.setattr(embedded, "_become_primary", cut_once)
    async with embedded.Mongod(tmp_path) as mongod:
        assert mongod.port
    assert tries == 2


async def test_mongod_keeps_its_data_on_another_port(tmp_path: Path) -> None:
    from pymongo import AsyncMongoClient

    ports = set()
    for count in (1, 2):
        async with (
            embedded.Mongod(tmp_path) as mongod,
            AsyncMongoClient[dict[str, Any]](mongod.url) as client,
        ):
            ports.add(mongod.port)
            await client["x"]["y"].insert_one({})
            assert await client["x"]["y"].count_documents({}) == count
            assert (await client.admin.command("hello"))["isWritablePrimary"]
    with pytest.raises(RuntimeError):
        _ = mongod.pid
