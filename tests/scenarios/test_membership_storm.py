"""Membership under storms through two real processes; then the invariants, from the database."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any

import pytest
import pytest_asyncio
from aiohttp import ClientSession, ClientTimeout
from pymongo import AsyncMongoClient

from tests.conftest import Database
from tests.support.checking import expect_no_violation
from tests.support.pool import Pool
from tests.support.processes import PATIENT, serving

pytestmark = pytest.mark.asyncio(loop_scope="module")


@dataclass
class Doors:
    """Two processes over one database; calls take turns."""

    session: ClientSession
    bases: list[str]
    database: Database
    turn: int = 0

    async def call(self, method: str, path: str, user_id: str, body: Any = None) -> tuple[int, Any]:
        self.turn += 1
        async with self.session.request(
            method, self.bases[self.turn % 2] + path, json=body, headers={"X-User": user_id}
        ) as response:
            return response.status, await response.json()

    async def counted(self, *calls: Awaitable[tuple[int, Any]]) -> Counter[int]:
        """How often each status came; nothing but the contract's answers may."""
        statuses = Counter(status for status, _ in await asyncio.gather(*calls))
        assert not {status for status in statuses if status >= 500}, statuses
        return statuses

    async def group(self, *user_ids: str, **given: Any) -> str:
        body = {"userIds": user_ids, **given}
        _, made = await self.call("POST", "/conversations/group", "alice", body)
        return str(made["conversation"]["id"])


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def served(mongo_url: str, pool: Pool) -> AsyncIterator[Doors]:
    """The processes, for all tests: each has groups of its own."""
    async with AsyncMongoClient[dict[str, Any]](mongo_url) as client, AsyncExitStack() as stack:
        database = pool.new(client)
        bases = [
            await stack.enter_async_context(serving(mongo_url, database.name, *PATIENT))
            for _ in range(2)
        ]
        session = await stack.enter_async_context(ClientSession(timeout=ClientTimeout(total=60)))
        yield Doors(session, bases, database)


@pytest_asyncio.fixture(loop_scope="module")
async def doors(served: Doors) -> AsyncIterator[Doors]:
    yield served
    await check_invariants(served.database)
    await expect_no_violation(served.database)


async def check_invariants(database: Database) -> None:
    """What must hold of every group, whatever happened."""
    async for group in database["conversations"].find({}):
        head = await database["counters"].find_one({"_id": group["_id"]})
        assert head is not None
        assert head["epoch"] == group["epoch"]
        assert head["public"] is (group["visibility"] == "public")
        users = [participant["userId"] for participant in group["participants"]]
        assert len(users) == len(set(users)) <= 256
        assert any(participant["role"] == "admin" for participant in group["participants"])
        order = [
            (participant["joinedAt"], participant["userId"])
            for participant in group["participants"]
        ]
        assert order == sorted(order)
    async for link in database["invites"].find({"maxUses": {"$ne": None}}):
        assert link["uses"] <= link["maxUses"]
    inside = database["conversations"]
    async for request in database["join_requests"].find({"status": "pending"}):
        member = {"_id": request["conversationId"], "participants.userId": request["userId"]}
        assert await inside.count_documents(member) == 0


async def test_sixty_redeem_seven_uses(doors: Doors) -> None:
    group = await doors.group()
    _, made = await doors.call("POST", f"/conversations/{group}/invites", "alice", {"maxUses": 7})
    path = f"/invites/{made['invite']['code']}/accept"
    statuses = await doors.counted(
        *(doors.call("POST", path, f"user {number}") for number in range(60))
    )
    assert statuses == {200: 7, 410: 53}
    stored = await doors.database["invites"].find_one({"conversationId": group})
    found = await doors.database["conversations"].find_one({"_id": group})
    assert stored is not None
    assert found is not None
    assert (stored["uses"], len(found["participants"])) == (7, 8)


async def test_forty_come_in_four_ways_where_six_may(doors: Doors) -> None:
    users = [f"member {number}" for number in range(249)]
    group = await doors.group(*users, visibility="public", joinPolicy="open")
    here = f"/conversations/{group}"
    _, made = await doors.call("POST", f"{here}/invites", "alice", {})
    code = made["invite"]["code"]
    for number in range(10):
        status, _ = await doors.call("POST", f"{here}/join-requests", f"asks {number}")
        assert status == 201
    calls: list[Callable[[int], Awaitable[tuple[int, Any]]]] = [
        lambda n: doors.call("POST", f"/invites/{code}/accept", f"redeems {n}"),
        lambda n: doors.call("POST", f"{here}/join", f"joins {n}"),
        lambda n: doors.call("POST", f"{here}/participants", "alice", {"userIds": [f"added {n}"]}),
        lambda n: doors.call(
            "PATCH",
            f"{here}/join-requests",
            "alice",
            {"userId": f"asks {n}", "decision": "approve"},
        ),
    ]
    statuses = await doors.counted(*(call(n) for n in range(10) for call in calls))
    assert statuses == {200: 6, 422: 34}
    found = await doors.database["conversations"].find_one({"_id": group})
    assert found is not None
    assert len(found["participants"]) == 256
    redeemed = [
        participant
        for participant in found["participants"]
        if participant["userId"].startswith("redeems")
    ]
    stored = await doors.database["invites"].find_one({"conversationId": group})
    assert stored is not None
    assert stored["uses"] == len(redeemed)
    approved = {"status": "approved", "conversationId": group}
    asked = [
        participant
        for participant in found["participants"]
        if participant["userId"].startswith("asks")
    ]
    assert await doors.database["join_requests"].count_documents(approved) == len(asked)


async def test_admins_remove_each_other(doors: Doors) -> None:
    admins = [f"admin {number}" for number in range(6)]
    group = await doors.group(*admins)
    path = f"/conversations/{group}/participants"
    for admin in admins:
        body = {"userId": admin, "role": "admin"}
        assert (await doors.call("PATCH", path, "alice", body))[0] == 200
    everyone = ["alice", *admins]
    statuses = await doors.counted(
        *(
            doors.call("DELETE", path, who, {"userId": whom})
            if place % 2
            else doors.call("PATCH", path, who, {"userId": whom, "role": "member"})
            for place, who in enumerate(everyone)
            for whom in everyone
        )
    )
    assert set(statuses) <= {200, 400, 403, 409}


async def test_sends_and_membership_at_once(doors: Doors) -> None:
    """Joins, leaves and role changes beside sends: all numbers are there, once."""
    group = await doors.group("bob", visibility="public", joinPolicy="open")
    here = f"/conversations/{group}"

    async def move(number: int) -> tuple[int, Any]:
        user_id = f"user {number}"
        status, answer = await doors.call("POST", f"{here}/join", user_id)
        assert status == 200, answer
        status, answer = await doors.call("POST", f"{here}/messages", user_id, {"body": "hi"})
        assert status == 201, answer
        return await doors.call("DELETE", f"{here}/participants", user_id, {"userId": user_id})

    async def send(number: int) -> tuple[int, Any]:
        return await doors.call("POST", f"{here}/messages", "bob", {"body": str(number)})

    statuses = await doors.counted(*map(move, range(30)), *map(send, range(100)))
    assert statuses == {200: 30, 201: 100}
    here_only = {"conversationId": group}
    seqs = [message["seq"] async for message in doors.database["messages"].find(here_only)]
    assert sorted(seqs) == list(range(1, 131))
    found = await doors.database["conversations"].find_one({"_id": group})
    assert found is not None
    assert [participant["userId"] for participant in found["participants"]] == ["alice", "bob"]
