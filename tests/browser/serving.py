"""The demo on a loopback port, a connection to it that can break, and a page's complaints."""

import asyncio
import socket
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol, Self

from aiohttp import ClientSession, web
from playwright.async_api import ConsoleMessage, Error, Page
from pymongo import AsyncMongoClient

from chat_aio import Chat, Options, add_browser_files
from chat_aio.capabilities import Capability
from chat_aio.demo.application import Samples, make_demo
from chat_aio.demo.people import NAMES
from chat_aio.plugins import Attachments
from tests.browser.speaking import add_foreign_page
from tests.store.conftest import store_over
from tests.support.people import app_caught_up
from tests.support.pool import Database

OF_PROCESSES = ("presence", "processes", "signals")
NO_DATA = Path("/nowhere")
"""Where an embedded mongod would keep its data."""


class Ports:
    """Ports that stay this process's own: what a browser has cached of a page holds for its port.

    Each is bound by a socket that never listens. So nothing else is given the port while a test's
    server is down, nobody is answered there, and a server with `reuse_address` can still bind it.
    """

    def __init__(self) -> None:
        self._held: dict[str, socket.socket] = {}

    def of(self, name: str) -> int:
        if name not in self._held:
            held = self._held[name] = socket.socket()
            held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            held.bind(("127.0.0.1", 0))
        port: int = self._held[name].getsockname()[1]
        return port

    def release(self) -> None:
        for writer in self._held.values():
            writer.close()


async def keep(request: web.Request, response: web.StreamResponse) -> None:
    """Let browsers keep the page's modules. The demo makes them ask each time, for each module."""
    if request.path.startswith(("/demo/static/", "/browser/")):
        response.headers["Cache-Control"] = "max-age=3600, immutable"


async def few_samples(chat: Chat, _: Attachments) -> None:
    """What most tests need: a group of all, and a direct conversation."""
    others = [name for name in NAMES if name != "ada"]
    made = await chat.api.create_group_conversation("ada", user_ids=others, name="Engine room")
    for sender, body in (
        ("ada", "Welcome to the engine room!"),
        ("grace", "Found a moth in the relay. Taped it into the log book."),
        ("margaret", "Then let's write the recovery path before we need it."),
    ):
        await chat.api.send_message(sender, made.id, body)
    direct = await chat.api.get_or_create_conversation("ada", "grace")
    await chat.api.send_message("grace", direct.id, "Do you have a minute for the compiler?")


class Story:
    """The rows of sample conversations, told once and stored again for each further demo."""

    def __init__(self) -> None:
        self._told: dict[Samples, dict[str, list[dict[str, Any]]]] = {}

    async def store(self, samples: Samples, database: Database) -> bool:
        """Store the rows in an empty database; False if they have not been told yet."""
        told = self._told.get(samples, {})
        await asyncio.gather(*(database[name].insert_many(rows) for name, rows in told.items()))
        return bool(told)

    async def learn(self, samples: Samples, database: Database) -> None:
        """Remember the rows, without those about processes that run."""
        names = await database.list_collection_names()
        rows = {name: await database[name].find().to_list() for name in names}
        self._told[samples] = {
            name: rows[name] for name in names if rows[name] and name not in OF_PROCESSES
        }


class Demo:
    """The demo app over a database of its own. It can be stopped and started again."""

    def __init__(
        self,
        mongo_url: str,
        database: str,
        http: ClientSession,
        ports: Ports,
        *,
        name: str = "demo",
        samples: Samples | None = few_samples,
    ) -> None:
        self.port = ports.of(name)
        self._mongo_url = mongo_url
        self.database = database
        self._http = http
        self._ports = ports
        self._samples = samples
        self._runner: web.AppRunner | None = None
        self._twins: list[Demo] = []

    async def start(self) -> None:
        app = await make_demo(
            data=NO_DATA,
            mongo_url=self._mongo_url,
            database=self.database,
            port=self.port,
            say=lambda _: None,
            samples=self._samples,
        )
        add_browser_files(app)
        add_foreign_page(app)
        # Before the demo's own handler, which leaves a header that is there.
        app.on_response_prepare.insert(0, keep)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=5)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self.port, reuse_address=True)
        await site.start()

    async def twin(self) -> "Demo":
        """Another server over the same database, with a port of its own; it ends with this one."""
        name = f"twin {len(self._twins)}"
        made = Demo(self._mongo_url, self.database, self._http, self._ports, name=name)
        await made.start()
        self._twins.append(made)
        return made

    async def stop(self) -> None:
        while self._twins:
            await self._twins.pop().stop()
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    async def caught_up(self) -> None:
        assert self._runner is not None
        await app_caught_up(self._runner.app)

    async def get(self, user_id: str, path: str, **query: str) -> Any:
        return await self._call("GET", user_id, path, query)

    async def post(self, user_id: str, path: str, **body: Any) -> Any:
        return await self._call("POST", user_id, path, {}, body)

    async def patch(self, user_id: str, path: str, **body: Any) -> Any:
        return await self._call("PATCH", user_id, path, {}, body)

    async def delete(self, user_id: str, path: str, **body: Any) -> Any:
        return await self._call("DELETE", user_id, path, {}, body)

    async def direct(self, user_id: str, other_user_id: str) -> str:
        """The id of the conversation of two people."""
        answer = await self.post(user_id, "/conversations", otherUserId=other_user_id)
        return str(answer["conversation"]["id"])

    async def group(self, user_id: str, *user_ids: str, name: str) -> str:
        answer = await self.post(user_id, "/conversations/group", userIds=user_ids, name=name)
        return str(answer["conversation"]["id"])

    async def send(self, user_id: str, conversation_id: str, *bodies: str) -> None:
        for body in bodies:
            await self.write(user_id, conversation_id, body)

    async def fill(
        self,
        conversation_id: str,
        messages: Iterable[tuple[str, str]],
        *,
        thread_root_message_id: str | None = None,
    ) -> list[str]:
        """Store many messages at once, by sender and body, in this order; returns their ids.

        A store of another process writes them, in a few transactions: requests one after the other
        take ten times as long."""
        fields = {
            "threadRootMessageId": thread_root_message_id,
            "timelines": [thread_root_message_id or conversation_id],
        }
        async with AsyncMongoClient[dict[str, Any]](self._mongo_url) as client:
            store = store_over(client[self.database], timeout=60.0)
            conversation = await store.database.conversations.find_one({"_id": conversation_id})
            sends = (
                store.send(conversation, sender_id, body=body, **fields)
                for sender_id, body in messages
            )
            return [message["_id"] for message in await asyncio.gather(*sends)]

    async def delete_conversation(self, conversation_id: str) -> None:
        """As a host does in a process of its own."""
        async with AsyncMongoClient[dict[str, Any]](self._mongo_url) as client:
            options = Options(disabled_capabilities=frozenset({Capability.STREAMS}))
            async with Chat(client[self.database], options=options) as chat:
                await chat.conversations.delete_conversation("host", conversation_id)

    async def write(self, user_id: str, conversation_id: str, body: str, **more: Any) -> Any:
        """Send a message with what else it has; returns it."""
        path = f"/conversations/{conversation_id}/messages"
        return (await self.post(user_id, path, body=body, **more))["message"]

    async def message(self, user_id: str, conversation_id: str, message_id: str) -> Any:
        path = f"/conversations/{conversation_id}/messages/{message_id}"
        return (await self.get(user_id, path))["message"]

    async def newest(self, user_id: str, conversation_id: str) -> Any:
        """The newest message of the main list."""
        path = f"/conversations/{conversation_id}/messages"
        return (await self.get(user_id, path, limit="1"))["messages"][0]

    async def bodies(self, user_id: str, conversation_id: str) -> list[str]:
        """What was said, oldest first."""
        page = await self.get(user_id, f"/conversations/{conversation_id}/messages", limit="200")
        return [message["body"] for message in reversed(page["messages"])]

    async def read_all(self, user_id: str, conversation_id: str) -> None:
        path = f"/conversations/{conversation_id}"
        page = await self.get(user_id, f"{path}/messages", limit="1")
        await self.post(user_id, f"{path}/read", messageId=page["messages"][0]["id"])

    async def unread(self, user_id: str, conversation_id: str) -> int:
        answer = await self.get(user_id, f"/conversations/{conversation_id}")
        return int(answer["conversation"]["unreadCount"])

    async def _call(
        self, method: str, user_id: str, path: str, query: dict[str, str], body: object = None
    ) -> Any:
        url = f"http://127.0.0.1:{self.port}/api/chat{path}"
        params = {**query, "as": user_id}
        async with self._http.request(method, url, params=params, json=body) as response:
            assert response.ok, await response.text()
            return await response.json()


class HasPort(Protocol):
    """A server on this machine."""

    port: int


class Cable:
    """A TCP proxy to a server on a port of its own: cut it, and nothing is there any more.

    Going offline by the browser's own means would leave a stream that is open untouched. While it
    is `jammed_after` so many bytes, the server is given no more of what a connection brings. While
    it `is_mute`, what the server says is lost, and nobody notices.
    """

    def __init__(self, served: HasPort, port: int) -> None:
        self.port = port
        self.jammed_after: int | None = None
        self.is_mute = False
        self._served = served
        self._server: asyncio.Server | None = None
        self._is_cut = True
        self._ends: set[asyncio.StreamWriter] = set()

    async def __aenter__(self) -> Self:
        await self.mend()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.cut()

    async def mend(self) -> None:
        self._is_cut = False
        self._server = await asyncio.start_server(
            self._join, "127.0.0.1", self.port, reuse_address=True
        )

    async def cut(self) -> None:
        self._is_cut = True
        if self._server is not None:
            self._server.close()
            for end in self._ends:
                end.transport.abort()
            await self._server.wait_closed()
            self._server = None

    async def _join(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._ends.add(writer)
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._served.port)
        self._ends.add(far_writer)
        if self._is_cut:
            # It was cut while this connection was being made.
            for end in (writer, far_writer):
                end.transport.abort()
        await asyncio.gather(
            _copy(reader, far_writer, lambda: self.jammed_after),
            _copy(far_reader, writer, lambda: 0 if self.is_mute else None),
        )
        self._ends -= {writer, far_writer}


class Complaints:
    """Errors and warnings of the pages' consoles."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self._excuses: list[str] = []

    def listen_to(self, page: Page) -> None:
        page.on("console", self._hear)
        page.on("pageerror", self._hear_error)

    def leave(self, page: Page) -> None:
        page.remove_listener("console", self._hear)
        page.remove_listener("pageerror", self._hear_error)

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.heard.append(f"{message.text} {message.location.get('url', '')}".strip())

    def _hear_error(self, error: Error) -> None:
        self.heard.append(str(error))

    def excuse(self, part: str) -> None:
        """A browser complains itself of each request that fails: the test expects that one."""
        self._excuses.append(part)

    def excuse_network(self) -> None:
        """For a test that breaks the connection while a page may be loading its parts."""
        self.excuse("net::ERR_")
        self.excuse("Failed to fetch dynamically imported module")

    def excuse_lost_access(self) -> None:
        """For a test that takes a conversation from a page, which may be loading its messages."""
        self.excuse("403")
        self.excuse("404")

    @property
    def unexcused(self) -> list[str]:
        return [line for line in self.heard if not any(part in line for part in self._excuses)]


async def _copy(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    most: Callable[[], int | None] = lambda: None,
) -> None:
    """What comes after `most` bytes is swallowed, so that the end of it is still noticed."""
    copied = 0
    with suppress(ConnectionError):
        while received := await reader.read(65_536):
            copied += len(received)
            limit = most()
            if limit is None or copied <= limit:
                writer.write(received)
                await writer.drain()
    writer.close()
    with suppress(ConnectionError):
        await writer.wait_closed()
