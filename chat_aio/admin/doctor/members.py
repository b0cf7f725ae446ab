"""The point about the members of a replica set: each member is connected to directly, because the
other members list it in their configuration whether it is alive or not."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pymongo.errors import ConfigurationError, InvalidURI, OperationFailure, PyMongoError

from chat_aio.admin.doctor.points import Point, ok, problem, unknown, warning
from chat_aio.errors import SetupError
from chat_aio.server.clients import client_of_member, is_direct
from chat_aio.store.database import Database
from chat_aio.store.maintenance import doctor

NAME = "members"
MOST_LAG_SECONDS = 10.0
HEALTHY = ("primary", "secondary", "arbiter")


@dataclass(frozen=True, slots=True)
class Member:
    """A member as it describes itself; `state` is None if it does not answer. `written` is the
    time of the newest write that it has."""

    host: str
    state: str | None
    written: datetime | None = None


async def check_members(database: Database, url: str) -> Point:
    """Connect to each member that is not hidden, with the credentials and the TLS settings of
    `url`."""
    hello = await doctor.hello(database)
    if "setName" not in hello:
        advice = "run `chat-aio doctor` with the address of each shard or member"
        return unknown(NAME, "MongoDB does not list them here", advice)
    hosts = [host for kind in ("hosts", "passives", "arbiters") for host in hello.get(kind, [])]
    members = await asyncio.gather(*(_look_at(url, host, hello) for host in hosts))
    return judge_members(members, reachable=not is_direct(url))


async def _look_at(url: str, host: str, answered: Mapping[str, Any]) -> Member:
    # It has answered already, perhaps under a name that does not resolve from here.
    if host == answered.get("me"):
        return _member_from(host, answered)
    try:
        async with client_of_member(url, host) as client:
            return _member_from(host, await client.admin.command("hello"))
    except (ConfigurationError, InvalidURI) as error:
        raise SetupError(f"no connection string for {host}: {error}") from error
    except OperationFailure:
        # The member runs. An arbiter has no users, so nobody can log in there.
        return Member(host, "arbiter" if host in answered.get("arbiters", []) else "running")
    except PyMongoError:
        return Member(host, None)


def _member_from(host: str, hello: Mapping[str, Any]) -> Member:
    written = (hello.get("lastWrite") or {}).get("lastWriteDate")
    for field, state in (
        ("isWritablePrimary", "primary"),
        ("secondary", "secondary"),
        ("arbiterOnly", "arbiter"),
    ):
        if hello.get(field):
            # Clients differ in the time zone that they decode with; the wall time is UTC in all.
            return Member(host, state, written and written.replace(tzinfo=None))
    return Member(host, "neither primary nor secondary")


def judge_members(members: Sequence[Member], *, reachable: bool) -> Point:
    """`reachable` is whether clients of this connection string connect to all members. If they do
    not, a member without an answer may be alive and out of reach from here."""
    found = ", ".join(f"{member.host} {member.state or 'does not answer'}" for member in members)
    if any(member.state is None for member in members):
        if not reachable:
            advice = "run `chat-aio doctor` without directConnection, where members are reachable"
            return unknown(NAME, found, advice)
        advice = "start it, or see its log: after one more failure nothing can be written"
        return problem(NAME, found, advice)
    if any(member.state not in HEALTHY for member in members):
        return problem(NAME, found, "see rs.status() and the log of this member")
    if behind := _lagging(members):
        return warning(NAME, f"{found}; {behind}", "see rs.printSecondaryReplicationInfo()")
    return ok(NAME, found)


def _lagging(members: Sequence[Member]) -> str:
    """The members whose newest write is much older than the primary's."""
    (newest, *_) = [member.written for member in members if member.state == "primary"] or [None]
    if newest is None:
        return ""
    lags = {
        member.host: (newest - member.written).total_seconds()
        for member in members
        if member.state == "secondary" and member.written is not None
    }
    return ", ".join(
        f"{host} is {lag:.0f} s behind" for host, lag in lags.items() if lag > MOST_LAG_SECONDS
    )
