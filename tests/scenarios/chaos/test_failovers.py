"""One reader over two failovers, in small; `test_chaos` has the whole of it."""

import asyncio
import logging
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientError

from tests.scenarios.chaos.torn import LAST, Seen, follow, opened, stored
from tests.support.people import Person
from tests.support.processes import until
from tests.support.replica_set import ReplicaSet

AWAY, BACK = "the primary of MongoDB is away", "the primary of MongoDB is back after"


async def test_failovers(
    tmp_path: Path, aiohttp_client: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """The primary is killed, then its successor steps down: streams end or go on, and with what
    they are told when they come back nothing is missing. A failover is two lines in the log."""
    caplog.set_level(logging.INFO, "chat_aio.store.primary")
    async with ReplicaSet(tmp_path) as members, opened(members.url, aiohttp_client) as town:
        alice, bob = town.person("alice"), town.person("bob")
        conversation_id = await alice.direct("bob")
        await alice.send(conversation_id, "before")
        await alice.told_all()  # What the feed has not delivered yet, a stream gets twice.
        seen: Seen = {}

        async def come_and_go() -> None:
            position = f"{conversation_id}:1"
            while LAST not in (body for _, body in seen.values()):
                with suppress(EOFError, ClientError):
                    async with bob.tab(position) as tab:
                        try:
                            await follow(tab, seen)
                        finally:
                            position = tab.last_event_id or position

        following = asyncio.create_task(come_and_go())
        for fault in ("killed", "stepped down"):
            primary = await members.wait_primary()
            if fault == "killed":
                # No other one is elected until it is noticed that this one is away.
                voter = next(member for member in members.members if member is not primary)
                members.pause(voter)
                caplog.clear()
                await members.kill(primary)
                await until(lambda: AWAY in caplog.text)
                members.resume(voter)
            else:
                await members.step_down()
            await members.wait_primary(other_than=primary)
            for number in range(5):
                await insist(alice, conversation_id, f"{fault}, {number}")
            if fault == "killed":
                await until(lambda: BACK in caplog.text)
                said = re.findall(f"{AWAY}|{BACK}", caplog.text)
                # On a busy machine another election may follow, which is two further lines.
                assert said == [AWAY if turn % 2 == 0 else BACK for turn in range(len(said))]
                await members.restart(primary)
            await members.wait_healthy()
        await insist(alice, conversation_id, LAST)
        await following
        kept = await stored(bob, conversation_id)
        assert seen == {
            message_id: (seq, text) for message_id, (seq, text) in kept.items() if seq > 1
        }
        assert len(seen) == 11


async def insist(person: Person, conversation_id: str, body: str) -> None:
    """Send with a key until it is acknowledged."""
    sending = {"body": body, "clientMessageId": body}
    path = f"/conversations/{conversation_id}/messages"
    while (answer := await person.post(path, sending)).status == 503:
        pass
    assert answer.status in (200, 201), answer
