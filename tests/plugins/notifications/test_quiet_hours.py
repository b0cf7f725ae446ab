"""Quiet hours: nothing is delivered, and afterwards one notification for each conversation."""

import asyncio
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest.mock import patch

import pytest

from chat_aio.plugins.notifications import deciding, holding
from chat_aio.plugins.notifications.rows import Rows
from tests.conftest import Database, MakePeople
from tests.plugins.notifications.telling import PATIENCE, Told, all_told, eventually, quick, ready


@pytest.fixture(autouse=True)
def settings_that_are_read_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Released rows are delayed for as long as another process may remember the hours."""
    for module in (deciding, holding):
        monkeypatch.setattr(module, "FRESH_SECONDS", 0.1)
    monkeypatch.setattr(holding, "MARGIN_SECONDS", 0.1)


@pytest.fixture
def told() -> Told:
    return Told()


def hours_around(now: datetime) -> dict[str, str]:
    begin, end = now - timedelta(hours=1), now + timedelta(hours=2)
    return {"start": f"{begin:%H:%M}", "end": f"{end:%H:%M}", "timeZone": "UTC"}


async def test_after_quiet_hours_there_is_one_for_each_conversation(
    serve: MakePeople, told: Told, database: Database
) -> None:
    people = await serve(plugins=[quick(told)])
    await ready(database)
    alice, bob = people("alice"), people("bob")
    group, other = await alice.group("bob"), await alice.group("bob")
    path = "/notifications/settings"
    given = {"quietHours": hours_around(datetime.now(UTC))}
    assert (await bob.call("PUT", path, json=given)).json == given
    for here, body in ((group, "1"), (group, "2"), (other, "3"), (group, "4"), (other, "5")):
        sent = await alice.send(here, body)
        if body == "1":
            first = sent
    held = {"state": "waiting", "held": True}

    async def all_held() -> bool:
        return await database["notifications"].count_documents(held) == 5

    await eventually(all_held)
    assert told.all == []
    await bob.read(group, first["id"])
    assert (await bob.call("PUT", path, json={"quietHours": None})).status == 200
    await all_told(database, 5)
    assert sorted((notification.message.body, notification.count) for notification in told.all) == [
        ("4", 2),
        ("5", 2),
    ]


@pytest.mark.parametrize("write", ["add", "change", "hold_up"])
async def test_hours_that_are_cleared_while_a_row_is_held(
    serve: MakePeople, told: Told, database: Database, write: str
) -> None:
    """The process with the lease has read the hours, or the rows, and writes after they are
    cleared: when it stores a row, holds one that it was about to deliver, or delays the rows behind
    a held one."""
    people = await serve(plugins=[quick(told)])
    await ready(database)
    alice, bob = people("alice"), people("bob")
    group, path = await alice.group("bob"), "/notifications/settings"
    writes, cleared = asyncio.Event(), asyncio.Event()
    original = getattr(Rows, write)

    async def late(self: Rows, *given: Any, **fields: Any) -> None:
        if write != "change" or "held" in fields:
            writes.set()
            await cleared.wait()
        await original(self, *given, **fields)

    async def set_hours() -> None:
        given = {"quietHours": hours_around(datetime.now(UTC))}
        assert (await bob.call("PUT", path, json=given)).status == 200

    with ExitStack() as stack:
        stack.enter_context(patch.object(Rows, write, late))
        if write == "add":
            await set_hours()
        else:
            # Decided before the hours begin, it fails, and is held at its next try. It is decided
            # again for each try: nothing is remembered.
            stack.enter_context(patch.object(deciding, "FRESH_SECONDS", 0.0))
            told.failures["bob"], told.failed = 1, set_hours
        await alice.send(group, "1")
        await asyncio.wait_for(writes.wait(), PATIENCE)
        assert (await bob.call("PUT", path, json={"quietHours": None})).status == 200
        cleared.set()
        await all_told(database, 1)
    assert told.of("bob") == ["1"]


async def test_what_is_released(serve: MakePeople, database: Database) -> None:
    """Rows that hours hold, and those behind them: nothing becomes later, and a failing row keeps
    the time of its next try."""
    people = await serve(plugins=[quick()])
    now = datetime.now(UTC).replace(microsecond=0)
    at, far = now + timedelta(minutes=1), now + timedelta(hours=3)
    rows = {
        "held": {"held": True, "tries": 0, "notBefore": far},
        "held after a failure": {"held": True, "tries": 1, "notBefore": far},
        "behind a held one": {"held": False, "tries": 0, "notBefore": far},
        "failing": {"held": False, "tries": 1, "notBefore": far},
        "due earlier": {"held": True, "tries": 0, "notBefore": now},
    }
    stored = Rows(people("alice").chat._context.plugins[0].api)
    common: dict[str, Any] = {
        "userId": "bob",
        "conversationId": "c",
        "seq": 1,
        "state": "waiting",
        "count": 1,
    }
    common |= {"at": now, "dueAt": now, "done": [], "error": None}
    await stored.add({**common, **rows[name], "messageId": name} for name in rows)
    await stored.release("bob", at)
    found = {
        row["messageId"]: row["notBefore"].replace(tzinfo=UTC)
        async for row in database["notifications"].find()
    }
    assert found == {
        "held": at,
        "held after a failure": at,
        "behind a held one": at,
        "failing": far,
        "due earlier": now,
    }


@pytest.mark.parametrize(
    "given",
    [
        {"start": "22:00", "end": "07:00"},
        {"start": "22:00", "end": "22:00", "timeZone": "UTC"},
        {"start": "25:00", "end": "07:00", "timeZone": "UTC"},
        {"start": "22:00", "end": "07:00", "timeZone": "../../etc/passwd"},
        {"start": "22:00", "end": "07:00", "timeZone": "Nowhere/At_All"},
        {"start": "22:00", "end": "07:00", "timeZone": "U" * 3000},
        {"start": 22, "end": "07:00", "timeZone": "UTC"},
        "always",
    ],
)
async def test_quiet_hours_that_cannot_be_are_refused(serve: MakePeople, given: Any) -> None:
    bob = (await serve(plugins=[quick()]))("bob")
    answer = await bob.call("PUT", "/notifications/settings", json={"quietHours": given})
    assert answer.code == "INVALID_INPUT"
