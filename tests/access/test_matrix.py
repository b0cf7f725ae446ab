"""The access matrix: each cell as stated, the same through both doors (specification 2.1)."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from chat_aio.actions.api import (
    ConversationsAPI,
    InboxAPI,
    ModerationAPI,
    ModerationToolsAPI,
    RoomsAPI,
    ServerAPI,
    methods_of,
)
from tests.access.conftest import Served
from tests.access.doors import ALL, OPERATIONS, Outcome, given_for, through_api, through_http
from tests.access.matrix import MEANINGS, Row, rows
from tests.access.world import World

ROWS_AT_ONCE = 6
APIS: tuple[tuple[str, type], ...] = (
    ("", ServerAPI),
    ("conversations.", ConversationsAPI),
    ("moderation.", ModerationAPI),
    ("rooms.", RoomsAPI),
    ("inbox.", InboxAPI),
    ("moderation_tools.", ModerationToolsAPI),
)

UNCOMPARED = {
    ("rooms.", "update_conversation"),  # The contract's, with further fields.
    ("conversations.", "delete_conversation"),  # The host's own code may always delete.
}


def methods() -> dict[Any, str]:
    """All that the server API can do, and how it is called there."""
    return {
        method: prefix + name
        for prefix, api in APIS
        for name, method in methods_of(api).items()
        if (prefix, name) not in UNCOMPARED
    }


def test_every_route_and_method_has_its_row_and_nothing_else_has() -> None:
    """In the order of the routes, each beside the method that is the same operation."""
    stated = {row.route: row.method for row in reversed(rows()) if row.route}
    names = methods()
    documented = {
        route: getattr(operation, "documented", None) for route, operation in OPERATIONS.items()
    }
    same = {route: names.get(documented.get(route), "") for route in ALL}
    assert list(dict.fromkeys(row.route for row in rows() if row.route)) == list(ALL)
    assert stated == same
    assert {row.method for row in rows() if row.method} == set(names.values())


def reads(row: Row) -> bool:
    """Whether nothing is changed."""
    return row.route.startswith("GET") or row.method in READING


READING = (
    "list_messages_after",
    "conversations.find_conversation",
    "conversations.find_conversations",
)
"""What only reads and has no route."""


async def test_every_cell(served: Served) -> None:
    """What only reads has one world for all rows about the same."""
    turns = asyncio.Semaphore(ROWS_AT_ONCE)
    read = dict.fromkeys(row.about for row in rows() if reads(row))
    for about in read:
        read[about] = await World.made(served.chat.api, about, ())

    async def looked_at(row: Row) -> list[str]:
        async with turns:
            one = read[row.about] if reads(row) else None
            return [difference async for difference in differences(served, row, one)]

    found = await asyncio.gather(*map(looked_at, rows()))
    assert [difference for some in found for difference in some] == []


async def differences(served: Served, row: Row, read: World | None) -> AsyncIterator[str]:
    """Where a row is not so. Each door has a world of its own, unless nothing is changed there; who
    is refused comes first, for what succeeds may change what others meet."""
    one = other = read or await World.made(served.chat.api, row.about, row.stated)
    if row.route and row.method and not read:
        other = await World.made(served.chat.api, row.about, row.stated)
    for role, cell in sorted(row.stated.items(), key=lambda stated: MEANINGS[stated[1]][1] is None):
        here = f"{row.route or row.method}, {row.about}, {role}: {cell} is stated"
        status, code = MEANINGS[cell]
        said = await over_http(served, row, one, role) if row.route else None
        done = await over_api(served, row, other, role) if row.method and role != "nobody" else None
        if said and (said.status, said.code) != (status, code):
            yield f"{here}, HTTP says {said.status} {said.code}"
        if done and done.code != code:
            yield f"{here}, the API says {done.code}"
        if said and done and (reads(row) or code) and row.about != "all" and not alike(said, done):
            yield f"{here}, HTTP says {said.result}, the API {done.result}"


async def over_http(served: Served, row: Row, world: World, role: str) -> Outcome:
    names = world.names(role)
    given = given_for(row.route or row.method, row.about, names)
    user_id = None if role == "nobody" else world.user(role)
    return await through_http(served, row.route, names, given, user_id)


async def over_api(served: Served, row: Row, world: World, role: str) -> Outcome:
    names = world.names(role)
    given = given_for(row.route or row.method, row.about, names)
    return await through_api(served, row.route, row.method, names, given, world.user(role))


def alike(said: Outcome, done: Outcome) -> bool:
    """Whether both doors give the same answer; over HTTP it may stand in an envelope."""
    inside = said.result.values() if isinstance(said.result, dict) else ()
    return done.result in (said.result, *inside)
