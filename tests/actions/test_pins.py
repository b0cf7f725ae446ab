"""Pinned messages and topics, with `room_controls`."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from tests.conftest import Database, MakePeople
from tests.support.people import Answer, Person

People = Callable[[str], Person]


@pytest.fixture
async def person(serve: MakePeople) -> People:
    return await serve(room_controls=True)


async def pin(who: Person, conversation_id: str, message_id: str) -> Answer:
    return await who.post(f"/conversations/{conversation_id}/pins", {"messageId": message_id})


async def unpin(who: Person, conversation_id: str, message_id: str) -> Answer:
    return await who.call("DELETE", f"/conversations/{conversation_id}/pins/{message_id}")


async def pinned(who: Person, conversation_id: str) -> list[dict[str, Any]]:
    answer = await who.get(f"/conversations/{conversation_id}/pins")
    assert answer.status == 200, answer
    return list(answer.json["messages"])


async def ids(who: Person, conversation_id: str) -> list[str]:
    """The pins, which everybody sees at the conversation and in the list of them."""
    shown = (await who.get(f"/conversations/{conversation_id}")).json["conversation"]
    assert shown["pinnedMessageIds"] == [
        message["id"] for message in await pinned(who, conversation_id)
    ]
    return list(shown["pinnedMessageIds"])


async def test_pins_are_told_and_listed_the_latest_first(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    group = await alice.group("bob")
    first = await alice.send(group, "one")
    second = await bob.send(group, "two", threadRootMessageId=first["id"])
    async with bob.tab() as tab:
        for message in (first, second):
            assert (await pin(alice, group, message["id"])).status == 200
        told = [await tab.event("conversation.updated") for _ in range(2)]
        assert (await pin(alice, group, first["id"])).status == 200  # Told once, and not moved.
        await unpin(alice, group, "not pinned")
        await unpin(alice, group, second["id"])
        told.append(await tab.event("conversation.updated"))
    expected = [[first["id"]], [second["id"], first["id"]], [first["id"]]]
    assert [event["conversation"]["pinnedMessageIds"] for event in told] == expected
    assert {event["actorId"] for event in told} == {"alice"}
    assert await ids(bob, group) == [first["id"]]


async def test_who_pins(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    group, direct = await alice.group("bob"), await alice.direct("bob")
    for here in (group, direct):
        sent = await bob.send(here, "a word")
        assert (await pin(alice, here, sent["id"])).status == 200
    refused = await pin(bob, group, sent["id"])
    assert (refused.status, refused.code) == (403, "NOT_CONVERSATION_ADMIN")
    assert (await unpin(bob, direct, sent["id"])).status == 200
    assert (await pin(alice, group, sent["id"])).code == "MESSAGE_NOT_FOUND"
    await bob.post("/moderation/blocks", {"targetUserId": "alice"})
    for act in (pin, unpin):
        for who in (alice, bob):
            assert (await act(who, direct, sent["id"])).code == "DIRECT_INTERACTION_BLOCKED"


async def test_fifty_are_pinned_at_most_however_many_come_at_once(person: People) -> None:
    alice = person("alice")
    group = await alice.group("bob")
    sent = [(await alice.send(group, f"m{number}"))["id"] for number in range(54)]
    answers = await asyncio.gather(*(pin(alice, group, message_id) for message_id in sent))
    assert sorted(answer.status for answer in answers) == [200] * 50 + [422] * 4
    assert {answer.code for answer in answers if answer.status == 422} == {"PIN_LIMIT_EXCEEDED"}
    assert len(await ids(alice, group)) == 50


async def test_deleted_ones_stay_and_removed_ones_give_way(
    person: People, database: Database
) -> None:
    alice = person("alice")
    group = await alice.group("bob")
    sent = [(await alice.send(group, f"m{number}"))["id"] for number in range(51)]
    for message_id in sent[:50]:
        await pin(alice, group, message_id)
    await alice.delete(sent[0])
    assert [message["deletedAt"] is None for message in await pinned(alice, group)] == [
        True
    ] * 49 + [False]
    await database["messages"].delete_one({"_id": sent[1]})  # As retention does.
    assert len(await pinned(alice, group)) == 49
    assert (await pin(alice, group, sent[50])).status == 200
    assert await ids(alice, group) == [sent[50], *sent[49:1:-1], sent[0]]


async def test_an_admin_who_is_none_any_more_does_not_pin(person: People) -> None:
    """Also at the same moment: what is pinned after the answer to the demotion is not theirs."""
    alice, bob = person("alice"), person("bob")
    group = await alice.group("bob")
    sent = [(await alice.send(group, f"m{number}"))["id"] for number in range(12)]
    here = f"/conversations/{group}/participants"
    await alice.call("PATCH", here, json={"userId": "bob", "role": "admin"})

    async def demote() -> list[str]:
        await alice.call("PATCH", here, json={"userId": "bob", "role": "member"})
        return await ids(alice, group)

    pins = asyncio.gather(*(pin(bob, group, message_id) for message_id in sent))
    at_the_answer, answers = await asyncio.gather(demote(), pins)
    assert {answer.status for answer in answers} <= {200, 403}
    assert await ids(alice, group) == at_the_answer


async def test_a_topic_is_set_told_and_cleared(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    group = await alice.group("bob")

    async def set_topic(topic: object) -> Answer:
        return await alice.call("PATCH", f"/conversations/{group}", json={"topic": topic})

    shown = (await bob.get(f"/conversations/{group}")).json["conversation"]
    assert (shown["topic"], shown["pinnedMessageIds"]) == ("", [])
    async with bob.tab() as tab:
        assert (await set_topic("  Engines ")).json["conversation"]["topic"] == "Engines"
        assert (await tab.event("conversation.updated"))["conversation"]["topic"] == "Engines"
        await set_topic("Engines")  # Told once.
        await set_topic("")
        assert (await tab.event("conversation.updated"))["conversation"]["topic"] == ""
    for wrong in ("x" * 501, 7):
        assert (await set_topic(wrong)).code == "INVALID_INPUT"
    assert (await set_topic("x" * 500)).status == 200


async def test_without_the_option_there_is_nothing_of_it(serve: MakePeople) -> None:
    alice = (await serve())("alice")
    group = await alice.group("bob")
    sent = await alice.send(group, "a word")
    assert (await pin(alice, group, sent["id"])).status == 404
    shown = (await alice.get(f"/conversations/{group}")).json["conversation"]
    assert not {"topic", "pinnedMessageIds"} & shown.keys()


async def test_a_pin_of_another_conversation_shows_nothing(
    person: People, database: Database
) -> None:
    """Another program may write one."""
    alice, carol = person("alice"), person("carol")
    group = await alice.group("bob")
    secret = await carol.send(await carol.group("dave"), "secret words")
    pins = {"$set": {"pins": [secret["id"]]}}
    await database["conversations"].update_one({"_id": group}, pins)
    assert await pinned(alice, group) == []
