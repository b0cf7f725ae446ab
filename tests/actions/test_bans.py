"""Bans: what they keep out of, when they end, where they are enforced."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest.mock import patch

import pytest

from chat_aio import Hooks
from chat_aio.web import request_body
from chat_aio.web.routes import ROUTES
from tests.conftest import Database, MakePeople
from tests.support.moderating import People, ban, is_mod, later
from tests.support.people import PATIENCE


async def test_a_ban_keeps_out_of_everything(moderated: People) -> None:
    mod, mallory = moderated("mod"), moderated("mallory")
    direct = await mallory.direct("bob")
    async with mallory.tab() as tab, moderated("bob").tab() as other:
        made = await ban(mod, "mallory", reason=" spam ")
        assert made.status == 200
        assert made.json["ban"] == {
            "id": made.json["ban"]["id"],
            "userId": "mallory",
            "createdByUserId": "mod",
            "reason": "spam",
            "createdAt": made.json["ban"]["createdAt"],
            "expiresAt": None,
            "revokedAt": None,
            "revokedByUserId": None,
        }
        assert (await ban(mod, "mallory", reason="other")).json == made.json
        await tab.end()
        await moderated("bob").send(direct, "for bob")
        assert await other.bodies(1) == ["for bob"]
    for method, path in [*((route.method, route.path) for route in ROUTES), ("GET", "/nowhere")]:
        answer = await mallory.call(method, path.replace("{", "").replace("}", ""))
        assert (answer.status, answer.code) == (403, "USER_BANNED"), path
    path = f"/moderation/bans/{made.json['ban']['id']}"
    revoked = await mod.call("DELETE", path)
    assert revoked.json["ban"]["revokedByUserId"] == "mod"
    assert revoked.json["ban"]["revokedAt"] is not None
    assert (await mod.call("DELETE", path)).json == revoked.json
    await mallory.send(direct, "back")
    again = await ban(mod, "mallory")
    assert again.json["ban"]["id"] != made.json["ban"]["id"]


async def test_a_ban_ends_by_itself(moderated: People, database: Database) -> None:
    mod, mallory = moderated("mod"), moderated("mallory")
    made = (await ban(mod, "mallory", expiresAt=later(hours=1))).json["ban"]
    assert made["expiresAt"].endswith("Z")
    assert (await mallory.get("/conversations")).code == "USER_BANNED"
    past = {"$set": {"expiresAt": datetime.now(UTC) - timedelta(seconds=1)}}
    await database["bans"].update_one({"_id": made["id"]}, past)
    await mod.told_all()
    assert (await mallory.get("/conversations")).status == 200
    assert (await mod.get("/moderation/bans")).json["bans"] == []
    second = (await ban(mod, "mallory")).json["ban"]
    assert second["id"] != made["id"]
    everything = (await mod.get("/moderation/bans?activeOnly=false&limit=1")).json
    assert [ban_row["id"] for ban_row in everything["bans"]] == [second["id"]]
    rest = await mod.get(f"/moderation/bans?activeOnly=false&cursor={everything['nextCursor']}")
    assert [ban_row["id"] for ban_row in rest.json["bans"]] == [made["id"]]
    active = (await mod.get("/moderation/bans?activeOnly=true")).json["bans"]
    assert [ban_row["id"] for ban_row in active] == [second["id"]]


@pytest.mark.parametrize(
    "given",
    [
        {"targetUserId": None},
        {"targetUserId": ""},
        {"targetUserId": "mod"},
        {"targetUserId": "x", "reason": "x" * 1_001},
        {"targetUserId": "x", "reason": 7},
        {"targetUserId": "x", "expiresAt": "tomorrow"},
        {"targetUserId": "x", "expiresAt": "2020-01-01T00:00:00Z"},
        {"targetUserId": "x", "expiresAt": "2099-01-01T00:00:00"},
        {"targetUserId": "x", "expiresAt": "2099-01-01"},
        {"targetUserId": "x", "expiresAt": 4_102_444_800},
        {"targetUserId": "x", "expiresAt": "0001-01-01T00:00:00+23:59"},
    ],
)
async def test_bans_that_are_refused(
    moderated: People, database: Database, given: dict[str, Any]
) -> None:
    answer = await moderated("mod").post("/moderation/bans", given)
    assert (answer.status, answer.code) == (400, "INVALID_INPUT")
    assert await database["bans"].count_documents({}) == 0


@pytest.mark.parametrize(
    ("hooks", "enforce", "refused"),
    [
        (Hooks(can_moderate=is_mod), None, True),
        (Hooks(can_moderate=is_mod), False, False),
        (Hooks(), None, False),
        (Hooks(), True, True),
    ],
)
async def test_where_bans_are_enforced(
    serve: MakePeople, database: Database, hooks: Hooks, enforce: bool | None, refused: bool
) -> None:
    """The row is another program's."""
    mallory = (await serve(hooks, enforce_bans=enforce))("mallory")
    assert (await mallory.get("/conversations")).status == 200
    await database["bans"].insert_one({"_id": "b", "userId": "mallory", "revokedAt": None})
    await mallory.told_all()
    assert (await mallory.get("/conversations")).status == (403 if refused else 200)


async def test_a_ban_while_the_body_is_on_its_way(moderated: People) -> None:
    """Whoever sends it slowly would get past the ban by as long as that takes."""
    mod, mallory = moderated("mod"), moderated("mallory")
    group, reading = await mallory.group("bob"), asyncio.Event()
    read = request_body._read

    async def noted(*given: Any) -> bytes:
        reading.set()
        return await read(*given)

    async def body() -> AsyncIterator[bytes]:
        yield b'{"body": '
        await asyncio.wait_for(reading.wait(), PATIENCE)
        assert (await ban(mod, "mallory")).status == 200
        yield b'"still here"}'

    with patch.object(request_body, "_read", noted):
        answer = await mallory.post(f"/conversations/{group}/messages", data=body())
    assert (answer.status, answer.code) == (403, "USER_BANNED")
    assert await moderated("bob").listed(f"/conversations/{group}/messages") == []
