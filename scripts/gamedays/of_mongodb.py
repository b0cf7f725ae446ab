"""Breakages of MongoDB: it is gone, slow, behind, full, or its certificate has expired."""

import asyncio
import signal
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

from pymongo import AsyncMongoClient

from gamedays.disk import fill
from gamedays.stage import Plan, Stage
from gamedays.table import breakage
from tests.support.replica_set import Member

NAME = "game"
"""The name by which the failpoints identify the service."""

SLOW_MS = 900
SLOW_COMMANDS = ("find", "aggregate", "insert", "update", "findAndModify", "commitTransaction")
BEHIND_SECONDS = 2
VALID = timedelta(seconds=4)
PAUSE_SECONDS = 8
"""Longer than the driver's monitor waits, so that it opens new connections afterwards."""


@breakage(
    "mongod-gone",
    what="the only mongod is killed",
    alert="ChatFeedNotLive",
    cure="start mongod again",
)
async def mongod_gone(stage: Stage) -> AsyncIterator[None]:
    (member,) = stage.members.members
    await stage.members.kill(member)
    yield
    await stage.members.restart(member)


@breakage(
    "slow-disk",
    what="every call of the primary takes longer (failpoint)",
    alert="ChatDatabaseIsSlow",
    cure="rs.stepDown(): another member takes over",
    plan=Plan(members=3, url_options=f"&appName={NAME}"),
)
async def slow_disk(stage: Stage) -> AsyncIterator[None]:
    primary = await stage.members.wait_primary()
    delay = {"failCommands": SLOW_COMMANDS, "blockConnection": True, "blockTimeMS": SLOW_MS}
    await primary.command(
        "configureFailPoint", "failCommand", mode="alwaysOn", data={**delay, "appName": NAME}
    )
    yield
    await stage.members.step_down()
    await stage.members.wait_primary(other_than=primary)


@breakage(
    "lagging-secondary",
    what="one of two secondaries is away and the other lags",
    alert="ChatFeedLags",
    cure="bring the missing one back: the majority keeps up",
    plan=Plan(members=3),
)
async def lagging_secondary(stage: Stage) -> AsyncIterator[None]:
    primary = await stage.members.wait_primary()
    away, behind = (member for member in stage.members.members if member is not primary)
    await _delay(primary, behind, BEHIND_SECONDS)
    await stage.members.kill(away)
    yield
    await stage.members.restart(away)


async def _delay(primary: Member, member: Member, seconds: int) -> None:
    """Let a secondary apply the primary's writes only after `seconds`."""
    config: dict[str, Any] = (await primary.command("replSetGetConfig"))["config"]
    (meant,) = (entry for entry in config["members"] if entry["host"] == member.host)
    meant.update(priority=0, secondaryDelaySecs=seconds)
    await primary.command("replSetReconfig", {**config, "version": config["version"] + 1})


@breakage(
    "full-disk",
    what="other data fill the disk of MongoDB (a tmpfs)",
    alert="ChatRequestsFail",
    cure="make room, start mongod again",
    # A checkpoint every few seconds instead of every minute: the next one meets the full disk.
    plan=Plan(
        disk_mib=700,
        mongod=("--syncdelay", "3"),
    ),
)
async def full_disk(stage: Stage) -> AsyncIterator[None]:
    (member,) = stage.members.members
    file = await asyncio.to_thread(fill, stage.folder / "data")
    yield
    file.unlink()
    assert member.process is not None
    await member.process.wait()
    await stage.members.restart(member)


@breakage(
    "expired-certificate",
    what="mongod's certificate expires, then connections break",
    alert="ChatFeedNotLive",
    cure="a new certificate, rotateCertificates",
    plan=Plan(has_tls=True, url_options="&connectTimeoutMS=1000&heartbeatFrequencyMS=1000"),
)
async def expired_certificate(stage: Stage) -> AsyncIterator[None]:
    (member,) = stage.members.members
    assert stage.certificates is not None
    await _rotate(stage, member, VALID)
    await asyncio.sleep(VALID.total_seconds())
    member.send(signal.SIGSTOP)
    await asyncio.sleep(PAUSE_SECONDS)
    member.send(signal.SIGCONT)
    await stage.until_logged("certificate has expired")
    yield
    await _rotate(stage, member, timedelta(days=1))


async def _rotate(stage: Stage, member: Member, valid: timedelta) -> None:
    assert stage.certificates is not None
    await asyncio.to_thread(stage.certificates.issue, valid)
    async with AsyncMongoClient[dict[str, Any]](member.host, directConnection=True) as client:
        await client.admin.command("rotateCertificates", 1)
