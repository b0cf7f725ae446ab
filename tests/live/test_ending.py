"""Background tasks end, though what they wait for swallows that they are cancelled."""

import asyncio

import pytest

from chat_aio import Chat, Options
from chat_aio.plugins import Presence
from chat_aio.plugins.presence_store import Attendance
from chat_aio.tasks import cancel_and_wait
from tests.conftest import Database
from tests.support.people import PATIENCE


async def test_who_swallows_a_cancellation_is_cancelled_again() -> None:
    swallowed = 0

    async def go_on() -> None:
        nonlocal swallowed
        while True:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                if swallowed == 2:
                    raise
                swallowed += 1

    async def fail() -> None:
        raise ValueError

    tasks = [asyncio.create_task(go_on()), asyncio.create_task(fail())]
    await asyncio.sleep(0)
    async with asyncio.timeout(PATIENCE):
        await cancel_and_wait(*tasks, again=0.01)
    assert swallowed == 2
    assert tasks[0].cancelled()
    await cancel_and_wait()


async def test_a_chat_closes_while_its_presence_connects(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where the connection is there at the moment of the cancellation."""
    renewing = asyncio.Event()
    once = iter([True])

    async def renew(self: Attendance) -> bool:
        try:
            renewing.set()
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            if not next(once, False):
                raise
        return True

    monkeypatch.setattr(Attendance, "renew", renew)
    presence = Presence(lease_seconds=0.03)
    chat = Chat(database, plugins=[presence], options=Options(replay_buffer_seconds=1))
    async with asyncio.timeout(PATIENCE):
        async with chat:
            await renewing.wait()
