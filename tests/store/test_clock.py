"""One clock, the primary's: processes whose own clocks are wrong agree on what has expired."""

import asyncio
import time
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from typing import Any

import pytest

from chat_aio import Chat, Hooks, Options
from chat_aio.actions import editing
from chat_aio.errors import InviteExpired, UserBanned
from chat_aio.store import clock as module
from chat_aio.store import edits
from chat_aio.store.clock import PrimaryClock
from chat_aio.store.documents import Change
from chat_aio.store.edits import NewText
from tests.conftest import Database
from tests.support.people import PATIENCE, caught_up

AHEAD = 30.0


class WrongTime:
    """A machine's clock that is off by some seconds; its monotonic clock is as good as any."""

    def __init__(self, off: float) -> None:
        self._off = off

    def time(self) -> float:
        return time.time() + self._off

    def monotonic(self) -> float:
        return time.monotonic()


@pytest.fixture(params=[AHEAD, -AHEAD], ids=["ahead", "behind"])
async def wrong(
    request: pytest.FixtureRequest, database: Database, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Chat]:
    """A chat on a machine whose clock is wrong."""
    monkeypatch.setattr(module, "time", WrongTime(request.param))
    hooks = Hooks(can_moderate=lambda asked: asked.user_id == "mod")
    async with Chat(database, hooks=hooks, options=Options(replay_buffer_seconds=1)) as chat:
        yield chat


async def primary_time(database: Database) -> datetime:
    found: datetime = (await database.client.admin.command("hello"))["localTime"]
    return found.replace(tzinfo=None)


async def test_a_wrong_clock_dates_nothing(wrong: Chat, database: Database) -> None:
    before = await primary_time(database)
    group = await wrong.api.create_group_conversation("alice")
    sent = await wrong.api.send_message("alice", group.id, "hi")
    after = await primary_time(database)
    slack = timedelta(seconds=1)
    for at in (group.created_at, sent.created_at):
        assert before - slack <= at.replace(tzinfo=None) <= after + slack


async def test_a_ban_and_an_invite_last_as_long_as_they_say(
    wrong: Chat, database: Database
) -> None:
    """On the process whose clock is wrong, and made by another program in the primary's time."""
    now = await primary_time(database)
    row = {"_id": "b", "userId": "bob", "createdByUserId": "mod", "reason": None}
    at = {"createdAt": now - timedelta(hours=1), "expiresAt": now + timedelta(seconds=AHEAD - 5)}
    over = {"revokedAt": None, "revokedByUserId": None}
    await database["bans"].insert_one({**row, **at, **over})
    await caught_up(wrong)
    # What still holds ends so late that a busy machine comes in time; what ends is another one.
    with pytest.raises(UserBanned):
        await wrong.api.list_conversations("bob")
    group = await wrong.api.create_group_conversation("alice")
    lasting = await wrong.api.create_invite("alice", group.id, expires_in_seconds=int(AHEAD) - 5)
    assert (await wrong.api.get_invite_preview("carol", lasting.code)).conversation_id == group.id
    until = (await primary_time(database)) + timedelta(seconds=2)
    await database["bans"].update_one({"_id": "b"}, {"$set": {"expiresAt": until}})
    await caught_up(wrong)
    made = await primary_time(database)
    invite = await wrong.api.create_invite("alice", group.id, expires_in_seconds=2)
    while await wrong._context.bans.is_banned("bob"):
        assert await primary_time(database) < until + timedelta(seconds=PATIENCE)
        await asyncio.sleep(0.01)
    assert await primary_time(database) >= until - timedelta(milliseconds=100)
    assert invite.expires_at is not None
    expires_at = invite.expires_at.replace(tzinfo=until.tzinfo)
    assert expires_at >= made + timedelta(seconds=2) - timedelta(milliseconds=100)
    async with asyncio.timeout(PATIENCE):
        while await primary_time(database) <= expires_at:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    with pytest.raises(InviteExpired):
        await wrong.api.get_invite_preview("carol", invite.code)


async def test_times_of_a_message_never_fall(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the clocks of two processes say: they are handed out here, and one runs behind."""
    noon = datetime.fromisoformat("2026-01-31T12:00:00+00:00")

    async def scenario() -> list[Any]:
        behind, ahead = noon - timedelta(seconds=AHEAD), noon + timedelta(seconds=AHEAD)
        async with (
            Chat(database, clock=lambda: ahead, options=Options(replay_buffer_seconds=1)) as fast,
            Chat(database, clock=lambda: behind, options=Options(replay_buffer_seconds=1)) as slow,
        ):
            group = await fast.api.create_group_conversation("alice")
            sent = await fast.api.send_message("alice", group.id, "hi")
            edited = await slow.api.edit_message("alice", sent.id, "edited")
            again = await fast.api.edit_message("alice", sent.id, "again")
            deleted = await slow.api.delete_message("alice", sent.id)
            return [sent.created_at, edited.edited_at, again.edited_at, deleted.deleted_at]

    times = await scenario()
    assert times == sorted(times)
    monkeypatch.setattr(editing, "later_than", lambda message, at: at)
    monkeypatch.setattr(edits, "_unchanged_after", lambda at: {})
    times = await scenario()
    assert times != sorted(times)


async def test_an_edit_and_a_delete_at_once_keep_their_order(database: Database) -> None:
    """A process whose clock is behind deletes what the other is editing: of many tries none has a
    deletion before an edit."""
    noon = datetime.fromisoformat("2026-01-31T12:00:00+00:00")
    behind = noon - timedelta(seconds=AHEAD)
    async with (
        Chat(database, clock=lambda: noon, options=Options(replay_buffer_seconds=1)) as fast,
        Chat(database, clock=lambda: behind, options=Options(replay_buffer_seconds=1)) as slow,
    ):
        group = await fast.api.create_group_conversation("alice")
        for _ in range(20):
            sent = await slow.api.send_message("alice", group.id, "hi")
            await asyncio.gather(
                *(fast.api.edit_message("alice", sent.id, "x") for _ in range(3)),
                slow.api.delete_message("alice", sent.id),
                return_exceptions=True,
            )
            found = await database["messages"].find_one({"_id": sent.id})
            assert found is not None
            assert found["createdAt"] <= (found["editedAt"] or found["createdAt"])
            assert (found["editedAt"] or found["createdAt"]) <= found["deletedAt"]


async def test_the_times_of_a_message_never_fall(database: Database) -> None:
    """A change that is dated before the last one is not written: its process tries it again with a
    later time."""
    async with Chat(database, options=Options(replay_buffer_seconds=1)) as chat:
        group = await chat.api.create_group_conversation("alice")
        sent = await chat.api.send_message("alice", group.id, "hi")
        await chat.api.edit_message("alice", sent.id, "edited")
        found: Any = await database["messages"].find_one({"_id": sent.id})
        at = found["changedAt"] - timedelta(milliseconds=1)
        earlier: Change = {"id": "c", "at": at, "kind": "message.updated", "actorId": "alice"}
        store = chat._context.database
        edit = edits.edited(NewText("no", None), change=earlier, mentions=(), metadata={})
        assert await edits.change_live(store, found, edit, history=None) is None
        assert await edits.delete(store, sent.id, change=earlier, history=None) is None
        assert await database["messages"].find_one({"_id": sent.id}) == found


async def test_an_answer_that_took_long_sets_no_clock(database: Database) -> None:
    class Slow:
        async def hello(self, *, seconds: float) -> Any:
            return {"localTime": datetime.fromisoformat("2001-01-01T00:00:00+00:00")}

    clock = PrimaryClock()
    before = clock()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "TELLING_SECONDS", -1.0)
        await clock.set(Slow())  # type: ignore[arg-type]
    assert clock() >= before
    await clock.set(Slow())  # type: ignore[arg-type]
    assert clock().year == 2001
