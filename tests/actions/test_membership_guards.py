"""The guards of membership: many callers at once, then the same without the guard."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Iterable
from contextlib import ExitStack, asynccontextmanager
from typing import Any, Literal
from unittest.mock import AsyncMock, patch

from chat_aio import Chat
from chat_aio.actions import groups, invites, join_requests, membership
from chat_aio.errors import (
    ChatError,
    InviteExpired,
    InviteLimitExceeded,
    JoinRequestNotFound,
    LastAdminRemaining,
    NotConversationAdmin,
)
from chat_aio.schema.models import JoinRequest, JoinRequestStatus
from chat_aio.store import membership as store_membership
from chat_aio.store.sequencer import Sequencer
from tests.conftest import MakeChat
from tests.support.saboteurs import prove

DECISIONS: list[Literal["approve", "deny"]] = ["approve", "deny", "deny", "approve"]
STATUSES: list[JoinRequestStatus] = ["pending", "approved", "denied"]


async def outcomes(calls: Iterable[Awaitable[Any]]) -> Counter[str]:
    """How often each came out: a status, or an error's name; anything unexpected is raised."""
    counted: Counter[str] = Counter()
    for result in await asyncio.gather(*calls, return_exceptions=True):
        if isinstance(result, BaseException) and not isinstance(result, ChatError):
            raise result
        status = getattr(result, "status", "done")
        counted[type(result).__name__ if isinstance(result, ChatError) else str(status)] += 1
    return counted


async def two(make_chat: MakeChat) -> list[Chat]:
    return [await make_chat(), await make_chat()]


async def test_a_link_lets_in_as_many_as_it_says(make_chat: MakeChat) -> None:
    chats = await two(make_chat)

    async def scenario() -> None:
        group = await chats[0].api.create_group_conversation("alice")
        link = await chats[0].api.create_invite("alice", group.id, max_uses=7)
        redeemed = await outcomes(
            chats[number % 2].api.accept_invite(f"user {number}", link.code) for number in range(60)
        )
        (found,) = await chats[0].api.list_invites("alice", group.id)
        inside = (await chats[1].api.get_conversation("alice", group.id)).roles
        assert (found.uses, len(inside) - 1) == (7, 7)
        assert redeemed == {"joined": 7, InviteExpired.__name__: 53}

    unlimited = patch.object(invites, "_is_spent", lambda *_, **__: False)
    await prove(scenario, sabotage=unlimited)


async def test_accepting_twice_burns_one_use(make_chat: MakeChat) -> None:
    chats = await two(make_chat)
    group = await chats[0].api.create_group_conversation("alice")
    for approval in (False, True):
        link = await chats[0].api.create_invite("alice", group.id, requires_approval=approval)
        user_id = f"user of {approval}"
        came = await outcomes(
            chats[number % 2].api.accept_invite(user_id, link.code) for number in range(20)
        )
        assert came == {"pending" if approval else "joined": 20}
    assert [invite.uses for invite in await chats[0].api.list_invites("alice", group.id)] == [1, 1]
    assert len((await chats[0].api.list_join_requests("alice", group.id)).join_requests) == 1


async def test_a_group_has_so_many_invites_at_once(make_chat: MakeChat) -> None:
    chats = await two(make_chat)

    async def scenario() -> None:
        group = await chats[0].api.create_group_conversation("alice")
        made = await outcomes(
            chats[number % 2].api.create_invite("alice", group.id) for number in range(70)
        )
        assert made == {"done": 50, InviteLimitExceeded.__name__: 20}
        assert len(await chats[0].api.list_invites("alice", group.id)) == 50

    with ExitStack() as sabotage:
        await scenario()
        sabotage.enter_context(patch.object(Sequencer, "hold", no_turn))
        sabotage.enter_context(patch.object(store_membership, "_lock", no_lock))
        await prove_red(scenario)


@asynccontextmanager
async def no_turn(*_: object) -> AsyncIterator[None]:
    yield


async def no_lock(database: Any, conversation_id: str, grows: object, session: Any) -> Any:
    """Reads the head where it should be locked."""
    here = {"_id": conversation_id}
    return (
        await database.counters.find_one(here, session=session),
        await database.conversations.find_one(here, session=session),
    )


async def prove_red(scenario: Any) -> None:
    try:
        await scenario()
    except AssertionError:
        return
    raise RuntimeError("the scenario holds without its guard")


async def test_two_admins_leaving_at_once_leave_one(make_chat: MakeChat) -> None:
    chats = await two(make_chat)

    async def scenario() -> None:
        for _ in range(5):
            group = await chats[0].api.create_group_conversation("alice", user_ids=["bob"])
            await chats[0].api.set_participant_role("alice", group.id, "bob", "admin")
            left = await outcomes(
                chats[place].api.remove_participant(user_id, group.id, user_id)
                for place, user_id in enumerate(("alice", "bob"))
            )
            assert left == {"done": 1, LastAdminRemaining.__name__: 1}

    await prove(scenario, sabotage=patch.object(groups, "require_another_admin", lambda *_: None))


async def test_who_is_no_admin_any_more_changes_nothing(make_chat: MakeChat) -> None:
    """Bob is removed between the check of his removal of carol and its lock."""
    chat = await make_chat()

    async def scenario() -> None:
        group = await chat.api.create_group_conversation("alice", user_ids=["bob", "carol"])
        await chat.api.set_participant_role("alice", group.id, "bob", "admin")

        async def late(*given: Any) -> Any:
            with patch.object(groups, "change_membership", membership.change_membership):
                await chat.api.remove_participant("alice", group.id, "bob")
            return await membership.change_membership(*given)

        with patch.object(groups, "change_membership", late):
            removed = await outcomes([chat.api.remove_participant("bob", group.id, "carol")])
        assert removed == {NotConversationAdmin.__name__: 1}
        now = await chat.api.get_conversation("alice", group.id)
        assert list(now.roles) == ["alice", "carol"]

    await prove(
        scenario,
        sabotage=patch.object(groups, "require_still_managing", lambda *_: None),
    )


async def test_who_is_no_admin_any_more_invites_nobody(make_chat: MakeChat) -> None:
    """Bob is removed between the check of his invite and its lock."""
    chat = await make_chat()

    async def scenario() -> None:
        group = await chat.api.create_group_conversation("alice", user_ids=["bob"])
        await chat.api.set_participant_role("alice", group.id, "bob", "admin")

        async def late(*args: Any) -> Any:
            await chat.api.remove_participant("alice", group.id, "bob")
            return await membership.write_locked(*args)

        with patch.object(invites, "write_locked", late):
            made = await outcomes([chat.api.create_invite("bob", group.id)])
        assert made == {NotConversationAdmin.__name__: 1}
        assert await chat.api.list_invites("alice", group.id) == ()

    sabotage = patch.object(invites, "require_still_inviting", lambda *_: None)
    await prove(scenario, sabotage=sabotage)


async def test_what_changes_nothing_is_answered_once_a_majority_has_it(chat: Chat) -> None:
    """It may confirm what another process has written, and a failover could still undo."""
    group = await chat.api.create_group_conversation("alice", user_ids=["bob"])
    settle = AsyncMock(wraps=chat._context.database.wait_for_majority)
    with patch.object(chat._context.database, "wait_for_majority", settle):
        await chat.api.add_participants("alice", group.id, ["bob"])
        assert settle.await_count == 1
        await chat.api.add_participants("alice", group.id, ["carol"])
        assert settle.await_count == 1


async def test_of_approve_and_deny_one_wins(make_chat: MakeChat) -> None:
    chats = await two(make_chat)

    async def scenario() -> None:
        group = await chats[0].api.create_group_conversation("alice")
        for number in range(10):
            user_id = f"user {number}"
            await chats[0].api.request_to_join(user_id, group.id)
            decided = await outcomes(
                chats[place % 2].api.resolve_join_request("alice", group.id, user_id, decision)
                for place, decision in enumerate(DECISIONS)
            )
            assert decided == {"done": 1, JoinRequestNotFound.__name__: 3}
            inside = (await chats[1].api.get_conversation("alice", group.id)).roles
            (request,) = await requests_of(chats[0], group.id, user_id)
            assert (user_id in inside) is (request.status == "approved")

    await prove(scenario, sabotage=patch.object(join_requests, "_load_pending", load_any))


async def load_any(locked: Any, user_id: str) -> Any:
    return await locked.database.join_requests.find_one(
        {"conversationId": locked.conversation["_id"], "userId": user_id}, session=locked.session
    )


async def requests_of(chat: Chat, group: str, user_id: str) -> list[JoinRequest]:
    """A user's requests for a group, of whatever status; there is one at most."""
    found: list[JoinRequest] = []
    for status in STATUSES:
        page = await chat.api.list_join_requests("alice", group, status=status)
        found += [
            join_request for join_request in page.join_requests if join_request.user_id == user_id
        ]
    return found


async def test_asking_many_times_at_once_is_one_request(make_chat: MakeChat) -> None:
    chats = await two(make_chat)
    group = await chats[0].api.create_group_conversation("alice", visibility="public")
    asked = await outcomes(
        (
            chats[number % 2].api.request_to_join("bob", group.id)
            if number % 3
            else chats[number % 2].api.join_conversation("bob", group.id)
        )
        for number in range(30)
    )
    assert asked == {"pending": 30}
    assert len(await requests_of(chats[0], group.id, "bob")) == 1


async def test_callers_who_ask_at_once_get_the_same_request(make_chat: MakeChat) -> None:
    """A later one would replace it, and its admins would be notified once more."""
    chats = await two(make_chat)
    group = await chats[0].api.create_group_conversation("alice", visibility="public")
    requests = await asyncio.gather(
        *(chats[number % 2].api.request_to_join("bob", group.id) for number in range(30))
    )
    assert len({request.id for request in requests}) == 1


async def test_a_channel_that_closes_lets_nobody_in_afterwards(make_chat: MakeChat) -> None:
    chats = await two(make_chat)
    for _ in range(5):
        group = await chats[0].api.create_group_conversation(
            "alice", visibility="public", join_policy="open"
        )

        async def close(group: Any = group) -> int:
            closed = await chats[0].api.update_conversation(
                "alice", group.id, join_policy="approval"
            )
            return len(closed.roles)

        inside, *_ = await asyncio.gather(
            close(),
            *(
                chats[number % 2].api.join_conversation(f"u{number}", group.id)
                for number in range(16)
            ),
        )
        now = await chats[1].api.get_conversation("alice", group.id)
        assert len(now.roles) == inside
        page = await chats[0].api.list_join_requests("alice", group.id)
        assert len(page.join_requests) == 16 - (inside - 1)
