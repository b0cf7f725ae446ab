"""The points about MongoDB. Every check examines one thing, and returns its finding."""

import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack

from pymongo.errors import PyMongoError

from chat_aio.admin.doctor.members import NAME as MEMBERS
from chat_aio.admin.doctor.members import check_members
from chat_aio.admin.doctor.points import Point, ok, problem, unknown, warning
from chat_aio.admin.doctor.versions import NAME as VERSION
from chat_aio.admin.doctor.versions import OLDEST, check_version, numbers_of
from chat_aio.errors import SetupError, StorageUnavailable
from chat_aio.server.clients import client_of
from chat_aio.server.settings import ServeSettings
from chat_aio.store import indexes, orphans, privileges
from chat_aio.store.change_stream import ChangesBroken
from chat_aio.store.database import Database, database_over, is_unauthorized
from chat_aio.store.maintenance import doctor, migrate

MOST_CLOCK_SECONDS = 1.0
ENOUGH_OPLOG_SECONDS = 6 * 3600
MOST_NAMED = 6

ROLE = "give it the role of docs/operations/mongodb.md, and no other"
LOOK_AS_MONITOR = "run `chat-aio doctor` once as a user with clusterMonitor and read on `local`"

Check = Callable[[Database], Awaitable[Point]]


async def points_of_database(settings: ServeSettings) -> AsyncIterator[Point]:
    """All points; if MongoDB is not reached, only that one."""
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(client_of(settings.mongo_url))
        # Its options are those of the service: indexes and validators follow from them.
        database = database_over(client[settings.database], settings.options)
        try:
            hello = await doctor.hello(database)
        except (StorageUnavailable, PyMongoError) as error:
            yield problem(
                "MongoDB", f"not reached: {_said(error)}", "start it, or correct mongo_url"
            )
            return
        yield ok("MongoDB", f"answers at {hello.get('me', 'its address')}")
        for name, check in checks_of(settings).items():
            # A check that fails is a point, too: the others are still of use.
            try:
                point = await check(database)
            except (PyMongoError, StorageUnavailable, SetupError) as error:
                if is_unauthorized(error) or is_unauthorized(error.__cause__ or error):
                    point = unknown(name, "this user of MongoDB may not see it", LOOK_AS_MONITOR)
                else:
                    found = f"cannot be checked: {_said(error)}"
                    point = problem(name, found, "see the log of MongoDB")
            yield point


def checks_of(settings: ServeSettings) -> dict[str, Check]:
    """The checks by the names of their points."""

    async def check_oplog(database: Database) -> Point:
        return judge_oplog(await doctor.oplog(database), settings.options.replay_buffer_seconds)

    async def look_at_members(database: Database) -> Point:
        return await check_members(database, settings.mongo_url)

    return {
        VERSION: check_version,
        "feature compatibility": check_feature_compatibility,
        "replica set": check_replica_set,
        MEMBERS: look_at_members,
        "majority writes": check_majority,
        "orphaned transactions": check_orphans,
        "change stream": check_change_stream,
        "role": check_role,
        "indexes": check_indexes,
        "validators": check_validators,
        "schema version": check_schema,
        "clock": check_clock,
        "oplog": check_oplog,
    }


async def check_feature_compatibility(database: Database) -> Point:
    name, found = "feature compatibility", await doctor.feature_compatibility(database)
    version = await doctor.version(database)
    if numbers_of(found) < OLDEST:
        return problem(name, found, "set featureCompatibilityVersion to 6.0 or newer")
    if numbers_of(found) != numbers_of(version):
        advice = "the upgrade is not finished: raise it when you no longer want to go back"
        return warning(name, f"{found}, and MongoDB is {version}", advice)
    return ok(name, found)


async def check_replica_set(database: Database) -> Point:
    name, hello = "replica set", await doctor.hello(database)
    # Members are behind mongos, and not seen from here.
    if hello.get("msg") == "isdbgrid":
        return ok(name, "a sharded cluster, through mongos")
    if "setName" not in hello:
        advice = "start mongod with --replSet rs0, and run rs.initiate() in mongosh once"
        return problem(name, "a single mongod, without change streams and transactions", advice)
    members, arbiters = hello.get("hosts", []), hello.get("arbiters", [])
    said = f"{hello['setName']}, {len(members)} with data, {len(arbiters)} arbiters"
    # An arbiter votes and stores nothing, so one failure leaves no majority for writes.
    if arbiters and len(members) < 3:
        advice = "replace the arbiter by a member with data: without one of two, no write ends"
        return warning(name, said, advice)
    if len(members) < 3:
        return warning(name, said, "use three members: with fewer, any failure ends the service")
    return ok(name, said)


async def check_majority(database: Database) -> Point:
    name, began = "majority writes", time.monotonic()
    try:
        # Only waited for, not written: the doctor leaves no trace.
        await database.wait_for_majority()
    except StorageUnavailable:
        advice = "see rs.status(): more than half of the members must be up and follow"
        return problem(name, f"no answer within {database.timeout:g} s", advice)
    return ok(name, f"acknowledged within {time.monotonic() - began:.3f} s")


async def check_orphans(database: Database) -> Point:
    name = "orphaned transactions"
    if refusal := await orphans.refusal(database):
        advice = (
            "a killed process holds its conversations for up to a minute: allow `killSessions`, "
            "which Atlas refuses on its Free and Flex tiers"
        )
        return warning(name, f"cannot be ended: {refusal}", advice)
    return ok(name, "those of killed processes can be ended")


async def check_change_stream(database: Database) -> Point:
    name = "change stream"
    try:
        await doctor.try_change_stream(database)
    except ChangesBroken as error:
        return problem(
            name, _said(error), "nothing is delivered without it: see `replica set` and `role`"
        )
    return ok(name, "can be followed")


async def check_role(database: Database) -> Point:
    name, granted = "role", await doctor.privileges(database)
    if granted is None:
        advice = "start MongoDB with authentication, and give the chat its own user"
        return warning(name, "MongoDB requires no password", advice)
    place = database.handle.name, database.prefix
    if lacking := privileges.lacking(granted, *place):
        return problem(name, f"lacks {_some(lacking)}", ROLE)
    # A warning only: it works, but a leaked password would open more.
    if surplus := privileges.surplus(granted, *place):
        return warning(name, f"may do more than needed: {_some(surplus)}", ROLE)
    return ok(name, "has what is needed, and no more")


async def check_indexes(database: Database) -> Point:
    name = "indexes"
    found = [
        difference
        for difference in await indexes.differences(database)
        if difference.of != "validator"
    ]
    if lacking := [str(difference) for difference in found if difference.state != "surplus"]:
        advice = "run `chat-aio indexes apply`; a first start does so as well, if it has the rights"
        return problem(name, _some(lacking), advice)
    return ok(name, f"all are there, and {len(found)} others" if found else "all are there")


async def check_validators(database: Database) -> Point:
    name = "validators"
    found = [
        difference
        for difference in await indexes.differences(database)
        if difference.of == "validator"
    ]
    if found:
        return warning(name, _some([*map(str, found)]), "run `chat-aio indexes apply`")
    return ok(name, "all are there")


async def check_schema(database: Database) -> Point:
    name = "schema version"
    try:
        await migrate.require_current(database)
    except SetupError as error:
        return problem(name, str(error), "see docs/operations/upgrading.md")
    version = await migrate.find(database)
    if version < migrate.newest():
        advice = "when no process of an earlier version is left: `chat-aio migrate --finish`"
        return warning(name, str(version), advice)
    return ok(name, str(version))


async def check_clock(database: Database, now: Callable[[], float] = time.time) -> Point:
    name, ahead = "clock", await doctor.clock_difference(database, now)
    said = f"{abs(ahead):.3f} s {'ahead of' if ahead > 0 else 'behind'} the primary's"
    if abs(ahead) > MOST_CLOCK_SECONDS:
        advice = "run NTP on both: the chat uses the primary's clock, logs use this one"
        return warning(name, said, advice)
    return ok(name, said)


def judge_oplog(found: doctor.Oplog, needed: float) -> Point:
    """`needed` is the number of seconds that a process reads back when it starts."""
    name, said = "oplog", f"reaches back {found.seconds / 3600:.1f} h"
    if not found.is_full:
        return ok(name, f"{said}, and has forgotten nothing yet")
    advice = "make it larger (replSetResizeOplog): clients must refetch what it has dropped"
    if found.seconds < needed:
        return problem(name, f"{said}, and replay_buffer_seconds are {needed:g} s", advice)
    if found.seconds < ENOUGH_OPLOG_SECONDS:
        return warning(name, said, advice)
    return ok(name, said)


def _some(names: list[str]) -> str:
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _said(error: Exception) -> str:
    """The text of an error, without the whole answer that PyMongo appends."""
    return " ".join(str(error).split(", full error:")[0].split())[:200]
