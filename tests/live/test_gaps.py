"""A gap is never silent: whatever tears the feed, every stream ends, and who comes back with the
last id is told all that there is."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from contextlib import suppress
from typing import Any
from unittest.mock import patch

import pytest
from aiohttp import ClientError
from bson import Timestamp
from pymongo.errors import OperationFailure

from chat_aio.embedded import Mongod
from chat_aio.live.replay.from_storage import StorageReplays
from tests.conftest import MakePeople
from tests.scenarios.chaos.torn import LAST, Seen, Town, expect_all, opened, stored
from tests.support.failpoints import failing
from tests.support.mongods import SMALL, shared
from tests.support.people import PATIENCE, Person
from tests.support.stopping import stopped

FEED = ["getMore", "aggregate"]
CAPPED_POSITION_LOST = 136
Unheard = Callable[[], Coroutine[Any, Any, None]]
Tear = Callable[[Unheard], Awaitable[None]]


@pytest.fixture(scope="module")
def mongod(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mongod]:
    """A mongod for these tests alone, with an oplog that is soon rolled over."""
    options = (
        *("--setParameter", "enableTestCommands=1", "--wiredTigerCacheSizeGB", "0.25"),
        *("--oplogSize", "1", "--syncdelay", "1"),
        *SMALL,
    )
    with shared(Mongod(tmp_path_factory.mktemp("mongod"), options=options)) as mongod:
        yield mongod


@pytest.fixture
async def town(mongod: Mongod, aiohttp_client: Any) -> AsyncIterator[Town]:
    async with opened(mongod.url, aiohttp_client) as town:
        yield town


async def act(alice: Person, conversation_id: str, old: list[dict[str, Any]]) -> None:
    """What nobody is told of: two messages, an edit and a deletion."""
    await alice.send(conversation_id, "in the gap")
    await alice.edit(old[0]["id"], "edited in the gap")
    await alice.delete(old[1]["id"])
    await alice.send(conversation_id, LAST)


async def expect_no_silent_gap(town: Town, tear: Tear, *, who: str = "") -> None:
    """`tear` tears the feed, and lets happen what it is given while it is torn; `who` keeps the
    people of one gap apart from those of others."""
    alice, bob = town.person(f"alice{who}"), town.person(f"bob{who}")
    conversation_id = await alice.direct(bob.user_id)
    async with bob.tab() as tab:
        old = [await alice.send(conversation_id, body) for body in ("one", "two", "three")]
        assert await tab.bodies(3) == ["one", "two", "three"]
        position = str(tab.last_event_id)

        async def unheard() -> None:
            await tab.end()
            await act(alice, conversation_id, old)

        await tear(unheard)
    await town.live_again()
    seen: Seen = {message["id"]: (message["seq"], message["body"]) for message in old}
    await expect_all(bob, conversation_id, position, seen)


async def test_errors_that_end_a_change_stream_for_good(
    town: Town, caplog: pytest.LogCaptureFixture
) -> None:
    for code in (CAPPED_POSITION_LOST, 260, 280, 286):

        async def tear(unheard: Unheard, code: int = code) -> None:
            async with failing(town.admin, FEED, app_name="feed", errorCode=code):
                await unheard()

        caplog.clear()
        await expect_no_silent_gap(town, tear, who=f" {code}")
        assert "the feed cannot resume after its last change" in caplog.text, code


async def test_an_oplog_that_was_rolled_over(town: Town, caplog: pytest.LogCaptureFixture) -> None:
    """The feed fails for so long that what it missed is gone from the oplog."""
    oplog = town.admin["local"]["oplog.rs"]

    async def begins_after(at: Timestamp) -> bool:
        try:
            first = await oplog.find_one({}, sort=[("$natural", 1)])
        except OperationFailure as error:
            if error.code != CAPPED_POSITION_LOST:
                raise
            return False  # It was removed while it was read.
        assert first is not None
        return bool(first["ts"] > at)

    async def tear(unheard: Unheard) -> None:
        async with failing(town.admin, FEED, app_name="feed", errorCode=1):
            await unheard()
            last = await oplog.find_one({}, sort=[("$natural", -1)])
            assert last is not None
            async with asyncio.timeout(60):
                while not await begins_after(last["ts"]):
                    filling = [{"filling": secrets.token_bytes(500_000)} for _ in range(20)]
                    await town.admin["other"]["filling"].insert_many(filling)

    await expect_no_silent_gap(town, tear)
    assert "the feed cannot resume after its last change" in caplog.text


async def test_a_collection_that_is_renamed(town: Town) -> None:
    """Any of those that are followed, even one that no stream depends on."""

    async def tear(unheard: Unheard) -> None:
        async with failing(town.admin, ["aggregate"], app_name="feed", errorCode=1):
            await town.database["blocks"].rename("old_blocks")
            await unheard()

    await expect_no_silent_gap(town, tear)


async def test_a_database_that_is_dropped(town: Town) -> None:
    alice = town.person("alice")
    await alice.direct("bob")
    async with town.person("bob").tab() as tab:
        await town.admin.drop_database(town.database.name)
        await tab.end()
    await town.live_again()


async def test_a_feed_that_hangs_while_the_database_goes_on(town: Town) -> None:
    """Sends are acknowledged meanwhile; that the feed tells nothing must be noticed."""

    async def tear(unheard: Unheard) -> None:
        waits = {"blockConnection": True, "blockTimeMS": 1_500}
        async with failing(town.admin, ["getMore"], app_name="feed", **waits):
            await unheard()

    await expect_no_silent_gap(town, tear)


async def test_a_database_that_is_paused(town: Town, mongod: Mongod) -> None:
    async def tear(unheard: Unheard) -> None:
        ended = asyncio.get_running_loop().create_future()
        end_all = town.chat._live.hub.end_all

        def noticed() -> None:
            end_all()
            if not ended.done():
                ended.set_result(None)

        with patch.object(town.chat._live.hub, "end_all", noticed):
            async with stopped(mongod.pid):
                unheard_of = asyncio.create_task(unheard())
                await asyncio.wait_for(ended, PATIENCE)
        await unheard_of

    await expect_no_silent_gap(town, tear)


async def test_a_stream_that_holds_back_too_much(serve: MakePeople) -> None:
    """Its replay takes so long that more happens than it may hold."""
    person = await serve(stream_buffer_events=3, replay_buffer_seconds=0, replay_buffer_events=1)
    alice, bob = person("alice"), person("bob")
    conversation_id = await alice.direct("bob")
    await alice.send(conversation_id, "one")
    await alice.send(conversation_id, "two")
    await alice.told_all()
    replay = StorageReplays.replay
    asked, go_on = asyncio.Event(), asyncio.Event()

    async def slow(self: StorageReplays, wish: Any) -> Any:
        found = await replay(self, wish)
        asked.set()
        await asyncio.wait_for(go_on.wait(), PATIENCE)
        return found

    async def overflow() -> None:
        await asyncio.wait_for(asked.wait(), PATIENCE)
        for number in range(4):
            await alice.send(conversation_id, f"meanwhile {number}")
        await alice.send(conversation_id, LAST)
        await alice.told_all()
        go_on.set()

    overflowing = asyncio.create_task(overflow())
    position = f"{conversation_id}:1"
    with patch.object(StorageReplays, "replay", slow), suppress(EOFError, ClientError):
        async with bob.tab(position) as tab:
            frames = await tab.until(lambda frame: frame.event == "message.created")
            assert frames[-1].data["message"]["body"] == "two"
            await tab.until(lambda frame: frame.event == "message.created")
            pytest.fail("it went on, and what it could not hold is lost")
    await overflowing
    kept = await stored(bob, conversation_id)
    seen = {message_id: (seq, body) for message_id, (seq, body) in kept.items() if seq == 1}
    await expect_all(bob, conversation_id, position, seen)
