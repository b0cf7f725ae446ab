"""Every place of every request where something of a caller's goes in, read off the route table."""

from collections.abc import Iterator
from typing import Literal, NamedTuple

from chat_aio.schema import inputs
from chat_aio.web.operations import IdempotentOperation
from tests.access.doors import ALL, OPERATIONS, shapes_of

Place = Literal["path", "query", "body", "header"]

JSON_TYPES = {
    str: "string",
    dict: "object",
    list: "array",
    bool: "boolean",
    int: "integer",
    float: "number",
}
WITHOUT_SHAPE: tuple[tuple[str, Place, str, str], ...] = (
    ("GET /stream", "query", "lastEventId", "string"),
    ("GET /stream", "query", "conversationIds", "string"),
    ("POST /conversations/{conversation_id}/typing", "body", "isTyping", "boolean"),
    ("PUT /notifications/settings", "body", "quietHours", "object"),
    ("PUT /conversations/{conversation_id}/notifications", "body", "level", "string"),
    ("GET /presence", "query", "userIds", "string"),
)


class Field(NamedTuple):
    """A place in a route's request; `types` are JSON's names for what it takes."""

    route: str
    place: Place
    name: str
    types: frozenset[str] = frozenset({"string"})

    def refuses(self, value: object) -> bool:
        """Whether a value is of a kind that the field is not for; lists are of strings."""
        if isinstance(value, list) and not all(isinstance(item, str) for item in value):
            return True
        return JSON_TYPES[type(value)] not in self.types


def fields() -> Iterator[Field]:
    """All of them, route by route."""
    for route in ALL:
        for part in route.split("/"):
            if part.startswith("{"):
                yield Field(route, "path", part.strip("{}"))
        query, body = shapes_of(route)
        yield from _fields_of(route, "query", query)
        yield from _fields_of(route, "body", body)
        if isinstance(OPERATIONS.get(route), IdempotentOperation):
            yield Field(route, "header", "Idempotency-Key")
        for known, place, name, kind in WITHOUT_SHAPE:
            if known == route:
                yield Field(route, place, name, frozenset({kind}))


def _fields_of(route: str, place: Place, shape: type[inputs.Input] | None) -> Iterator[Field]:
    if shape is not None:
        for name, schema in shape.model_json_schema()["properties"].items():
            kinds = schema.get("anyOf", [schema])
            yield Field(route, place, name, frozenset(kind["type"] for kind in kinds))
