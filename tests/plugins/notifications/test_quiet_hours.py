"""Quiet hours: nothing is delivered, and afterwards one notification for each conversation."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.conftest import Database, MakePeople
from tests.plugins.notifications.telling import Told, all_told, eventually, quick, ready


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
