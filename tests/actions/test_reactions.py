"""Reactions: once per user and emoji, nothing lost when hundreds react at once."""

import asyncio
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import pytest

from chat_aio import Chat
from chat_aio.actions import reactions
from chat_aio.errors import ReactionLimitExceeded
from chat_aio.store import edits
from tests.conftest import Database, MakeChat, MakePeople
from tests.support.people import Person
from tests.support.saboteurs import prove

People = Callable[[str], Person]


async def test_reactions_are_grouped_earliest_first(person: People) -> None:
    alice, bob, carol = person("alice"), person("bob"), person("carol")
    message = await alice.send(await alice.group("bob", "carol"), "hi")
    await bob.react(message["id"], " 👍 ")
    await carol.react(message["id"], "🎉")
    await alice.react(message["id"], "👍")
    now = await alice.react(message["id"], "👍")
    assert now == {
        **message,
        "reactions": [
            {"emoji": "👍", "count": 2, "userIds": ["bob", "alice"]},
            {"emoji": "🎉", "count": 1, "userIds": ["carol"]},
        ],
    }
    now = await bob.unreact(message["id"], "👍")
    assert [reaction["emoji"] for reaction in now["reactions"]] == ["🎉", "👍"]
    assert await bob.unreact(message["id"], "👍") == now
    assert await carol.unreact(message["id"], "🎉") == await carol.unreact(message["id"], "none")


async def test_a_reaction_is_no_message(person: People, database: Database) -> None:
    alice, bob = person("alice"), person("bob")
    conversation_id = await alice.direct("bob")
    message = await alice.send(conversation_id, "hi")
    before = await database["counters"].find_one({"_id": conversation_id})
    await bob.react(message["id"], "👍")
    assert await database["counters"].find_one({"_id": conversation_id}) == before
    assert await alice.unread(conversation_id) == 0


@pytest.mark.parametrize("method", ["POST", "DELETE"])
@pytest.mark.parametrize(
    "body", [{}, {"emoji": ""}, {"emoji": " "}, {"emoji": "x" * 33}, {"emoji": 1}, {"emoji": ["x"]}]
)
async def test_reactions_that_are_refused(person: People, method: str, body: Any) -> None:
    message = await person("alice").send(await person("alice").direct("bob"), "hi")
    answer = await person("alice").call(method, f"/messages/{message['id']}/reactions", json=body)
    assert (answer.status, answer.code) == (400, "INVALID_INPUT")


@pytest.mark.parametrize("method", ["POST", "DELETE"])
async def test_who_may_react(person: People, method: str) -> None:
    message = await person("alice").send(await person("alice").direct("bob"), "hi")
    emoji: dict[str, Any] = {"json": {"emoji": "$x.\0" + "y" * 28}}
    path = f"/messages/{message['id']}/reactions"
    assert (await person("eve").call(method, path, **emoji)).code == "FORBIDDEN_WRITE"
    answer = await person("bob").call(method, "/messages/none/reactions", **emoji)
    assert answer.code == "MESSAGE_NOT_FOUND"
    assert (await person("bob").call(method, path, **emoji)).status == 200


@pytest.mark.parametrize("sign", ["", "$"])
async def test_a_message_has_room_for_so_many_emoji(serve: MakePeople, sign: str) -> None:
    """Also where an id or an emoji is like the name of a field."""
    person = await serve(max_emoji_per_message=3, max_emoji_per_user=2)
    alice, bob, carol = person(f"{sign}alice"), person("bob"), person("carol")
    message = await alice.send(await alice.group("bob", "carol"), "hi")
    path = f"/messages/{message['id']}/reactions"
    first = f"{sign}1"
    for who, emoji in ((alice, first), (alice, "2"), (bob, "3"), (bob, first), (alice, first)):
        await who.react(message["id"], emoji)
    for who, emoji in ((alice, "3"), (carol, "4")):
        answer = await who.post(path, {"emoji": emoji})
        assert (answer.status, answer.code) == (422, "REACTION_LIMIT_EXCEEDED")
    await alice.unreact(message["id"], "2")
    await carol.react(message["id"], "4")


async def test_a_hundred_react_to_one_message_at_once(make_chat: MakeChat) -> None:
    patient = {"storage_timeout_seconds": 60}  # 400 changes of one document, on any machine.
    chats = [await make_chat(**patient), await make_chat(**patient)]
    users = [f"user {number}" for number in range(100)]
    group = await chats[0].api.create_group_conversation("alice", user_ids=users)

    async def scenario() -> None:
        message = await chats[0].api.send_message("alice", group.id, "hi")

        async def react(number: int, emoji: str) -> None:
            api = chats[number % 2].api
            await asyncio.gather(
                api.add_reaction(users[number], message.id, emoji),
                api.add_reaction(users[number], message.id, emoji),
                api.add_reaction(users[number], message.id, "gone"),
            )
            await api.remove_reaction(users[number], message.id, "gone")

        await asyncio.gather(*(react(number, f"e{number % 5}") for number in range(100)))
        (now,) = (await chats[1].api.list_messages("alice", group.id, limit=1)).messages
        assert [reaction.count for reaction in now.reactions] == [20] * 5
        told = sorted(user_id for reaction in now.reactions for user_id in reaction.user_ids)
        assert told == sorted(users)

    await scenario()
    await prove(
        lambda: twice(chats[0], group.id), sabotage=patch.object(edits, "_absent", lambda *_: {})
    )


async def twice(chat: Chat, conversation_id: str) -> None:
    """One user, one emoji, many times at once."""
    message = await chat.api.send_message("alice", conversation_id, "hi")
    await asyncio.gather(*(chat.api.add_reaction("alice", message.id, "x") for _ in range(20)))
    (now,) = (await chat.api.list_messages("alice", conversation_id, limit=1)).messages
    assert [reaction.count for reaction in now.reactions] == [1]


async def test_the_limit_holds_at_once(make_chat: MakeChat) -> None:
    chat = await make_chat(max_emoji_per_message=10, max_emoji_per_user=4)
    users = [f"user {number}" for number in range(10)]
    group = await chat.api.create_group_conversation("alice", user_ids=users)

    async def scenario() -> None:
        message = await chat.api.send_message("alice", group.id, "hi")
        outcomes = await asyncio.gather(
            *(
                chat.api.add_reaction(user_id, message.id, f"{place} {emoji}")
                for place, user_id in enumerate(users)
                for emoji in range(6)
            ),
            return_exceptions=True,
        )
        refused = [outcome for outcome in outcomes if isinstance(outcome, ReactionLimitExceeded)]
        (now,) = (await chat.api.list_messages("alice", group.id, limit=1)).messages
        assert (len(now.reactions), len(refused)) == (10, 50)
        of_users = [reaction.user_ids[0] for reaction in now.reactions]
        assert max(map(of_users.count, of_users)) <= 4

    await prove(scenario, sabotage=patch.object(edits, "_room", lambda *_: {}))


async def test_a_message_has_so_many_reactions_in_all(make_chat: MakeChat) -> None:
    chat = await make_chat(max_reactions_per_message=10)
    users = [f"user {number}" for number in range(20)]
    group = await chat.api.create_group_conversation("alice", user_ids=users)

    async def scenario() -> None:
        message = await chat.api.send_message("alice", group.id, "hi")
        outcomes = await asyncio.gather(
            *(chat.api.add_reaction(user, message.id, "👍") for user in users),
            return_exceptions=True,
        )
        refused = [outcome for outcome in outcomes if isinstance(outcome, ReactionLimitExceeded)]
        (now,) = (await chat.api.list_messages("alice", group.id, limit=1)).messages
        assert ([reaction.count for reaction in now.reactions], len(refused)) == ([10], 10)
        here = now.reactions[0].user_ids[0]
        assert await chat.api.add_reaction(here, message.id, "👍") == now
        await chat.api.remove_reaction(here, message.id, "👍")
        await chat.api.add_reaction("alice", message.id, "👎")

    await prove(scenario, sabotage=patch.object(edits, "_room", lambda *_: {}))


async def test_one_reaction_is_added_and_taken_back_at_once(make_chat: MakeChat) -> None:
    """Many callers, one user, one emoji: each is answered as if it had been alone."""
    chat = await make_chat()
    group = await chat.api.create_group_conversation("alice")
    message = await chat.api.send_message("alice", group.id, "hi")
    for _ in range(10):
        await asyncio.gather(
            *(chat.api.add_reaction("alice", message.id, "x") for _ in range(8)),
            *(chat.api.remove_reaction("alice", message.id, "x") for _ in range(8)),
        )
    assert (await chat.api.add_reaction("alice", message.id, "x")).reactions[0].count == 1


async def test_a_reaction_that_goes_between_the_update_and_a_second_look(
    make_chat: MakeChat,
) -> None:
    chat = await make_chat()
    group = await chat.api.create_group_conversation("alice")
    add = edits.add_reaction

    async def add_and_lose(*args: Any, **given: Any) -> Any:
        changed = await add(*args, **given)
        if changed is None:
            await chat.api.remove_reaction("alice", args[1], "x")
        return changed

    async def scenario() -> None:
        message = await chat.api.send_message("alice", group.id, "hi")
        await chat.api.add_reaction("alice", message.id, "x")
        with patch.object(edits, "add_reaction", add_and_lose):
            outcome = await asyncio.gather(
                chat.api.add_reaction("alice", message.id, "x"), return_exceptions=True
            )
        assert not isinstance(outcome[0], ReactionLimitExceeded)

    await prove(scenario, sabotage=patch.object(reactions, "_is_room", lambda *_: False))
