"""Socket.IO on MongoDB: its libraries in a cache folder, its process, its clients' frames."""

import asyncio
import itertools
import json
import random
import shutil
import struct
import subprocess
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import orjson

from benchmarks.data import BODY, Place, insert, message_document
from benchmarks.load import Connection
from benchmarks.processes import SCRIPTS, START_SECONDS, program
from benchmarks.readers import StreamKind
from benchmarks.stage import BenchDatabase, Service, Stage, connected
from benchmarks.table import MissingPeer, Peer
from chat_aio.schema.models import NO_OPTIONAL_FIELDS
from chat_aio.store.mapping import message_json

FILES = Path(__file__).parent
CACHE = SCRIPTS.parent / ".cache" / "peers"
PACKAGES = ("package.json", "package-lock.json")
OLDEST_NODE = (20, 19)
MASK = b"\x37\xfa\x21\x3d"
HANDSHAKE = (
    "GET /socket.io/?EIO=4&transport=websocket&userId={}&rooms={} HTTP/1.1\r\nHost: bench\r\n"
    "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)


def prepare() -> str:
    """The versions; first installs the libraries below `.cache` if they are missing."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None or _node_version(node) < OLDEST_NODE:
        oldest = ".".join(map(str, OLDEST_NODE))
        raise MissingPeer(f"no Node.js from {oldest} on with npm; Debian: apt install nodejs npm")
    if not _installed():
        _install(npm)
    versions = json.loads((FILES / PACKAGES[0]).read_text())["dependencies"]
    named = ", ".join(f"{name} {version}" for name, version in versions.items())
    return f"{named}; Node.js {'.'.join(map(str, _node_version(node)))}"


def _node_version(node: str) -> tuple[int, ...]:
    said = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout
    return tuple(map(int, said.strip().removeprefix("v").split(".")))


def _installed() -> bool:
    """Whether npm has finished (its own note is next to the libraries) with the same files."""
    return (CACHE / "node_modules" / ".package-lock.json").exists() and all(
        (CACHE / package).read_bytes() == (FILES / package).read_bytes() for package in PACKAGES
    )


def _install(npm: str) -> None:
    CACHE.mkdir(parents=True, exist_ok=True)
    for package in PACKAGES:
        shutil.copy(FILES / package, CACHE)
    command = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
    done = subprocess.run(command, cwd=CACHE, capture_output=True, text=True)
    if done.returncode:
        raise MissingPeer(f"npm ci in {CACHE} has failed:\n{done.stderr.strip()}")


SOCKET_IO = Peer("Socket.IO", prepare)


@asynccontextmanager
async def serving(stage: Stage, database: BenchDatabase) -> AsyncIterator[Service]:
    """A process of `server.js` over `database`; it creates its index."""
    given = {"NODE_PATH": str(CACHE / "node_modules"), "NODE_ENV": "production"}
    command = ("node", str(FILES / "server.js"), stage.url, database.name)
    async with program(*command, **given) as process:
        async with asyncio.timeout(START_SECONDS):
            port = int(await process.say())
        yield Service(process, port)


async def put_rooms(database: BenchDatabase, found: Sequence[Place]) -> None:
    """The counters and messages of these conversations, as `server.js` stores them."""
    counters = ({"_id": place.id, "seq": place.messages} for place in found)
    await insert(database, "counters", counters)
    documents = (_stored(place, seq) for place in found for seq in range(1, place.messages + 1))
    await insert(database, "messages", documents)


def _stored(place: Place, seq: int) -> dict[str, Any]:
    """A message with the fields of it that the chat shows."""
    sender_id = place.user_ids[seq % len(place.user_ids)]
    document = message_document(place.id, seq, sender_id, message_id=f"{place.id}-{seq:07}")
    fields = orjson.loads(message_json(document, {}, NO_OPTIONAL_FIELDS))
    return {"_id": fields.pop("id"), **fields, "createdAt": document["createdAt"]}


def frame(text: str) -> bytes:
    """A text frame of a client."""
    data = text.encode()
    size = len(data)
    head = struct.pack(">BBH", 0x81, 0xFE, size) if size > 125 else bytes((0x81, 0x80 | size))
    masked = bytes(byte ^ key for byte, key in zip(data, itertools.cycle(MASK), strict=False))
    return head + MASK + masked


def opening(user_id: str, rooms: Iterable[str] = ()) -> bytes:
    """The request that opens a socket in these rooms."""
    return HANDSHAKE.format(user_id, ",".join(rooms)).encode()


def emitting(event: str, **fields: object) -> bytes:
    """An event that requests an acknowledgement. One at a time per socket: all have one number."""
    return frame(f"420{json.dumps([event, fields])}")


def emits_into(found: Iterable[Place]) -> Iterator[bytes]:
    """An endless sequence of messages, into every conversation in turn, shuffled."""
    requests = [emitting("message", conversationId=place.id, body=BODY) for place in found]
    random.Random(1).shuffle(requests)
    return itertools.cycle(requests)


OPENED, CONNECTED = b'"pingInterval":', b'40{"sid"'
CONNECT, PONG = frame("40"), frame("3")
SOCKETS = StreamKind(
    begun=CONNECTED,
    event=b'42["message",',
    answers={b"\x81\x012": PONG, OPENED: CONNECT},
)


class Socket(Connection):
    """A client's socket: every event that it sends is answered by its acknowledgement."""

    _upgraded = False

    def data_received(self, data: bytes) -> None:
        self._held += data
        if not self._upgraded:
            head, end, rest = self._held.partition(b"\r\n\r\n")
            if not end:
                return
            self._upgraded, self._held = True, rest
            if not head.startswith(b"HTTP/1.1 101"):
                self._answer(int(head[9:12]), rest)
        while (text := self._next_text()) is not None:
            self._hear(text)

    def _next_text(self) -> bytes | None:
        """The next whole frame, which servers do not mask."""
        held = self._held
        if len(held) < 2:
            return None
        size, start = held[1], 2
        if size > 125:
            start = 4 if size == 126 else 10
            size = int.from_bytes(held[2:start])
        if len(held) < start + size:
            return None
        self._held = held[start + size :]
        return held[start : start + size]

    def _hear(self, text: bytes) -> None:
        if text == b"2":
            self._say(PONG)
        elif OPENED in text[:200]:
            self._say(CONNECT)
        elif text.startswith((CONNECTED, b"43")):
            self._answer(200, text)
        elif text.startswith((b"1", b"41", b"44")):
            self._answer(500, text)

    def _say(self, data: bytes) -> None:
        if self._transport is not None:
            self._transport.write(data)


@asynccontextmanager
async def sockets(service: Service, count: int = 1) -> AsyncIterator[list[Connection]]:
    """Open sockets of `count` users, in no room."""
    async with connected([service], count, Socket) as opened:
        for number, connection in enumerate(opened):
            await connection.ask(opening(f"caller-{number}"))
        yield opened
