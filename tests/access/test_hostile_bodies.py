"""Hostile bodies, to every route that reads one: the right code, nothing written, no harm done."""

import asyncio
from contextlib import suppress
from io import BytesIO

import pytest

from tests.access.conftest import Served
from tests.access.doors import ALL, OPERATIONS, shapes_of
from tests.access.hostile import CUT_OFF, ENCODED, LARGE, NO_OBJECTS, OFF_THE_RAILS, Body
from tests.access.kept import contents
from tests.access.world import World
from tests.conftest import Database
from tests.support.people import BASE, PATIENCE

WITH_BODY = [route for route in ALL if shapes_of(route)[1] or route.endswith("/typing")]
OPTIONAL = [route for route in WITH_BODY if getattr(OPERATIONS.get(route), "body_optional", True)]


def test_the_bodies_that_may_be_missing() -> None:
    assert [route.split("/")[-1] for route in OPTIONAL] == [
        *("group", "invites", "accept", "join-requests", "join"),
        *("{conversation_id}", "remove", "typing"),
    ]


async def test_hostile_bodies(served: Served, database: Database) -> None:
    world = await World.made(served.chat.api, "group, another", ["admin"])
    for route in WITH_BODY:
        path, user = path_of(route, world)
        before = await contents(database)
        found = {
            name: await asked(served, route, path, user, body)
            for name, body in {**NO_OBJECTS, **LARGE, **ENCODED}.items()
        }
        assert found == {
            **dict.fromkeys(NO_OBJECTS, (400, "INVALID_INPUT")),
            **dict.fromkeys(LARGE, (413, "PAYLOAD_TOO_LARGE")),
            **dict.fromkeys(ENCODED, (415, "UNSUPPORTED_ENCODING")),
        }, route
        for name, (headers, raw) in OFF_THE_RAILS.items():
            status = await status_of(served, route, path, user, headers, raw)
            assert status == 400, (route, name)
        for headers, raw in CUT_OFF.values():
            await status_of(served, route, path, user, headers, raw, leaving=True)
        assert await contents(database) == before, route
        empty = await asked(served, route, path, user, Body(b""))
        assert (empty == (400, "INVALID_INPUT")) == (route not in OPTIONAL), route
        await served.person(world.user("admin")).send(world.names("admin")["group"], "still here")


async def test_a_good_body_may_come_as_any_type(served: Served) -> None:
    world = await World.made(served.chat.api, "group, another", ["admin"])
    route = "POST /conversations/{conversation_id}/messages"
    path, user = path_of(route, world)
    raw = b'{"body":"a word"}'
    for body in (
        Body(raw, {"Content-Type": "text/plain"}),
        Body(raw, {"Content-Type": "multipart/form-data; boundary=x"}),
        Body(raw, {"Content-Type": "application/json; charset=utf-16"}),
        Body(raw, {"Content-Encoding": "identity"}),
    ):
        assert await asked(served, route, path, user, body) == (201, None)


@pytest.mark.parametrize(
    "encoding", ["gzip", "deflate", "br", "secret", "identity, gzip", "GZIP", "gzip, identity"]
)
async def test_any_encoding_is_refused(served: Served, encoding: str) -> None:
    answer = await served.ask(
        "POST", "/conversations/group", "ada", data=b"x", headers={"Content-Encoding": encoding}
    )
    assert (answer.status, answer.code) == (415, "UNSUPPORTED_ENCODING")


def path_of(route: str, world: World) -> tuple[str, str]:
    """A route's path about a world's things, and somebody who may ask there."""
    user = "moderator" if "/reports" in route or "/bans" in route else "admin"
    return route.split(" ")[1].format(**world.names("admin")), world.user(user)


async def asked(
    served: Served, route: str, path: str, user: str, body: Body
) -> tuple[int, str | None]:
    usual = {"Content-Type": "application/json", "Connection": "close"}
    answer = await served.ask(
        route, path, user, data=BytesIO(body.raw), headers={**usual, **body.headers}
    )
    return answer.status, answer.code


async def status_of(
    served: Served,
    route: str,
    path: str,
    user: str,
    headers: str,
    raw: bytes,
    *,
    leaving: bool = False,
) -> int | None:
    """The status of the first answer to bytes on the wire; None where there is none."""
    method = route.split(" ")[0]
    head = f"{method} {BASE}{path} HTTP/1.1\r\nHost: x\r\nX-User: {user}\r\n{headers}\r\n\r\n"
    server = served.client.server
    reader, writer = await asyncio.open_connection(server.host, server.port)
    try:
        async with asyncio.timeout(PATIENCE):
            writer.write(head.encode() + raw)
            await writer.drain()
            if leaving:
                return None
            line = await reader.readline()
        return int(line.split()[1])
    finally:
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()
