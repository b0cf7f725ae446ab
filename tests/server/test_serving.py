"""Processes that come and go: health, shutdown, workers, and a rolling restart under load."""

import asyncio
import json
import logging
import os
import signal
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession, ClientTimeout, TCPConnector, web
from pymongo import AsyncMongoClient

from chat_aio import Chat, Hooks, Options, embedded
from chat_aio.hooks import BeforeMessageSend
from chat_aio.web.health import add_health
from tests.conftest import Database
from tests.support.load import loaded, make_group, require_all_kept
from tests.support.people import Tab, picked_by_header
from tests.support.processes import Service, until
from tests.support.stopping import stopped

BY_HEADER = ("--auth-header", "X-User")
STREAM_OF_DEAF = b"GET /api/chat/stream HTTP/1.1\r\nHost: x\r\nX-User: deaf\r\n\r\n"
HALF_A_GROUP = (
    b"POST /api/chat/conversations/group HTTP/1.1\r\nHost: x\r\nX-User: ada\r\n"
    b"Content-Length: 99\r\n\r\n{"
)


@pytest.fixture
async def session() -> AsyncIterator[ClientSession]:
    connector, timeout = TCPConnector(limit=0), ClientTimeout(total=60)
    async with ClientSession(connector=connector, timeout=timeout) as opened:
        yield opened


async def look(session: ClientSession, url: str) -> tuple[int, Any]:
    async with session.get(url) as response:
        return response.status, await response.json()


async def answer_mine(_: web.Request) -> web.Response:
    return web.json_response("mine")


OK = (200, {"status": "ok"})


async def test_readiness(database: Database, aiohttp_client: Any) -> None:
    """Of a chat at any depth, with a host's own /healthz left as it is."""
    chat = Chat(database, auth=picked_by_header, options=Options(replay_buffer_seconds=1))
    inner, app = web.Application(), web.Application()
    chat.mount(inner)
    app.add_subapp("/company", inner)
    app.router.add_get("/healthz", answer_mine)
    add_health(app)
    client = await aiohttp_client(app)
    assert await look(client, "/healthz") == (200, "mine")
    assert await look(client, "/readyz") == OK
    await chat._live.feed.close()
    reason = {"status": "unavailable", "reason": "the feed is not live"}
    assert await look(client, "/readyz") == (503, reason)
    await app.shutdown()
    assert await look(client, "/readyz") == (503, {**reason, "reason": "shutting down"})


async def test_a_database_that_stops_answering(session: ClientSession, tmp_path: Path) -> None:
    """Not ready, but alive; ready again by itself; and it stands in the way of no shutdown."""
    async with embedded.Mongod(tmp_path) as mongod:
        service = Service(mongod.url, "chat", *BY_HEADER)
        async with service.running():
            async with stopped(mongod.pid):
                reason = "the database does not answer"
                answer = (503, {"status": "unavailable", "reason": reason})
                assert await look(session, f"{service.origin}/readyz") == answer
                assert await look(session, f"{service.origin}/healthz") == OK
            async with asyncio.timeout(60):
                while True:
                    if await look(session, f"{service.origin}/readyz") == OK:
                        break
                    await asyncio.sleep(0.1)
            async with stopped(mongod.pid):
                service.send(signal.SIGTERM)
                assert await service.ended() in (0, 1)
    assert "Traceback" not in service.log
    assert "healthz" not in service.log
    assert "readyz" not in service.log


async def make_slow() -> web.Application:
    """For `--app`: a message called "late" is held until the chat has shut down."""
    client = AsyncMongoClient[dict[str, Any]](os.environ["CHAT_AIO_MONGO_URL"])
    ended = asyncio.Event()

    async def hold(sending: BeforeMessageSend) -> None:
        if sending.body == "late":
            logging.getLogger("tests").info("one is held")
            await ended.wait()

    async def end(_: web.Application) -> None:
        ended.set()

    async def close(_: web.Application) -> None:
        await client.close()

    chat = Chat(
        client[os.environ["CHAT_AIO_DATABASE"]],
        auth=picked_by_header,
        hooks=Hooks(before_message_send=hold),
        options=Options(hook_timeout_seconds=60),
    )
    app = web.Application()
    chat.mount(app)
    app.on_shutdown.append(end)
    app.on_cleanup.append(close)
    return app


async def test_shutdown(mongo_url: str, database: Database, session: ClientSession) -> None:
    """A request in flight is answered and 200 streams end cleanly. Who does not read what fills a
    buffer, or never sends the rest of a body, keeps nobody waiting."""
    service = Service(mongo_url, database.name, "--app", "tests.server.test_serving:make_slow")
    async with AsyncExitStack() as streams, service.running():
        group = await make_group(session, service.base, "ada", "deaf")
        tabs = [
            Tab(await streams.enter_async_context(stream_of(session, service, f"u{number}")))
            for number in range(200)
        ]
        with socket.socket() as deaf, socket.socket() as halting:
            await ask(deaf, service, STREAM_OF_DEAF)
            assert b"200 OK" in await asyncio.get_running_loop().sock_recv(deaf, 256)
            await ask(halting, service, HALF_A_GROUP)
            path = f"{service.base}/conversations/{group}/messages"
            ada = {"X-User": "ada"}
            for _ in range(24):
                async with session.post(path, json={"body": "x" * 16_000}, headers=ada) as sent:
                    assert sent.status == 201
            late = asyncio.create_task(session.post(path, json={"body": "late"}, headers=ada))
            await until(lambda: "one is held" in service.log)
            for number in (signal.SIGTERM, signal.SIGTERM, signal.SIGINT):
                service.send(number)  # Those who send it again do not make it less clean.
            await asyncio.gather(*(tab.end() for tab in tabs))
            async with await late as answer:
                assert answer.status == 201
            assert await service.ended() == 0, service.log
    kept = await database["messages"].find_one({"body": "late"})
    assert kept is not None


def stream_of(session: ClientSession, service: Service, user_id: str) -> Any:
    return session.get(f"{service.base}/stream", headers={"X-User": user_id})


async def ask(connection: socket.socket, service: Service, asked: bytes) -> None:
    """Connect, with little room for an answer, and say something."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
    connection.setblocking(False)
    loop = asyncio.get_running_loop()
    await loop.sock_connect(connection, ("127.0.0.1", service.port))
    await loop.sock_sendall(connection, asked)


async def test_workers_that_die_or_cannot_start(
    mongo_url: str, database: Database, session: ClientSession, tmp_path: Path
) -> None:
    """One that is killed is replaced. Wrong settings after a reload are a line of the log as any
    other, the next try comes later each time, and a reload of the corrected file, which new workers
    read, does not wait for it. When the supervisor is killed, nobody stays behind."""
    file = tmp_path / "chat.toml"
    right = 'auth_header = "X-User"\nworkers = 2\nlog_format = "json"\n'
    file.write_text(f"{right}max_message_length = 5\n")
    service = Service(mongo_url, database.name, "--config", str(file))
    async with service.running():
        killed, other = await service.has_served(2)
        os.kill(killed, signal.SIGKILL)
        await service.has_served(3)
        group = await make_group(session, service.base, "ada")
        assert await send_longer(session, service, group) == 400
        file.write_text(f"{right}bogus = 1\n")
        service.send(signal.SIGHUP)
        await until(lambda: "is replaced in 2 s" in service.log)
        lines = [json.loads(line) for line in service.log.splitlines()]
        wrong = [line for line in lines if "bogus" in line["message"]]
        assert {(line["level"], line["logger"]) for line in wrong} == {
            ("ERROR", "chat_aio.admin.cli")
        }
        assert is_alive(other)
        pauses = [line["message"] for line in lines if "is replaced in" in line["message"]]
        # The first is of the worker that was killed: it had served.
        assert [text.rpartition(" in ")[2] for text in pauses] == ["1 s", "1 s", "2 s"]
        file.write_text(f"{right}max_message_length = 6\n")
        service.send(signal.SIGHUP)
        pids = await service.has_served(5)
        assert await send_longer(session, service, group) == 201
        service.send(signal.SIGKILL)
        await service.ended()
        await until(lambda: not any(is_alive(pid) for pid in pids))


async def send_longer(session: ClientSession, service: Service, group: str) -> int:
    """The status of the answer to a message of six characters."""
    path = f"{service.base}/conversations/{group}/messages"
    async with session.post(path, json={"body": "longer"}, headers={"X-User": "ada"}) as sent:
        return sent.status


def is_alive(pid: int) -> bool:
    """A zombie is not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2]
    except OSError:
        return False
    return not state.startswith("Z")


@pytest.mark.long
async def test_two_services_restart(
    mongo_url: str, database: Database, session: ClientSession
) -> None:
    """One after the other, under load."""
    services = [Service(mongo_url, database.name, *BY_HEADER) for _ in range(2)]
    async with AsyncExitStack() as running:
        await asyncio.gather(
            *(running.enter_async_context(service.running()) for service in services)
        )

        async def restart() -> None:
            for service in services:
                await service.stop()
                await service.start()

        load = await loaded(session, services, restart)
    await require_all_kept(load, database)


async def test_workers_restart(mongo_url: str, database: Database, session: ClientSession) -> None:
    """One after the other on SIGHUP, under load; no connection is refused at any moment."""
    service = Service(mongo_url, database.name, *BY_HEADER, "--workers", "2")
    async with service.running():
        old = await service.has_served(2)

        async def restart() -> None:
            service.send(signal.SIGHUP)
            new = await service.has_served(4)
            assert not any(is_alive(pid) for pid in old)
            assert len(set(new)) == 4

        load = await loaded(session, [service], restart)
        assert load.failures["refused"] == 0
        assert all(is_alive(pid) for pid in service.pids()[2:])
    await require_all_kept(load, database)
    assert not any(is_alive(pid) for pid in service.pids())
