"""Who is calling: asked on every path, before anything else (docs/behaviour.md 1.1)."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from tests.conftest import MakePeople
from tests.support.people import BASE, Person

PATHS = ["", "/", "/conversations", "/stream", "/channels", "/nothing/here", "/conversations/x"]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE", "PATCH"])
async def test_nobody_gets_401_on_every_path(
    person: Callable[[str], Person], method: str, path: str
) -> None:
    client = person("").client
    async with client.request(method, BASE + path) as response:
        assert response.status == 401
        assert (await response.json())["error"]["code"] == "UNAUTHENTICATED"
        assert response.headers["X-Request-Id"]


@pytest.mark.parametrize(
    "user",
    [
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
    ],
)
async def test_what_is_no_user_is_401(serve: MakePeople, user: Any) -> None:
    person = await serve(auth=lambda _: user)
    answer = await person("ignored").get("/conversations")
    assert (answer.status, answer.code) == (401, "UNAUTHENTICATED")


@pytest.mark.parametrize(
    "user", [{"id": "alice", "roles": ["x"]}, SimpleNamespace(id="alice", age=7)]
)
@pytest.mark.parametrize("asynchronous", [False, True])
async def test_mappings_and_objects_are_users(
    serve: MakePeople, user: Any, asynchronous: bool
) -> None:
    async def later(_: Any) -> Any:
        return user

    person = await serve(auth=later if asynchronous else lambda _: user)
    assert (await person("ignored").get("/conversations")).status == 200


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


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", ""),
        ("GET", "/"),
        ("GET", "/nothing"),
        ("PUT", "/conversations"),
        ("DELETE", "/conversations/x"),
        ("POST", "/stream"),
        ("HEAD", "/stream"),
        ("OPTIONS", "/conversations"),
        ("GET", "/conversations//messages"),
    ],
)
async def test_no_such_route_is_404(
    person: Callable[[str], Person], method: str, path: str
) -> None:
    answer = await person("alice").call(method, path)
    assert answer.status == 404
    if method != "HEAD":
        assert answer.code == "NOT_FOUND"


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
