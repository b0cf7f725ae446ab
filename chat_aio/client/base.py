"""The base of the client's methods: a request from path segments and named fields."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from pydantic.alias_generators import to_camel

from chat_aio.client.connection import Connection
from chat_aio.schema.inputs import KEEP


class Calls:
    """Requests over a connection. Fields are snake_case here and camelCase on the wire."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def _get(self, *path: str, **query: str | int | bool | datetime | None) -> dict[str, Any]:
        """A read, which is repeated after a temporary failure."""
        # A query has no null: None leaves a parameter out.
        given = {
            # The name of a field of metadata, `metadata.orderId`, is the host's.
            name if "." in name else to_camel(name): _text(value)
            for name, value in query.items()
            if value is not None
        }
        return await self._connection.call("GET", path, query=given, repeats=True)

    async def _post(self, *path: str, **fields: object) -> dict[str, Any]:
        return await self._connection.call("POST", path, body=_body(fields))

    async def _post_keyed(self, *path: str, **fields: object) -> dict[str, Any]:
        """A write with an idempotency key, which is repeated after a temporary failure."""
        return await self._connection.call("POST", path, body=_body(fields), repeats=True)

    async def _put(self, *path: str, **fields: object) -> dict[str, Any]:
        """A write of a whole, which is repeated after a temporary failure."""
        return await self._connection.call("PUT", path, body=_body(fields), repeats=True)

    async def _patch(self, *path: str, **fields: object) -> dict[str, Any]:
        return await self._connection.call("PATCH", path, body=_body(fields))

    async def _delete(self, *path: str, **fields: object) -> dict[str, Any]:
        return await self._connection.call("DELETE", path, body=_body(fields))


def joined(words: Sequence[str] | None) -> str | None:
    """A list in a query string; None leaves it out."""
    return ",".join(words) if words else None


def _body(fields: dict[str, object]) -> dict[str, object]:
    """The JSON fields. KEEP leaves a field out; None becomes null, which the service treats as
    absent, or as clearing the fields that can be cleared."""
    return {to_camel(name): value for name, value in fields.items() if value is not KEEP}


def _text(value: str | int | bool | datetime) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    # JSON's `true` and `false`, not Python's words.
    return str(value).lower() if isinstance(value, bool) else str(value)
