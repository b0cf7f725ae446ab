"""Load on services that come and go: who writes, who reads, and what must not be lost."""

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, suppress
from typing import Any
from uuid import uuid4

from aiohttp import ClientConnectionError, ClientConnectorError, ClientSession

from tests.conftest import Database
from tests.support.people import Tab
from tests.support.processes import Service

WRITERS = ("w1", "w2", "w3", "w4")
READERS = ("r1", "r2", "r3", "r4")


async def make_group(session: ClientSession, base: str, *user_ids: str) -> str:
    """The id of a new group."""
    url, headers = f"{base}/conversations/group", {"X-User": user_ids[0]}
    async with session.post(url, json={"userIds": user_ids}, headers=headers) as response:
        assert response.status == 201, await response.text()
        return str((await response.json())["conversation"]["id"])


class Load:
    """Writers and readers of one group, who go to any service, and come again when it is gone.

    Nothing may fail but connections without an answer: `failures` counts them. A stream that has
    begun must end as a response does.
    """

    def __init__(self, session: ClientSession, services: Sequence[Service], group: str) -> None:
        self.sent: dict[str, str] = {}
        self.failures: Counter[str] = Counter()
        self._told: dict[str, set[str]] = {reader: set() for reader in READERS}
        self._reading: set[str] = set()
        self._session = session
        self._services = services
        self._group = group
        self._stopped = False
        self._progress = asyncio.Condition()

    async def during(self, act: Callable[[], Awaitable[None]]) -> None:
        """Load before, during and after; until every reader has been told every message."""
        await self._send("w1", "for a position", note=False)
        async with asyncio.timeout(90), asyncio.TaskGroup() as group:
            readers = [group.create_task(self._read(reader)) for reader in READERS]
            await self._until(lambda: len(self._reading) == len(READERS))
            writers = [group.create_task(self._write(writer)) for writer in WRITERS]
            await self.more(40)
            await act()
            await self.more(40)
            self._stopped = True
            await asyncio.wait(writers)
            await self._until(self._is_complete)
            for task in readers:
                task.cancel()

    async def more(self, count: int) -> None:
        """Wait until so many more sends are acknowledged."""
        target = len(self.sent) + count
        await self._until(lambda: len(self.sent) >= target)

    async def _until(self, reached: Callable[[], bool]) -> None:
        async with self._progress:
            await self._progress.wait_for(reached)

    async def _note(self) -> None:
        async with self._progress:
            self._progress.notify_all()

    def _is_complete(self) -> bool:
        return all(told.issuperset(self.sent.values()) for told in self._told.values())

    async def _write(self, user_id: str) -> None:
        while not self._stopped:
            key = str(uuid4())
            while True:
                acknowledged = await self._send(user_id, key)
                # Without a pause the load takes the time that the services need to start.
                await asyncio.sleep(random.uniform(0.01, 0.05))
                if acknowledged:
                    break

    async def _send(self, user_id: str, key: str, *, note: bool = True) -> bool:
        """Whether it was acknowledged."""
        path = f"{random.choice(self._services).base}/conversations/{self._group}/messages"
        sending, headers = {"body": key, "clientMessageId": key}, {"X-User": user_id}
        try:
            async with self._session.post(path, json=sending, headers=headers) as response:
                answer = await response.json()
                assert response.status in (200, 201), answer
        except ClientConnectionError as failure:
            self._count(failure)
            return False
        if note:
            self.sent[key] = answer["message"]["id"]
            await self._note()
        return True

    async def _read(self, reader: str) -> None:
        tab: Tab | None = None
        while True:
            position = tab.last_event_id if tab else None
            async with AsyncExitStack() as opened:
                try:
                    response = await opened.enter_async_context(self._open(reader, position))
                except ClientConnectionError as failure:
                    self._count(failure)
                else:
                    assert response.status == 200
                    tab = Tab(response, last_event_id=position)
                    with suppress(EOFError):
                        await self._listen(reader, tab)
            await asyncio.sleep(random.uniform(0, 0.05))

    def _open(self, reader: str, position: str | None) -> Any:
        headers = {"X-User": reader, "Last-Event-ID": position or ""}
        return self._session.get(f"{random.choice(self._services).base}/stream", headers=headers)

    async def _listen(self, reader: str, tab: Tab) -> None:
        """The group's own making may be told first."""
        while True:
            frame = await tab.next()
            if frame.event is not None and frame.event != "participant.added":
                assert frame.event == "message.created", frame
                self._told[reader].add(frame.data["message"]["id"])
            self._reading.add(reader)
            await self._note()

    def _count(self, failure: ClientConnectionError) -> None:
        refused = isinstance(failure, ClientConnectorError)
        self.failures["refused" if refused else "disconnected"] += 1


async def loaded(
    session: ClientSession, services: Sequence[Service], act: Callable[[], Awaitable[None]]
) -> Load:
    """The load, after it has gone on while something was done to the services."""
    group = await make_group(session, services[0].base, *WRITERS, *READERS)
    load = Load(session, services, group)
    await load.during(act)
    return load


async def require_all_kept(load: Load, database: Database) -> None:
    """Each that was acknowledged is stored, once, and numbers have no gaps."""
    stored = await database["messages"].find().sort("seq").to_list()
    assert [message["seq"] for message in stored] == list(range(1, len(stored) + 1))
    kept = {message["clientMessageId"]: message["_id"] for message in stored}
    assert len(kept) == len(stored)
    assert load.sent.items() <= kept.items()
