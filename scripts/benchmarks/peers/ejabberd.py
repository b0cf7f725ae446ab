"""ejabberd with rooms that keep an archive: its configuration, process and clients' stanzas."""

import itertools
import json
import secrets
import shutil
import socket
import subprocess
import tempfile
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from benchmarks.data import BODY
from benchmarks.load import Answered, Connection
from benchmarks.processes import LoadFailed, listening, program
from benchmarks.readers import REST, StreamKind
from benchmarks.stage import Service, connected
from benchmarks.table import MissingPeer, Peer

LIBRARIES = Path("/usr/lib")

# Idle schedulers of the Erlang VM wait actively, which would count as CPU of a message.
CALM = ("+sbwt", "none", "+sbwtdcpu", "none", "+sbwtdio", "none")

OPENING = (
    "<stream:stream to='bench' xmlns='jabber:client' version='1.0'"
    " xmlns:stream='http://etherx.jabber.org/streams'>"
)
LOGIN = "<auth xmlns='urn:ietf:params:xml:ns:xmpp-sasl' mechanism='ANONYMOUS'/>"
BINDING = "<iq type='set' id='bind'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'/></iq>"
ACCEPTED, BOUND = b"<success ", b"</bind></iq>"
# The last stanza of a join, and a part of a room's message that no other stanza has.
JOINED, MESSAGE = b"<subject/></message>", b"<stanza-id "
XMPP = StreamKind(begun=JOINED, event=MESSAGE, rest_after=ACCEPTED)


def _installed() -> list[Path]:
    return sorted(LIBRARIES.glob("*/ejabberd-*/ebin"))


def prepare() -> str:
    """The version of ejabberd."""
    found = _installed()
    if shutil.which("erl") is None or not found:
        install = "apt install --no-install-recommends ejabberd erlang-p1-sqlite3"
        raise MissingPeer(f"no ejabberd ({LIBRARIES}/*/ejabberd-*); Debian: {install}")
    said = subprocess.run(["erl", "-version"], capture_output=True, text=True, check=True)
    return f"{found[-1].parent.name}, archive in SQLite, {said.stderr.strip()}"


EJABBERD = Peer("ejabberd", prepare)


def configuration(port: int, folder: str) -> dict[str, Any]:
    """Anonymous users, no limits of rates; rooms stay, archive each message, and send no presence
    of others. JSON is YAML, too."""
    return {
        "hosts": ["bench"],
        "loglevel": "error",
        "listen": [
            {
                "port": port,
                "ip": "127.0.0.1",
                "module": "ejabberd_c2s",
                "shaper": "none",
                "backlog": 2_048,
            }
        ],
        "auth_method": ["anonymous"],
        "anonymous_protocol": "sasl_anon",
        "allow_multiple_connections": True,
        "sql_type": "sqlite",
        "sql_database": f"{folder}/archive.db",
        "shaper": {},
        "shaper_rules": {},
        "modules": {
            "mod_mam": {"db_type": "sql"},
            "mod_muc": {
                "host": "rooms",
                "history_size": 0,
                "max_users": 5_000,
                "max_user_conferences": 5_000,
                "default_room_options": {
                    "mam": True,
                    "max_users": 5_000,
                    "persistent": True,
                    "presence_broadcast": [],
                },
            },
        },
    }


@asynccontextmanager
async def serving() -> AsyncIterator[Service]:
    """ejabberd as one process, with a temporary folder."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    ebin = _installed()[-1]
    with tempfile.TemporaryDirectory(prefix="chat-bench-") as folder:
        path = Path(folder) / "ejabberd.yml"
        path.write_text(json.dumps(configuration(port, folder)))
        where = ("-pa", str(ebin), "-mnesia", "dir", f'"{folder}/mnesia"')
        environment = {
            "EJABBERD_CONFIG_PATH": str(path),
            "EJABBERD_LOG_PATH": f"{folder}/ejabberd.log",
            "HOME": folder,
        }
        command = ("erl", "-noinput", *CALM, *where, "-s", "ejabberd")
        async with program(*command, **environment) as process:
            if not await listening(port):
                raise LoadFailed("ejabberd has not started")
            yield Service(process, port)


def joining(room: str, nick: str) -> str:
    return (
        f"<presence to='{room}@rooms/{nick}'><x xmlns='http://jabber.org/protocol/muc'/></presence>"
    )


def opening(nick: str, rooms: Iterable[str]) -> bytes:
    """A session in these rooms: the second part is sent once the login is accepted."""
    joins = "".join(joining(room, nick) for room in rooms)
    return b"".join((f"{OPENING}{LOGIN}".encode(), REST, f"{OPENING}{BINDING}{joins}".encode()))


def paging(room: str) -> bytes:
    """The newest 50 messages of a room's archive."""
    return (
        f"<iq type='set' to='{room}@rooms' id='page'><query xmlns='urn:xmpp:mam:2'>"
        "<set xmlns='http://jabber.org/protocol/rsm'><max>50</max><before/></set></query></iq>"
    ).encode()


SENDING = f"<message to='%s@rooms' type='groupchat'><body>{BODY}</body></message>".encode()
"""A message; a session sends it to its rooms in turn."""


class Session(Connection):
    """An anonymous user in some rooms. A message is answered by its copy, which the room sends
    after it has been archived."""

    def __init__(self) -> None:
        super().__init__()
        self._rooms = itertools.cycle([b""])
        self._rest = b""
        self._awaited = b""

    async def join(self, nick: str, rooms: Sequence[str]) -> None:
        first, _, self._rest = opening(nick, ()).partition(REST)
        await self._until(BOUND, first)
        for room in rooms:
            await self._until(JOINED, joining(room, nick).encode())
        self._rooms = itertools.cycle([room.encode() for room in rooms])

    async def _until(self, awaited: bytes, request: bytes) -> None:
        self._awaited = awaited
        await self.ask(request)

    def send(self, request: bytes, answered: Answered) -> None:
        if request is SENDING:
            self._awaited, request = b"</message>", request % next(self._rooms)
        elif request.startswith(b"<iq "):
            self._awaited = b"</iq>"
        super().send(request, answered)

    def data_received(self, data: bytes) -> None:
        self._held += data
        if self._rest and ACCEPTED in self._held and self._transport is not None:
            self._transport.write(self._rest)
            self._held, self._rest = b"", b""
        elif b"type='error'" in self._held:
            self._answer(500, self._held)
        elif self._awaited in self._held:
            held, self._held = self._held, b""
            self._answer(200, held)


@asynccontextmanager
async def sessions(
    service: Service, rooms: Sequence[Sequence[str]]
) -> AsyncIterator[list[Connection]]:
    """Sessions, one for a list of rooms."""
    async with connected([service], len(rooms), Session) as opened:
        for session, own in zip(opened, rooms, strict=True):
            assert isinstance(session, Session)
            await session.join(secrets.token_hex(8), own)
        yield opened
