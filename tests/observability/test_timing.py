"""Calls of MongoDB and of the host's hooks are timed, and slow requests are named."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from typing import Any, get_args
from unittest.mock import patch

import pytest

from chat_aio import Hooks
from chat_aio.observability.observer import Call, Hook, Observer
from chat_aio.options import Options
from chat_aio.store.calls import paused
from chat_aio.store.primary import PrimaryWatch
from chat_aio.web import request_body
from tests.conftest import MakePeople
from tests.observability.conftest import Measure, Measured
from tests.support.people import BASE, PATIENCE, Person

People = Callable[[str], Person]


class Noted(Observer):
    def __init__(self) -> None:
        self.hooks: list[tuple[str, bool]] = []
        self.seconds = 0.0

    def hook_called(self, hook: Hook, call: Call) -> None:
        self.hooks.append((hook, call.failed))
        self.seconds = call.seconds


def test_every_hook_has_a_name_for_observers() -> None:
    settings = {"can_read_messages", "can_read_at_once"}
    functions = {field.name for field in fields(Hooks)} - settings
    assert {"auth", *functions} == set(get_args(Hook))


async def test_hooks_are_timed_also_where_they_fail(measure: Measure) -> None:
    noted = Noted()

    async def can_read(asked: Any) -> bool:
        if asked.user_id == "carl":
            raise RuntimeError("no")
        return True

    measured = await measure(
        Hooks(can_read=can_read, user_exists=lambda user_id: True), observers=(noted,)
    )
    group = await measured("alice").group("bob", "carl")
    assert ("user_exists", False) in noted.hooks
    assert (await measured("bob").get(f"/conversations/{group}")).status == 200
    assert noted.hooks[-1] == ("can_read", False)
    assert (await measured("carl").get(f"/conversations/{group}")).status == 500
    assert noted.hooks[-1] == ("can_read", True)
    scrape = await measured.scrape()
    assert scrape("hook_seconds_count", hook="auth", outcome="answered") == 3
    assert scrape("hook_seconds_count", hook="can_read", outcome="failed") == 1


class Clock:
    """Time as the chat's timers see it; a hook lets some pass."""

    ahead = 0.0

    def monotonic(self) -> float:
        return time.monotonic() + self.ahead


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    for module in ("observability.timing", "store.calls", "web.middleware", "web.slow_requests"):
        monkeypatch.setattr(f"chat_aio.{module}.time", made)
    return made


def that_takes_a_minute(clock: Clock) -> Hooks:
    """Hooks of which one lets a minute pass."""

    async def can_read(asked: Any) -> bool:
        clock.ahead += 60
        return True

    return Hooks(can_read=can_read)


@pytest.fixture
async def slow(serve: MakePeople, clock: Clock) -> People:
    """People whose requests for a conversation are slow."""
    return await serve(hooks=that_takes_a_minute(clock), slow_request_seconds=60.0)


async def test_the_time_of_a_hook_is_what_it_took(measure: Measure, clock: Clock) -> None:
    noted = Noted()
    measured = await measure(that_takes_a_minute(clock), observers=(noted,))
    group = await measured("alice").group()
    assert (await measured("alice").get(f"/conversations/{group}")).status == 200
    assert 60 <= noted.seconds < 120


async def test_calls_of_mongodb_are_timed(measured: Measured) -> None:
    alice = measured("alice")
    group = await alice.group()
    before = (await measured.scrape())("database_seconds_count", outcome="answered")
    await alice.get(f"/conversations/{group}")
    after = await measured.scrape()
    assert after("database_seconds_count", outcome="answered") > before
    assert after.text.count("chat_aio_build_info{") == 1


async def test_a_slow_request_says_where_its_time_went(
    slow: People, caplog: pytest.LogCaptureFixture
) -> None:
    group = await slow("alice").group()
    with caplog.at_level(logging.WARNING, "chat_aio.web.slow_requests"):
        await slow("alice").get("/conversations?limit=x")
        await slow("alice").get(f"/conversations/{group}")
    (record,) = [logged for logged in caplog.records if logged.name == "chat_aio.web.slow_requests"]
    fields = record.__dict__
    assert fields["route"] == f"{BASE}/conversations/{{conversation_id}}"
    assert fields["milliseconds"] >= fields["paused_milliseconds"] >= 60_000
    assert fields["database_milliseconds"] < 60_000
    assert group not in record.getMessage()
    assert Options().slow_request_seconds is None


async def test_a_wait_for_a_primary_makes_no_request_slow(
    slow: People, caplog: pytest.LogCaptureFixture
) -> None:
    group = await slow("alice").group()
    for away, named in ((60.0, 0), (0.0, 1)):
        with patch.object(PrimaryWatch, "away_since", return_value=away):
            await slow("alice").get(f"/conversations/{group}")
        assert caplog.text.count("slow: GET") == named, away


async def test_the_time_of_a_body_is_none_of_the_database(
    serve: MakePeople, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A client may take longer for it than MongoDB may take for the whole request."""
    person = await serve()
    waiting = asyncio.Event()

    @contextmanager
    def noted() -> Iterator[None]:
        with paused():
            waiting.set()
            yield

    monkeypatch.setattr(request_body, "paused", noted)

    async def body() -> AsyncIterator[bytes]:
        yield b'{"name":'
        async with asyncio.timeout(PATIENCE):
            await waiting.wait()
        clock.ahead += 60
        yield b'"a group"}'

    headers = {"Content-Type": "application/json"}
    answer = await person("alice").call(
        "POST", "/conversations/group", data=body(), headers=headers
    )
    assert answer.status == 201, answer
