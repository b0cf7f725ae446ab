"""A chat that is measured, and what a scrape of it says."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient
from prometheus_client import CollectorRegistry
from prometheus_client.parser import text_string_to_metric_families

from chat_aio import Chat, Hooks, Options
from chat_aio.observability.metrics import Metrics
from chat_aio.observability.observer import Observer
from chat_aio.web.metrics import add_metrics
from tests.conftest import PATIENT, Database
from tests.support.people import PATIENCE, Person, picked_by_header


class Scrape:
    """The series that a process has shown, by name and labels."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._values = {
            (sample.name, frozenset(sample.labels.items())): sample.value
            for family in text_string_to_metric_families(text)
            for sample in family.samples
        }

    def __call__(self, name: str, **labels: str) -> float:
        """The value of a series; 0 where there is none."""
        return self._values.get((f"chat_aio_{name}", frozenset(labels.items())), 0.0)

    def __len__(self) -> int:
        return len(self._values)


class Measured:
    """A served chat."""

    def __init__(self, client: "TestClient[web.Request, web.Application]", chat: Chat) -> None:
        self.client = client
        self.chat = chat

    def __call__(self, user_id: str) -> Person:
        return Person(user_id, self.client, self.chat)

    async def scrape(self) -> Scrape:
        async with self.client.get("/metrics") as response:
            assert response.status == 200
            return Scrape(await response.text())

    @asynccontextmanager
    async def counting(self, name: str, by: float = 1.0, **labels: str) -> AsyncIterator[None]:
        """What happens within raises a series by so much, sooner or later and no further."""
        before = (await self.scrape())(name, **labels)
        yield
        async with asyncio.timeout(PATIENCE):
            while (now := (await self.scrape())(name, **labels)) < before + by:
                await self("nobody").told_all()
        assert now == before + by, name


Measure = Callable[..., Awaitable[Measured]]


@pytest.fixture
async def measure(database: Database, aiohttp_client: Any) -> Measure:
    """Serve a chat with observers, and with metrics of its own."""

    async def make(
        hooks: Hooks | None = None,
        observers: tuple[Observer, ...] = (),
        middlewares: tuple[Any, ...] = (),
        **options: Any,
    ) -> Measured:
        registry = CollectorRegistry()
        chat = Chat(
            database,
            auth=picked_by_header,
            hooks=hooks,
            observers=[*observers, Metrics(registry)],
            options=Options(**{**PATIENT, **options}),
        )
        app = web.Application(middlewares=middlewares)
        chat.mount(app)
        add_metrics(app, registry)
        return Measured(await aiohttp_client(app), chat)

    return make


@pytest.fixture
async def measured(measure: Measure) -> Measured:
    return await measure()
