"""Clients of MongoDB, made from `--mongo-url`."""

import re
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from pymongo import AsyncMongoClient
from pymongo.asynchronous.database import AsyncDatabase
from pymongo.errors import PyMongoError

from chat_aio.errors import SetupError
from chat_aio.options import Options
from chat_aio.store.database import Database, database_over

MEMBER_SECONDS = 3.0

T = TypeVar("T")

_PLACE = re.compile(
    r"mongodb(?P<srv>\+srv)?://(?P<login>[^/?]*@)?[^/?]*/?(?P<database>[^?]*)(\?(?P<options>.*))?$"
)


def client_of(url: str) -> AsyncMongoClient[dict[str, Any]]:
    """A client of a connection string. Raises SetupError for one that cannot be."""
    try:
        return AsyncMongoClient[dict[str, Any]](url)
    except (PyMongoError, ValueError) as error:
        # The driver may quote a part of the password, where that is not encoded.
        hint = "characters such as : / @ in user and password must be percent-encoded"
        reason = hint if "@" in url else " ".join(str(error).split())
        raise SetupError(f"must be a connection string of MongoDB ({reason})") from error


def client_of_member(url: str, host: str) -> AsyncMongoClient[dict[str, Any]]:
    """A client of one member of a replica set, with the credentials and the TLS settings of a
    connection string. Its calls end by themselves after `MEMBER_SECONDS`."""
    place = _PLACE.match(url)
    if place is None:
        raise SetupError("must be a connection string of MongoDB")
    options = place["options"] or ""
    if place["srv"]:
        # The defaults of mongodb+srv, which a plain connection string does not have.
        options = re.sub(r"(^|&)(srvMaxHosts|srvServiceName)=[^&]*", "", options, flags=re.I)
        given = options.lower()
        options += "".join(
            f"&{name}={value}"
            for name, value in (("tls", "true"), ("authSource", "admin"))
            if not re.search(rf"\b{name.lower()}=", given)
        )
    milliseconds = int(MEMBER_SECONDS * 1000)
    return AsyncMongoClient[dict[str, Any]](
        f"mongodb://{place['login'] or ''}{host}/{place['database'] or ''}?{options.lstrip('&')}",
        directConnection=True,
        serverSelectionTimeoutMS=milliseconds,
        connectTimeoutMS=milliseconds,
        socketTimeoutMS=milliseconds,
    )


def is_direct(url: str) -> bool:
    """Whether clients of a connection string connect only to the one host that it names."""
    return re.search(r"[?&]directconnection=true\b", url, re.IGNORECASE) is not None


async def with_database(
    url: str, name: str, options: Options, act: Callable[[Database], Awaitable[T]]
) -> T:
    """Run `act` with the database of a chat with these options. Raises SetupError if it cannot be
    reached."""
    async with client_of(url) as client:
        database = database_over(client[name], options)
        await database.require_replica_set()
        return await act(database)


class Clients:
    """The MongoDB client of a chat that makes its own. If it is stuck, `make` replaces it."""

    def __init__(self, url: str, database: str) -> None:
        self._url, self._database = url, database
        self._clients: list[AsyncMongoClient[dict[str, Any]]] = []

    def make(self) -> AsyncDatabase[dict[str, Any]]:
        """The database over a new client. Raises SetupError for an invalid URL."""
        self._clients.append(client_of(self._url))
        return self._clients[-1][self._database]

    async def close(self, *_: object) -> None:
        """Close the client in use; closing a stuck one would never return."""
        if self._clients:
            await self._clients[-1].close()
