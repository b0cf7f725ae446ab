"""Who is calling: asked on every path, before anything else (specification 1.1)."""

import itertools
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from aiohttp import web

from chat_aio import Chat, Options
from tests.conftest import Database, MakePeople
from tests.support.people import BASE, Person

PATHS = ["", "/", "/conversations", "/stream", "/channels", "/nothing/here", "/conversations/x"]


NO_USERS = [
    None,
    "alice",
    b"alice",
    {},
    {"id": None},
    {"id": ""},
    {"id": "  \t"},
    {"id": 7},
    {"id": "x" * 257},
    {"id": "a\0b"},
    {"id": "\ud800"},
    {"name": "alice"},
    ["id"],
    SimpleNamespace(name="alice"),
]
USERS = [{"id": "alice", "roles": ["x"]}, SimpleNamespace(id="alice", age=7)]
NO_ROUTES = [
    ("GET", ""),
    ("GET", "/"),
    ("GET", "/nothing"),
    ("PUT", "/conversations"),
    ("DELETE", "/conversations/x"),
    ("POST", "/stream"),
    ("HEAD", "/stream"),
    ("OPTIONS", "/conversations"),
    ("GET", "/conversations//messages"),
]


async def test_nobody_gets_401_on_every_path(person: Callable[[str], Person]) -> None:
    client = person("").client
    otherwise = {}
    for method, path in itertools.product(("GET", "POST", "PUT", "DELETE", "PATCH"), PATHS):
        async with client.request(method, BASE + path) as response:
            code = (await response.json())["error"]["code"]
            found = (response.status, code, bool(response.headers["X-Request-Id"]))
        if found != (401, "UNAUTHENTICATED", True):
            otherwise[method, path] = found
    assert otherwise == {}


async def test_what_is_no_user_is_401(serve: MakePeople) -> None:
    given: list[Any] = []
    person = await serve(auth=lambda _: given[-1])
    otherwise = {}
    for user in NO_USERS:
        given.append(user)
        answer = await person("ignored").get("/conversations")
        if (answer.status, answer.code) != (401, "UNAUTHENTICATED"):
            otherwise[repr(user)] = answer.status
    assert otherwise == {}


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_mappings_and_objects_are_users(serve: MakePeople, asynchronous: bool) -> None:
    given: list[Any] = []

    async def later(_: Any) -> Any:
        return given[-1]

    person = await serve(auth=later if asynchronous else lambda _: given[-1])
    for user in USERS:
        given.append(user)
        assert (await person("ignored").get("/conversations")).status == 200, user


@pytest.mark.parametrize("path", ["/conversations", "/nothing/here", "/stream"])
async def test_the_hook_reaches_the_hosts_app(
    database: Database, aiohttp_client: Any, path: str
) -> None:
    """`request.app` is the app that the chat is mounted into; afterwards it is the chat's again."""
    sessions, outermost = web.AppKey("sessions", dict[str, str]), web.AppKey("outermost", str)

    def auth(request: web.Request) -> dict[str, str]:
        assert request.config_dict[outermost] == "site"
        return {"id": request.app[sessions][request.headers["X-Session"]]}

    host, site = web.Application(), web.Application()
    host[sessions], site[outermost] = {"s1": "alice"}, "site"
    Chat(database, auth=auth, options=Options(replay_buffer_seconds=1)).mount(host)
    site.add_subapp("/team", host)
    client = await aiohttp_client(site)
    async with client.get(f"/team{BASE}{path}", headers={"X-Session": "s1"}) as answer:
        assert answer.status == (404 if "nothing" in path else 200)
    async with client.get(f"/team{BASE}{path}", headers={"X-Session": "s2"}) as answer:
        assert answer.status == 500


async def test_a_failing_hook_is_an_opaque_500(serve: MakePeople) -> None:
    def broken(_: Any) -> None:
        raise LookupError("the password is 1234")

    person = await serve(auth=broken)
    answer = await person("alice").get("/conversations")
    assert (answer.status, answer.code) == (500, "INTERNAL_ERROR")
    assert "1234" not in str(answer.json)


async def test_a_hanging_hook_is_a_500(serve: MakePeople) -> None:
    import asyncio

    async def hangs(_: Any) -> None:
        await asyncio.Event().wait()

    person = await serve(auth=hangs, hook_timeout_seconds=0.05)
    assert (await person("alice").get("/conversations")).status == 500


async def test_no_such_route_is_404(person: Callable[[str], Person]) -> None:
    otherwise = {}
    for method, path in NO_ROUTES:
        answer = await person("alice").call(method, path)
        if answer.status != 404 or (method != "HEAD" and answer.code != "NOT_FOUND"):
            otherwise[method, path] = answer.status
    assert otherwise == {}


async def test_head_answers_as_get(person: Callable[[str], Person]) -> None:
    answer = await person("alice").call("HEAD", "/conversations")
    assert (answer.status, answer.json) == (200, {})


async def test_ids_that_cannot_exist_are_the_resources_404(
    person: Callable[[str], Person],
) -> None:
    alice = person("alice")
    conversation_id = await alice.direct("bob")
    odd = ("%00", "%20", "no:such", "a%2Fb", "%252F", "%FF", "%ED%A0%80", "%7Bx%7D", "{x}")
    for segment in ("x" * 300, *odd):
        answer = await alice.get(f"/conversations/{segment}")
        assert (answer.status, answer.code) == (404, "CONVERSATION_NOT_FOUND"), segment
        answer = await alice.get(f"/conversations/{conversation_id}/messages/{segment}")
        assert (answer.status, answer.code) == (404, "MESSAGE_NOT_FOUND"), segment


async def test_a_trailing_slash_is_accepted(person: Callable[[str], Person]) -> None:
    alice = person("alice")
    conversation_id = await alice.direct("bob")
    for path in ("/conversations/", f"/conversations/{conversation_id}/"):
        assert (await alice.get(path)).status == 200
