"""The differences between the two drivers that a host may use: PyMongo's async API, and Motor."""

import inspect
from typing import Any


async def maybe_await(value: Any) -> Any:
    """Await `value` if it is awaitable. PyMongo returns a coroutine where Motor returns a cursor
    (aggregate, watch, list_indexes), and only one of them awaits `close` and transactions' starts.
    """
    return await value if inspect.isawaitable(value) else value


def pymongo_client(client: Any) -> Any:
    """The client of PyMongo that a client of Motor wraps, or the client itself."""
    # `vars`, because both drivers return a database for any attribute that they do not have.
    return vars(client).get("delegate", client)
