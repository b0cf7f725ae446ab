"""The deployment of a game: a replica set, processes of `chat-aio serve`, users, and Prometheus.

Everything belongs to the game, listens on loopback, and is removed when the game is over.
"""

import asyncio
import json
import os
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gamedays.certificates import Certificates
from gamedays.disk import small_disk
from gamedays.people import People
from gamedays.prometheus import LOOK_SECONDS, Prometheus
from tests.support.processes import ROOT, Service
from tests.support.replica_set import ReplicaSet

DATABASE = "chat_game"
COMMAND_SECONDS = 60
FIRE_SECONDS = 75
WELL_SECONDS = 75

QUICK: Mapping[str, str] = {
    "CHAT_AIO_CHANGE_STREAM_TIMEOUT_SECONDS": "3",
    "CHAT_AIO_STORAGE_TIMEOUT_SECONDS": "4",
}
"""Settings that are shorter in the game than by default, as the times of the rules are."""


class GameFailed(Exception):
    """An alert that does not fire, or a cure that does not help."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The needs of a breakage. `settings` are variables of the service, `mongod` are options of
    mongod, and `disk_mib` is the size of the disk with MongoDB's data."""

    members: int = 1
    services: int = 1
    settings: Mapping[str, str] = field(default_factory=dict)
    url_options: str = ""
    mongod: tuple[str, ...] = ()
    disk_mib: int | None = None
    has_tls: bool = False
    app: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """A running deployment."""

    folder: Path
    members: ReplicaSet
    services: Sequence[Service]
    people: People
    prometheus: Prometheus
    certificates: Certificates | None

    async def until_fires(self, alert: str) -> float:
        """The seconds until the alert fired. Raises GameFailed."""
        others: set[str] = set()

        async def fires() -> bool:
            others.update(await self.prometheus.firing())
            return alert in others

        try:
            return await _until(fires, FIRE_SECONDS, f"{alert} does not fire")
        except GameFailed as error:
            raise GameFailed(f"{error}; {', '.join(sorted(others)) or 'nothing'} did") from None

    async def until_logged(self, words: str) -> None:
        """Wait until a process has logged these words from now on. Raises GameFailed."""
        before = [len(service.log) for service in self.services]

        async def is_said() -> bool:
            logs = zip(self.services, before, strict=True)
            return any(words in service.log[said:] for service, said in logs)

        await _until(is_said, FIRE_SECONDS, f"no process logs {words!r}")

    async def until_well(self, alert: str) -> None:
        """Wait until the alert does not fire, and every process accepts messages and shows them.
        Raises GameFailed."""

        async def is_well() -> bool:
            return alert not in await self.prometheus.firing() and await self.people.are_served()

        await _until(is_well, WELL_SECONDS, f"it is not healthy, or {alert} still fires")

    async def operate(self, *arguments: str, code: int = 0) -> Any:
        """Run a command of `chat-aio`, as the runbook names it; returns the printed document.
        Raises GameFailed for another exit code."""
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "chat_aio", *arguments, "--json"),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={**os.environ, **_place(self.members.url)},
            cwd=ROOT,
        )
        try:
            said, errors = await asyncio.wait_for(process.communicate(), COMMAND_SECONDS)
        except BaseException:
            if process.returncode is None:
                process.kill()
            raise
        if process.returncode != code:
            what = " ".join(arguments)
            raise GameFailed(f"{what}: {process.returncode}, {errors.decode()[-300:]}")
        return json.loads(said)


@asynccontextmanager
async def staged(plan: Plan, folder: Path, prometheus: Path) -> AsyncIterator[Stage]:
    """The running deployment of a plan, until the end of the context."""
    async with AsyncExitStack() as stack:
        certificates = Certificates(folder / "tls") if plan.has_tls else None
        data = folder / "data"
        if plan.disk_mib is not None:
            stack.enter_context(small_disk(data, plan.disk_mib))
        data.mkdir(exist_ok=True)
        options = (*plan.mongod, *(certificates.of_mongod if certificates else ()))
        # When its disk is full, mongod ends with pages of addresses.
        quiet = asyncio.subprocess.DEVNULL
        members = ReplicaSet(data, size=plan.members, options=options, stderr=quiet)
        await stack.enter_async_context(members)
        url = members.url + plan.url_options + (certificates.of_client if certificates else "")
        services = [_service(plan, url, folder) for _ in range(plan.services)]
        for service in services:
            await stack.enter_async_context(service.running())
        ports = [service.port for service in services]
        measured = await stack.enter_async_context(
            Prometheus(prometheus, folder / "prometheus", ports)
        )
        people = await stack.enter_async_context(People([service.base for service in services]))
        stage = Stage(
            folder=folder,
            members=members,
            services=services,
            people=people,
            prometheus=measured,
            certificates=certificates,
        )
        await _until(people.are_served, WELL_SECONDS, "the deployment is not healthy")
        await _until(measured.has_measured, WELL_SECONDS, "nothing is measured")
        yield stage


def _place(url: str) -> dict[str, str]:
    return {"CHAT_AIO_MONGO_URL": url, "CHAT_AIO_DATABASE": DATABASE}


def _service(plan: Plan, url: str, folder: Path) -> Service:
    caller = ("--app", plan.app) if plan.app else ("--auth-header", "X-User")
    paths = os.pathsep.join((str(ROOT / "scripts"), str(ROOT)))
    own = {"PYTHONPATH": paths, "GAME_FOLDER": str(folder)}
    return Service(url, DATABASE, *caller, environment={**QUICK, **own, **plan.settings})


async def _until(holds: Callable[[], Awaitable[bool]], seconds: float, failed: str) -> float:
    """The seconds until this holds. Raises GameFailed after `seconds`."""
    began = time.monotonic()
    while time.monotonic() - began < seconds:
        if await holds():
            return time.monotonic() - began
        await asyncio.sleep(LOOK_SECONDS)
    raise GameFailed(f"{failed} after {seconds:.0f} s")
