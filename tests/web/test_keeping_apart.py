"""The options that keep people apart: who have blocked one another, who have not written yet."""

from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import pytest
from pymongo.asynchronous.database import AsyncDatabase

from chat_aio.plugins import Presence, Receipts, Typing, typing_indicator
from tests.conftest import MakePeople
from tests.plugins.test_presence import shown
from tests.support.people import Answer, Person, Tab

People = Callable[[str], Person]
EPHEMERAL = ("typing.", "receipt.", "presence.")


def plugins() -> list[Any]:
    return [Typing(), Receipts(), Presence(offline_delay_ms=0)]


async def block(who: Person, target: str, *, method: str = "POST") -> None:
    answer = await who.call(method, "/moderation/blocks", json={"targetUserId": target})
    assert answer.status == 200, answer


async def typed(who: Person, conversation_id: str) -> None:
    assert (await who.post(f"/conversations/{conversation_id}/typing")).status == 200


async def heard_until(tab: Tab, body: str) -> list[tuple[str, str]]:
    """The ephemeral events, with who sent them, up to a message."""
    frames = await tab.until(
        lambda frame: frame.event == "message.created" and frame.data["message"]["body"] == body
    )
    told = [frame for frame in frames if frame.event and frame.event.startswith(EPHEMERAL)]
    return [(str(frame.event), frame.data["senderId"]) for frame in told]


@pytest.mark.parametrize("blocker", ["alice", "bob"])
@pytest.mark.parametrize("is_on", [True, False])
async def test_nothing_passes_between_two_who_have_blocked_one_another(
    serve: MakePeople, is_on: bool, blocker: str
) -> None:
    """In a group that they share, with carol as a witness, on two processes."""
    places = [await serve(plugins=plugins(), hide_blocked_users=is_on) for _ in range(2)]
    one, two = places
    alice = one("alice")
    group = await alice.group("bob", "carol", "dave")
    await block(one(blocker), "bob" if blocker == "alice" else "alice")
    said = (await one("dave").send(group, "position"))["id"]
    async with two("bob").tab() as his, two("carol").tab() as hers:
        async with alice.tab():
            await hers.until(lambda f: (f.event, (f.data or {}).get("senderId")) == ONLINE)
            await typed(alice, group)
            await hers.until(lambda frame: frame.event == "typing.started")
            await alice.read(group, said)
            await hers.until(lambda frame: frame.event == "receipt.read")
            assert await online(two("carol"), "alice") is True
            assert await online(two("bob"), "alice") is (True if is_on is False else None)
        await hers.until(lambda frame: frame.event == "presence.offline")
        await one("dave").send(group, "the end")
        heard = [pair for pair in await heard_until(his, "the end") if pair[1] == "alice"]
    names = ["presence.online", "typing.started", "receipt.read", "presence.offline"]
    assert [name for name, _ in heard] == ([] if is_on else names)


ONLINE = ("presence.online", "alice")


async def online(who: Person, other: str) -> bool | None:
    """What is said of somebody's presence, None where nothing is."""
    entry = (await shown(who, other)).get(other)
    return entry and entry["online"]


async def test_a_delivery_is_not_told_to_whom_one_has_blocked(serve: MakePeople) -> None:
    person = await serve(plugins=[Receipts()], hide_blocked_users=True)
    alice, bob = person("alice"), person("bob")
    group = await alice.group("bob", "carol")
    await block(bob, "alice")
    async with alice.tab() as hers, bob.tab(), person("carol").tab():
        await alice.send(group, "hi")
        frames = await hers.until(lambda frame: frame.event == "receipt.delivered")
        assert frames[-1].data["senderId"] == "carol"
        await alice.send(group, "the end")
        assert {sender for _, sender in await heard_until(hers, "the end")} <= {"carol"}


@patch.object(typing_indicator, "AGAIN_SECONDS", 0.0)
async def test_a_block_and_its_end_are_known_to_every_process_at_once(serve: MakePeople) -> None:
    """Each process remembers who is apart until it is told of a change."""
    one, two = [await serve(plugins=[Typing()], hide_blocked_users=True) for _ in range(2)]
    alice = one("alice")
    group = await alice.group("bob", "carol")
    async with two("bob").tab() as his, two("carol").tab() as hers:
        for round_ in range(3):
            await typed(alice, group)
            for tab in (his, hers):
                await tab.event("typing.started")
            await block(alice, "bob")
            for _ in range(2):
                await typed(alice, group)
                await hers.event("typing.started")
            await block(alice, "bob", method="DELETE")
            await alice.send(group, f"{round_}")
            for tab in (his, hers):
                assert await heard_until(tab, f"{round_}") == []


async def test_who_is_apart_is_not_brought_together(serve: MakePeople) -> None:
    person = await serve(hide_blocked_users=True)
    alice, bob, carol = person("alice"), person("bob"), person("carol")
    await block(bob, "alice")
    group = await alice.group("carol")
    before = (await alice.get("/conversations")).json

    async def add(who: Person, *user_ids: str) -> Answer:
        return await who.post(f"/conversations/{group}/participants", {"userIds": user_ids})

    for who, other in ((alice, "bob"), (bob, "alice")):
        made = await who.post("/conversations/group", {"userIds": ["dave", other]})
        assert (made.status, made.code) == (403, "DIRECT_INTERACTION_BLOCKED")
    answer = await add(alice, "dave", "bob")
    assert (answer.status, answer.code) == (403, "DIRECT_INTERACTION_BLOCKED")
    assert (await alice.get("/conversations")).json == before
    assert (await bob.get("/conversations")).json["conversations"] == []

    await person("carol").chat.api.set_participant_role("alice", group, "carol", "admin")
    assert (await add(carol, "bob")).status == 200  # Of blocks between others nobody learns.
    assert (await add(alice, "bob")).status == 200  # Who is in already is not brought in.


async def test_without_the_option_groups_are_as_the_contract_says(serve: MakePeople) -> None:
    person = await serve()
    await block(person("bob"), "alice")
    assert await person("alice").group("bob")


async def test_presence_needs_words_of_both(serve: MakePeople) -> None:
    """A stranger who opens a direct conversation learns nothing, until they are answered."""
    one, two = [
        await serve(plugins=[Presence(offline_delay_ms=0)], presence_requires_mutual_messages=True)
        for _ in range(2)
    ]
    alice, eve = one("alice"), two("eve")
    direct = await eve.direct("alice")
    friends = await alice.group("bob")
    for who in ("alice", "bob"):
        await one(who).send(friends, "hi")

    async def comes_and_goes(mark: str) -> list[str]:
        """What eve hears while alice comes and goes, before something that she hears in any case;
        bob hears of alice each time."""
        async with eve.tab() as hers, two("bob").tab() as his:
            async with alice.tab():
                await his.until(lambda f: (f.event, (f.data or {}).get("senderId")) == ONLINE)
            await his.until(lambda frame: frame.event == "presence.offline")
            await eve.send(direct, mark)
            return [name for name, who in await heard_until(hers, mark) if who == "alice"]

    assert await shown(eve, "alice") == {}
    assert await comes_and_goes("hello?") == []
    assert await shown(eve, "alice") == {}
    assert await shown(alice, "eve") == {}
    await alice.send(direct, "who is it?")
    assert await comes_and_goes("me") == ["presence.online", "presence.offline"]
    assert (await shown(eve, "alice"))["alice"]["lastSeenAt"]
    assert "eve" in await shown(alice, "eve")


async def test_who_wrote_with_whom_is_read_from_the_index(
    serve: MakePeople, database: AsyncDatabase[dict[str, Any]]
) -> None:
    """One entry for each sender and conversation is looked at, however much they have written."""
    person = await serve()
    alice = person("alice")
    groups = [await alice.group("bob") for _ in range(3)]
    for group in groups:
        for number in range(20):
            await person("bob" if number % 2 else "alice").send(group, "hi")
    for key, chosen in (
        ("conversationId", {"senderId": "alice", "conversationId": {"$in": groups}}),
        ("senderId", {"senderId": {"$in": ["bob", "eve"]}, "conversationId": {"$in": groups}}),
    ):
        command = {"distinct": "messages", "key": key, "query": chosen}
        explained = await database.command({"explain": command, "verbosity": "executionStats"})
        assert "DISTINCT_SCAN" in str(explained["queryPlanner"]["winningPlan"])
        assert explained["executionStats"]["totalKeysExamined"] < 12
