"""Moderators of `chat-aio serve`, by header and by list; and bans, at every door of a process."""

import re
from typing import Any

import pytest
from aiohttp import ClientSession, TCPConnector
from multidict import CIMultiDict

from chat_aio import Hooks
from chat_aio.errors import Unauthenticated
from chat_aio.plugins import Presence, Receipts, Typing
from chat_aio.server.callers import Callers
from chat_aio.server.header_auth import HeaderAuth
from chat_aio.web.plugins import operations_of
from chat_aio.web.routes import ROUTES
from tests.conftest import Database, MakePeople
from tests.server.here import served_here
from tests.support.people import BASE, Tab
from tests.support.processes import serving

HEADER = "X-Chat-Moderator"
BY_HEADER: dict[str, Any] = {"auth_header": "X-User"}
DOORS = [
    (route.method, re.sub(r"\{\w+\}", "x", route.path))
    for route in (*ROUTES, *operations_of([Typing(), Presence(), Receipts()]))
]


def headers_of(user_id: str, *says: str) -> CIMultiDict[str]:
    return CIMultiDict([("X-User", user_id), *((HEADER, value) for value in says)])


async def call(
    session: ClientSession, method: str, url: str, headers: Any, body: Any = None
) -> tuple[int, Any]:
    async with session.request(method, url, headers=headers, json=body) as response:
        return response.status, await response.json()


async def listed(session: ClientSession, base: str, headers: Any) -> int:
    """The status of what only moderators may ask for."""
    status, answer = await call(session, "GET", f"{base}/moderation/bans", headers)
    assert status == 200 or answer["error"]["code"] == "NOT_MODERATOR"
    return status


async def test_who_moderates(mongo_url: str, client_url: str, database: Database) -> None:
    """Whom the list names, and whom the header is set for, in this request and no other: all are
    sent on one connection."""
    options = ("--moderator", "ada", "--moderator", "Grace, of Arlington")
    async with (
        serving(mongo_url, database.name, *options, "--moderator-header", HEADER) as base,
        served_here(client_url, database.name, **BY_HEADER) as without,
        ClientSession(connector=TCPConnector(limit=1)) as session,
    ):
        for headers, status in (
            (headers_of("ada"), 200),
            (headers_of("Grace, of Arlington"), 200),
            (headers_of("Grace"), 403),
            (headers_of("bob"), 403),
            (headers_of("bob", "true"), 200),
            (headers_of("bob"), 403),
            (headers_of("eve"), 403),
            (headers_of("bob", "false"), 403),
            (headers_of("bob", ""), 403),
            (headers_of("bob", "true", "true"), 403),
            (headers_of("bob", "true", "false"), 403),
        ):
            assert await listed(session, base, headers) == status, headers
        for headers in (headers_of("ada"), headers_of("bob", "true")):
            assert await listed(session, without, headers) == 403, headers


@pytest.mark.parametrize("twice", [("alice", "bob"), ("alice", "alice"), ("alice", "")])
async def test_a_user_header_that_comes_twice_names_nobody(
    serve: MakePeople, twice: tuple[str, str]
) -> None:
    """One of the two may come from the client, past a proxy that only adds its own."""
    people = await serve(auth=HeaderAuth("X-User").auth)
    headers = CIMultiDict([("X-User", user_id) for user_id in twice])
    assert (await people("alice").get("/conversations")).status == 200
    async with people("").client.get(f"{BASE}/conversations", headers=headers) as response:
        assert response.status == Unauthenticated.status
        assert (await response.json())["error"]["code"] == Unauthenticated.code


@pytest.mark.parametrize("twice", [("true", "true"), ("true", "false"), ("false", "true")])
async def test_a_moderator_header_that_comes_twice_makes_no_moderator(
    serve: MakePeople, twice: tuple[str, str]
) -> None:
    auth = HeaderAuth("X-User", moderator_header=HEADER).auth
    people = await serve(Hooks(can_moderate=Callers().can_moderate), auth=auth)
    client, path = people("").client, f"{BASE}/moderation/bans"
    for headers, status in ((headers_of("bob", "true"), 200), (headers_of("bob", *twice), 403)):
        async with client.get(path, headers=headers) as response:
            assert response.status == status


@pytest.mark.parametrize("by", ["list", "header"])
async def test_a_ban_holds_at_every_door(client_url: str, database: Database, by: str) -> None:
    """HTTP, plugins, a stream that is open, a new one, one that resumes; until it is revoked."""
    named = {"moderators": ["ada"]} if by == "list" else {"moderator_header": HEADER}
    ada = headers_of("ada", *(("true",) if by == "header" else ()))
    mallory, bob = headers_of("mallory"), headers_of("bob")
    given = {**BY_HEADER, **named, "plugins": "typing,presence,receipts"}
    async with (
        served_here(client_url, database.name, **given) as base,
        ClientSession() as session,
    ):
        _, made = await call(
            session, "POST", f"{base}/conversations", mallory, {"otherUserId": "bob"}
        )
        messages = f"{base}/conversations/{made['conversation']['id']}/messages"
        async with session.get(f"{base}/stream", headers=mallory) as response:
            tab = Tab(response)
            assert (await call(session, "POST", messages, bob, {"body": "one"}))[0] == 201
            await tab.until(lambda frame: frame.event == "message.created")
            status, answer = await call(
                session, "POST", f"{base}/moderation/bans", ada, {"targetUserId": "mallory"}
            )
            assert status in (200, 201), answer
            await tab.end()
        assert (await call(session, "POST", messages, bob, {"body": "two"}))[0] == 201
        resuming = {"X-User": "mallory", "Last-Event-ID": tab.last_event_id or ""}
        for method, path in DOORS:
            status, refused = await call(session, method, base + path, resuming)
            assert (status, refused["error"]["code"]) == (403, "USER_BANNED"), path
        unban = f"{base}/moderation/bans/{answer['ban']['id']}"
        assert (await call(session, "DELETE", unban, ada))[0] == 200
        async with session.get(f"{base}/stream", headers=resuming) as response:
            assert await Tab(response).bodies(1) == ["two"]


async def test_bans_are_enforced_without_moderators_unless_switched_off(
    client_url: str, database: Database
) -> None:
    """Whoever has made them."""
    row = {"_id": "b", "userId": "mallory", "revokedAt": None, "expiresAt": None}
    await database["bans"].insert_one(row)
    async with (
        served_here(client_url, database.name, **BY_HEADER) as base,
        served_here(client_url, database.name, **BY_HEADER, enforce_bans=False) as lenient,
        ClientSession(headers=headers_of("mallory")) as session,
    ):
        assert (await call(session, "GET", f"{base}/conversations", None))[0] == 403
        assert (await call(session, "GET", f"{lenient}/conversations", None))[0] == 200


async def test_users_write_as_users_and_assistants_also_as_such(
    client_url: str, database: Database
) -> None:
    given = {**BY_HEADER, "plugins": "drafts", "drafts_assistants": ["robot"]}
    async with (
        served_here(client_url, database.name, **given) as base,
        ClientSession() as session,
    ):
        for user_id, allowed in (("ada", {"user"}), ("robot", {"user", "assistant"})):
            headers = headers_of(user_id)
            group = {"name": "x", "userIds": []}
            _, made = await call(session, "POST", f"{base}/conversations/group", headers, group)
            url = f"{base}/conversations/{made['conversation']['id']}/messages"
            for role in ("user", "assistant", "system"):
                body = {"body": "hi", "role": role}
                status, answer = await call(session, "POST", url, headers, body)
                assert status == (201 if role in allowed else 403), (user_id, role)
                if status == 403:
                    assert answer["error"]["code"] == "ROLE_NOT_ALLOWED"
