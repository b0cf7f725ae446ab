"""Operators and other hostile values, in every field of every request: text, or refused."""

import json
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote, urlencode

from chat_aio import ChatError
from tests.access.conftest import Served
from tests.access.doors import ALL, UPLOADS, given_for
from tests.access.fields import Field, fields
from tests.access.kept import contents
from tests.access.world import World
from tests.conftest import Database
from tests.plugins.attachments.uploading import PNG, form_of
from tests.support.people import Answer

SURROGATE = "a\ud800"
TEXTS = (
    "$where",
    "$_id",
    "$$ROOT",
    "_id",
    "a.$[].b",
    '{"$gt": ""}',
    "'; db.dropDatabase()",
    "'; while (true) {} //",
    "a\0b",
    SURROGATE,
    "x" * 10_000,
)
OTHERS: tuple[Any, ...] = (
    {"$gt": ""},
    {"$ne": None},
    {"$set": {"role": "admin"}},
    {"$where": "sleep(1000)"},
    {"$ref": "bans", "$id": 1},
    {},
    ["x"],
    [{"$gt": ""}],
    [],
    2**63 - 1,
    -1,
    0.5,
    True,
)
IN_A_HEADER = [text[:4_000] for text in TEXTS if text.isascii() and text.isprintable()]


def values_for(field: Field) -> Iterable[Any]:
    """In a body anything, elsewhere text; last what is surely refused."""
    texts = IN_A_HEADER if field.place == "header" else TEXTS
    return sorted((*texts, *OTHERS) if field.place == "body" else texts, key=field.refuses)


async def asked(served: Served, world: World, field: Field, value: Any) -> Answer:
    """The answer to a request that is valid but for one value, of who may do nearly all."""
    route = field.route
    names = world.names("admin")
    places = {key: quote(name, safe="") for key, name in names.items()}
    given = given_for(route, "group", names)
    request: dict[str, Any] = {}
    if field.place == "path":
        places[field.name] = quote(value, safe="", errors="surrogatepass")
    elif field.place == "header":
        request["headers"] = {field.name: value}
    else:
        given[field.name] = value
    path = route.split(" ")[1].format(**places)
    if route.startswith("GET"):
        path += "?" + urlencode(given, errors="surrogatepass")
    elif route in UPLOADS:
        request["data"] = form_of(PNG, "a.png", "image/png")
    else:
        request["data"] = json.dumps(given)
    of_moderators = ("/moderation/reports", "/moderation/bans", "/moderation/tools")
    user = "moderator" if any(of_moderator in route for of_moderator in of_moderators) else "admin"
    return await served.ask(route, path, world.user(user), **request)


async def test_what_is_hostile_is_text_or_refused_and_changes_nothing(
    served: Served, database: Database
) -> None:
    world = await World.made(served.chat.api, "group, another", ["admin"])
    before = await contents(database)
    wrong: list[tuple[Field, Any, Answer | str]] = []
    for field in fields():
        for value in values_for(field):
            answer = await asked(served, world, field, value)
            if not is_right(field, value, answer):
                wrong.append((field, value, answer))
            after = before if field.refuses(value) else await contents(database)
            if answer.code and after != before:
                wrong.append((field, value, "was refused, and has written"))
            before = after
        if await contents(database) != before:
            wrong.append((field, "one of another kind", "was refused, and has written"))
    assert wrong == []
    assert {field.route for field in fields()} >= {route for route in ALL if "{" in route}


def is_right(field: Field, value: Any, answer: Answer) -> bool:
    """Whether a field may be answered so: what it is not for is 400, and in a path all that is
    nowhere is 404, but for the code of an invite that is gone already."""
    if answer.code is not None:
        known = ChatError.catalogue[answer.code].status == answer.status < 500
    else:
        known = answer.status in (200, 201)
    if field.name == "target_user_id" and "/tools/users/" in field.route:
        return known  # Any text may be a user: there are no accounts.
    if field.place == "path":
        return known and (answer.status == 404 or field.route.startswith("DELETE /conversations"))
    if field.place == "body" and (field.refuses(value) or value is SURROGATE):
        return (answer.status, answer.code) == (400, "INVALID_INPUT")
    return known
