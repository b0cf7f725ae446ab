"""A mongod that asks for passwords, with users of several roles."""

import json
import re
import secrets
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pymongo import AsyncMongoClient

from chat_aio.embedded import Mongod
from tests.support.mongods import SMALL

ROOT = Path(__file__).parents[2]
_GUIDE = (ROOT / "docs/operations/mongodb.md").read_text()
_ROLE = re.search(r"createRole\((\{.*?\n\})\)", _GUIDE, re.S)
Client = AsyncMongoClient[dict[str, Any]]


def documented_role(database: str) -> dict[str, Any]:
    """The role of docs/operations/mongodb.md, for a database of this name."""
    assert _ROLE is not None
    role: dict[str, Any] = json.loads(_ROLE[1])
    for privilege in role["privileges"]:
        privilege["resource"]["db"] = database
    return role


@dataclass(frozen=True)
class Guarded:
    """A mongod on `port`; `admin` may do anything."""

    port: int
    admin: Client

    def url(self, user: str, database: str) -> str:
        place = f"127.0.0.1:{self.port}/?authSource={database}&directConnection=true"
        return f"mongodb://{user}:secret@{place}"

    async def add_user(self, user: str, database: str, *roles: str | Mapping[str, str]) -> str:
        """Make a user; returns a connection string."""
        await self.admin[database].command("createUser", user, pwd="secret", roles=list(roles))
        return self.url(user, database)

    async def add_chat(self, database: str, without: Iterable[str] = ()) -> str:
        """Make a user `chat` with the documented role, less some actions on the database; returns a
        connection string."""
        role = documented_role(database)
        name, actions = role.pop("role"), role["privileges"][0]["actions"]
        for action in without:
            actions.remove(action)
        await self.admin[database].command("createRole", name, **role)
        return await self.add_user("chat", database, name)


@asynccontextmanager
async def guarding(folder: Path) -> AsyncIterator[int]:
    """The port of a mongod that asks for passwords."""
    key = folder / "key"
    key.write_text(secrets.token_hex(32))
    key.chmod(0o600)
    # As on the mongod of all tests, no row is removed for its age meanwhile.
    options = ("--keyFile", str(key), "--setParameter", "ttlMonitorEnabled=false", *SMALL)
    async with Mongod(folder / "data", options=options) as mongod:
        async with Client(mongod.url) as first:
            await first.admin.command("createUser", "root", pwd="secret", roles=["root"])
        yield mongod.port


@asynccontextmanager
async def administered(port: int) -> AsyncIterator[Guarded]:
    """The mongod on this port, with a client that may do anything."""
    url = f"mongodb://root:secret@127.0.0.1:{port}/?authSource=admin&directConnection=true"
    async with Client(url) as admin:
        yield Guarded(port, admin)


@asynccontextmanager
async def guarded(folder: Path) -> AsyncIterator[Guarded]:
    async with guarding(folder) as port, administered(port) as found:
        yield found
