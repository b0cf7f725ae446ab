"""A replica set of real mongods on loopback, whose members can be killed and paused."""

import asyncio
import signal
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pymongo
from bson import Timestamp
from pymongo import AsyncMongoClient
from pymongo.errors import PyMongoError

from chat_aio.embedded import REPLICA_SET, _end_with_parent, _free_port, find_mongod
from tests.support.mongods import SMALL

PATIENCE_SECONDS = 60
ANSWER_SECONDS = 1.0
SETTINGS = {
    "electionTimeoutMillis": 1_000,
    "heartbeatIntervalMillis": 250,
    "heartbeatTimeoutSecs": 1,
    "catchUpTimeoutMillis": 2_000,
}
OPTIONS = (
    *("--wiredTigerCacheSizeGB", "0.25", "--oplogSize", "128", "--bind_ip", "127.0.0.1"),
    *("--nounixsocket", "--replSet", REPLICA_SET),
    *("--setParameter", "enableTestCommands=1"),
    *("--setParameter", "diagnosticDataCollectionEnabled=0"),
    # A secondary that follows a paused primary must turn to the new one: until then no majority.
    *("--setParameter", "oplogNetworkTimeoutBufferSeconds=1"),
    *SMALL,
)


class Member:
    """One mongod over its own folder and port, however often it is started."""

    def __init__(self, folder: Path, options: Sequence[str], *, stderr: int | None = None) -> None:
        self.port = _free_port()
        self.host = f"127.0.0.1:{self.port}"
        self.process: asyncio.subprocess.Process | None = None
        self._folder = folder
        self._options = options
        self._stderr = stderr
        self.client = AsyncMongoClient[dict[str, Any]](
            self.host, directConnection=True, serverSelectionTimeoutMS=500
        )

    async def start(self) -> None:
        self._folder.mkdir(exist_ok=True)
        self.process = await asyncio.create_subprocess_exec(
            find_mongod(),
            *("--dbpath", self._folder, "--port", str(self.port)),
            *("--logpath", self._folder / "log", "--logappend"),
            *(*OPTIONS, *self._options),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=self._stderr,
            preexec_fn=_end_with_parent,
            start_new_session=True,
        )

    async def end(self) -> None:
        """Kill it, paused or not; this process and no other."""
        process, self.process = self.process, None
        if process is not None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()

    def send(self, number: signal.Signals) -> None:
        """A signal; ProcessLookupError where it does not run."""
        if self.process is None:
            raise ProcessLookupError
        self.process.send_signal(number)

    async def command(self, *command: Any, **options: Any) -> dict[str, Any]:
        with pymongo.timeout(ANSWER_SECONDS):
            return await self.client.admin.command(*command, **options)

    async def hello(self) -> dict[str, Any]:
        """What it says of itself; nothing where it does not answer."""
        if not await self._listens():
            return {}  # The driver would try again for a while.
        try:
            return await self.command("hello")
        except PyMongoError:
            return {}

    async def _listens(self) -> bool:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", self.port)
        except ConnectionError:
            return False
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()
        return True


class ReplicaSet:
    """An async context manager over `size` members; `options` are further options of mongod, and
    `stderr` is where one writes that cannot write its log."""

    def __init__(
        self,
        folder: Path,
        *,
        size: int = 3,
        options: Sequence[str] = (),
        stderr: int | None = None,
    ) -> None:
        self._size = size
        self._stderr = stderr
        self._folder = folder
        self._options = options
        self.members: list[Member] = []

    @property
    def url(self) -> str:
        """The connection string, with all members."""
        hosts = ",".join(member.host for member in self.members)
        return f"mongodb://{hosts}/?replicaSet={REPLICA_SET}"

    async def __aenter__(self) -> Self:
        self.members = [
            Member(self._folder / f"member{number}", self._options, stderr=self._stderr)
            for number in range(self._size)
        ]
        try:
            for member in self.members:
                await member.start()
            async with asyncio.timeout(PATIENCE_SECONDS):
                await self._initiate()
                await self.wait_healthy()
        except BaseException:
            await self._end()
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._end()

    async def primary(self) -> Member | None:
        """The member that says it is the primary; of two that do, the one elected last."""
        said = await asyncio.gather(*(member.hello() for member in self.members))
        claims = [
            (said_by["electionId"], place)
            for place, said_by in enumerate(said)
            if said_by.get("isWritablePrimary")
        ]
        return self.members[max(claims)[1]] if claims else None

    async def wait_primary(self, *, other_than: Member | None = None) -> Member:
        """The primary, once there is one (other than that)."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while (found := await self.primary()) is None or found is other_than:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
            return found

    async def wait_healthy(self) -> None:
        """Until there is a primary, and the others have what it had written when that was seen: one
        that has just been started may be SECONDARY without following anybody."""
        seen = None
        async with asyncio.timeout(PATIENCE_SECONDS):
            while True:
                said = await asyncio.gather(*(member.hello() for member in self.members))
                primaries = [_written(answer) for answer in said if answer.get("isWritablePrimary")]
                others = [_written(answer) for answer in said if answer.get("secondary")]
                if len(primaries) == 1 and len(others) == self._size - 1:
                    seen = seen or primaries[0]
                    if all(other >= seen for other in others):
                        return
                await asyncio.sleep(0.05)

    async def kill(self, member: Member) -> None:
        """SIGKILL."""
        await member.end()

    async def restart(self, member: Member) -> None:
        """Start it again over its data."""
        await member.start()

    def pause(self, member: Member) -> None:
        """SIGSTOP: it keeps its connections, and answers nothing."""
        member.send(signal.SIGSTOP)

    def resume(self, member: Member) -> None:
        member.send(signal.SIGCONT)

    async def step_down(self) -> None:
        """Let the primary give up, and not stand for election for a few seconds."""
        primary = await self.wait_primary()
        with suppress(PyMongoError):
            await primary.command("replSetStepDown", 5, force=True)

    async def _initiate(self) -> None:
        hosts = [{"_id": place, "host": member.host} for place, member in enumerate(self.members)]
        config = {"_id": REPLICA_SET, "members": hosts, "settings": SETTINGS}
        for member in self.members:
            while not await member.hello():
                assert member.process is not None
                assert member.process.returncode is None, member.host
                await asyncio.sleep(0.05)
        await self.members[0].client.admin.command("replSetInitiate", config)

    async def _end(self) -> None:
        """Clients first: what they are cut off in, they leave open."""
        for member in self.members:
            with suppress(ProcessLookupError):
                self.resume(member)
        with suppress(TimeoutError):
            async with asyncio.timeout(ANSWER_SECONDS):
                await asyncio.gather(*(member.client.close() for member in self.members))
        await asyncio.gather(*(member.end() for member in self.members))


def _written(said: dict[str, Any]) -> tuple[int, Timestamp]:
    """How far a member has come: the term, and the time within it."""
    last = said["lastWrite"]["opTime"]
    return last["t"], last["ts"]
