"""Workers at one port are measured together, whichever of them is asked."""

import asyncio
import os
import signal
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from aiohttp import ClientSession, TCPConnector, web
from pymongo import AsyncMongoClient

from chat_aio import Chat, Options
from chat_aio.observability import gauges
from chat_aio.observability.metrics import Metrics
from chat_aio.web.metrics import add_metrics
from tests.conftest import Database
from tests.observability.conftest import Scrape
from tests.support.people import picked_by_header
from tests.support.processes import Service

ADA = {"X-User": "ada"}


async def make_app() -> web.Application:
    """For `--app`: each answer says which process has given it."""
    gauges.WRITE_SECONDS = 0.05
    client = AsyncMongoClient[dict[str, Any]](os.environ["CHAT_AIO_MONGO_URL"])
    database = client[os.environ["CHAT_AIO_DATABASE"]]
    chat = Chat(
        database,
        auth=picked_by_header,
        observers=[Metrics()],
        options=Options(replay_buffer_seconds=1),
    )
    app = web.Application()
    chat.mount(app)
    add_metrics(app)

    async def keep_client(_: web.Application) -> AsyncIterator[None]:
        async with client:
            yield

    async def say_who(_: web.Request, response: web.StreamResponse) -> None:
        response.headers["X-Pid"] = str(os.getpid())

    app.cleanup_ctx.append(keep_client)
    app.on_response_prepare.append(say_who)
    return app


class Workers:
    """Two workers, and calls that any of them may answer."""

    def __init__(self, service: Service, session: ClientSession) -> None:
        self.service = service
        self._session = session

    async def create_groups(self) -> "Counter[int]":
        """Until both have answered several; how many each has."""
        answered: Counter[int] = Counter()
        while len(answered) < 2 or min(answered.values()) < 3:
            url = f"{self.service.base}/conversations/group"
            async with self._session.post(url, headers=ADA, json={}) as response:
                assert response.status == 201
                answered[int(response.headers["X-Pid"])] += 1
        return answered

    async def open_streams(self, opened: AsyncExitStack) -> "Counter[int]":
        """Until both have several; how many each has."""
        streams: Counter[int] = Counter()
        while len(streams) < 2 or min(streams.values()) < 2:
            url = f"{self.service.base}/stream"
            headers = {"X-User": f"u{streams.total()}"}
            response = await opened.enter_async_context(self._session.get(url, headers=headers))
            assert response.status == 200
            streams[int(response.headers["X-Pid"])] += 1
        return streams

    async def scrapes(self, holds: Callable[[Scrape], bool]) -> None:
        """Wait until both of them say so."""
        agreed: set[str] = set()
        async with asyncio.timeout(60):
            while len(agreed) < 2:
                async with self._session.get(f"{self.service.origin}/metrics") as response:
                    assert response.status == 200
                    if holds(Scrape(await response.text())):
                        agreed.add(response.headers["X-Pid"])
                await asyncio.sleep(0.02)


async def test_workers_are_measured_together(
    mongo_url: str, database: Database, tmp_path: Path
) -> None:
    """What a worker has counted is kept when it dies, and what it had open is gone."""
    service = Service(
        *(mongo_url, database.name, "--app", "tests.server.test_measuring_workers:make_app"),
        *("--workers", "2"),
        environment={"TMPDIR": str(tmp_path)},
    )
    created = {"method": "POST", "route": "/api/chat/conversations/group", "status": "201"}
    async with (
        ClientSession(connector=TCPConnector(limit=0, force_close=True)) as session,
        AsyncExitStack() as opened,
        service.running(),
    ):
        await service.has_served(2)
        workers = Workers(service, session)
        groups = await workers.create_groups()
        await workers.scrapes(lambda said: said("requests_total", **created) == groups.total())
        streams = await workers.open_streams(opened)
        await workers.scrapes(lambda said: said("streams") == streams.total())
        await workers.scrapes(lambda said: said("feed_live") == 1)
        killed = max(streams)
        os.kill(killed, signal.SIGKILL)
        await service.has_served(3)
        await workers.scrapes(lambda said: said("streams") == streams.total() - streams[killed])
        await workers.scrapes(lambda said: said("requests_total", **created) == groups.total())
        assert len(os.listdir(tmp_path)) == 1
    assert os.listdir(tmp_path) == []
