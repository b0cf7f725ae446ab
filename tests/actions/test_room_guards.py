"""The guards of room controls: many callers at once, then the same without the guard."""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager
from unittest.mock import AsyncMock, patch

from chat_aio import Chat
from chat_aio.actions import join_requests, membership
from chat_aio.errors import ConversationFrozen
from chat_aio.store import edits
from chat_aio.store.sequencer import Sequencer
from tests.actions.test_membership_guards import outcomes
from tests.conftest import MakeChat
from tests.support.saboteurs import append_without_fence, prove

ROUNDS = 8


async def two(make_chat: MakeChat) -> list[Chat]:
    return [await make_chat(room_controls=True), await make_chat(room_controls=True)]


async def test_nothing_is_sent_past_a_freeze(make_chat: MakeChat) -> None:
    """The other process still has the conversation as it was before."""
    here, there = await two(make_chat)

    async def scenario() -> None:
        group = await here.api.create_group_conversation("alice", user_ids=["bob"])
        old = await there._context.snapshots.find_fresh(group.id)
        await here.rooms.update_conversation("alice", group.id, frozen=True)
        with patch.object(there._context.snapshots, "find", AsyncMock(return_value=old)):
            sent = await outcomes(
                there.api.send_message("bob", group.id, f"{number}") for number in range(10)
            )
        assert sent == {ConversationFrozen.__name__: 10}

    await prove(scenario, sabotage=patch.object(Sequencer, "append", append_without_fence))


async def test_nothing_is_edited_past_a_freeze(make_chat: MakeChat) -> None:
    here, there = await two(make_chat)

    async def scenario() -> None:
        group = await here.api.create_group_conversation("alice", user_ids=["bob"])
        mine = await there.api.send_message("bob", group.id, "mine")
        old = await there._context.snapshots.find_fresh(group.id)
        await here.rooms.update_conversation("alice", group.id, frozen=True)
        with patch.object(there._context.snapshots, "find", AsyncMock(return_value=old)):
            edited = await outcomes([there.api.edit_message("bob", mine.id, "changed")])
        assert edited == {ConversationFrozen.__name__: 1}

    async def unfenced(database: object, _: object, *given: object, **__: object) -> object:
        return await edits.change_live(database, *given, history=None)  # type: ignore[arg-type]

    await prove(scenario, sabotage=patch.object(edits, "change_live_fenced", unfenced))


async def test_nobody_comes_in_past_a_ban(make_chat: MakeChat) -> None:
    """By any way, while an admin of the other process bans them."""
    here, there = await two(make_chat)

    async def one_round(way: Callable[[str, str], Awaitable[object]]) -> None:
        group = await here.api.create_group_conversation(
            "alice", visibility="public", join_policy="open"
        )
        link = await here.api.create_invite("alice", group.id)
        await outcomes(
            [
                way(group.id, link.code),
                here.rooms.ban_from_conversation("alice", group.id, "bob"),
                way(group.id, link.code),
            ]
        )
        await outcomes([way(group.id, link.code)])
        assert "bob" not in (await there.api.get_conversation("alice", group.id)).roles
        waiting = await there.api.list_join_requests("alice", group.id)
        assert waiting.join_requests == ()
        bans = await there.rooms.list_conversation_bans("alice", group.id)
        assert [each.user_id for each in bans.conversation_bans] == ["bob"]

    ways: list[Callable[[str, str], Awaitable[object]]] = [
        lambda group, _: there.api.join_conversation("bob", group),
        lambda _, code: there.api.accept_invite("bob", code),
        lambda group, _: there.api.add_participants("alice", group, ["bob"]),
        lambda group, _: there.api.request_to_join("bob", group),
    ]
    for way in ways:

        async def scenario(way: Callable[[str, str], Awaitable[object]] = way) -> None:
            for _ in range(ROUNDS):
                await one_round(way)

        await prove(scenario, sabotage=_all_ways_open())


@contextmanager
def _all_ways_open() -> Iterator[None]:
    with ExitStack() as stack:
        for module in (membership, join_requests):
            stack.enter_context(patch.object(module, "require_admissible", AsyncMock()))
        yield
