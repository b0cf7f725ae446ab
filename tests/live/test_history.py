"""History since one has joined, on streams: nothing of what was said before is told."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any
from unittest.mock import patch

import pytest

from chat_aio import Hooks
from chat_aio.live.delivery import Delivery
from chat_aio.live.service import Live
from chat_aio.live.translator import Translator
from tests.conftest import Database, MakePeople
from tests.support.ageing import age
from tests.support.people import BASE, PATIENCE, Person, Tab

People = Callable[[str], Person]

CANARY = "canary"
EARLY = ("quoted", "edited", "deleted", "reacted to")


@pytest.fixture
async def person(serve: MakePeople) -> People:
    return await serve(room_controls=True)


async def said(alice: Person, *members: str) -> tuple[str, dict[str, str]]:
    """A group in which something was said before history was set to begin with joining."""
    group = await alice.group(*members)
    ids = {name: (await alice.send(group, f"{CANARY}, {name}"))["id"] for name in EARLY}
    await hide(alice, group)
    return group, ids


async def hide(who: Person, group: str, history: str = "since_join") -> None:
    answer = await who.call("PATCH", f"/conversations/{group}", json={"history": history})
    assert answer.status == 200, answer


async def add(who: Person, group: str, user_id: str) -> None:
    answer = await who.post(f"/conversations/{group}/participants", {"userIds": [user_id]})
    assert answer.status == 200, answer


async def change(alice: Person, group: str, ids: dict[str, str]) -> None:
    """All that can become of what was said before, and a quote of it with all that can become of
    that."""
    await alice.edit(ids["edited"], f"{CANARY}, edited again")
    await alice.react(ids["reacted to"], "+")
    await alice.unreact(ids["reacted to"], "+")
    await alice.delete(ids["deleted"])
    quote = (await alice.send(group, "a quote", replyToMessageId=ids["quoted"]))["id"]
    await alice.react(quote, "+")
    await alice.edit(quote, "a quote, edited")


async def all_until(tab: Tab, mark: str) -> str:
    told = b""
    async with asyncio.timeout(PATIENCE):
        while mark.encode() not in told:
            part = await tab.response.content.readany()
            assert part, told
            told += part
    return told.decode()


def require_hidden(told: str, ids: dict[str, str]) -> None:
    """Nothing about a message of before but the id of the one that is quoted."""
    assert CANARY not in told
    assert [name for name, message_id in ids.items() if message_id in told] == ["quoted"]
    assert "a quote, edited" in told
    assert '"excerpt":"","deleted":true' in told.replace(" ", "")


@pytest.mark.parametrize("is_open", [True, False])
async def test_live(person: People, is_open: bool) -> None:
    """On a stream that was open when its user joined, and on one that is opened after it."""
    alice, bob, carol = person("alice"), person("bob"), person("carol")
    group, ids = await said(alice, "bob")
    if not is_open:
        await add(alice, group, "carol")
    async with carol.tab() as hers, bob.tab() as his:
        if is_open:
            await add(alice, group, "carol")
        await change(alice, group, ids)
        await alice.send(group, "the end")
        require_hidden(await all_until(hers, "the end"), ids)
        told = await all_until(his, "the end")
    assert all(message_id in told for message_id in ids.values())
    assert told.count(f"{CANARY}, quoted") == 3


async def test_a_replay(serve: MakePeople, database: Database) -> None:
    """From the buffer and from storage; the position is from before all that is hidden."""
    person = await serve(room_controls=True)
    alice, carol = person("alice"), person("carol")
    other = await alice.group("carol")
    await alice.send(other, "position")
    group, ids = await said(alice, "bob")
    await add(alice, group, "carol")
    await change(alice, group, ids)
    await alice.send(other, "the end")
    await carol.told_all()
    elsewhere = await serve(replay_buffer_seconds=0)
    for who in (carol, elsewhere("carol")):
        async with who.tab(f"{other}:1") as tab:
            require_hidden(await all_until(tab, "the end"), ids)
    for who in (person("bob"), elsewhere("bob")):
        async with who.tab(f"{group}:4") as tab:
            await alice.send(group, "the end")
            told = await all_until(tab, "the end")
        assert f"{CANARY}, edited again" in told
        assert f'"excerpt":"{CANARY}, quoted"' in told


async def test_events_in_process(person: People) -> None:
    alice, carol = person("alice"), person("carol")
    group, ids = await said(alice)
    await add(alice, group, "carol")
    await carol.told_all()
    async with carol.chat.events(user_id="carol") as events:
        await change(alice, group, ids)
        await alice.send(group, "the end")
        told = []
        async with asyncio.timeout(PATIENCE):
            async for event in events:
                told.append(repr(event))
                if "the end" in told[-1]:
                    break
    assert CANARY not in "".join(told)
    assert len(told) == 4


@asynccontextmanager
async def feed_behind() -> AsyncIterator[Callable[[], None]]:
    """No process delivers anything until the yielded function is called; then each all in one
    batch."""
    may, delivered = asyncio.Event(), Delivery.deliver
    waiting: dict[Delivery, list[Any]] = {}

    async def late(self: Delivery, changes: Any, **options: Any) -> None:
        waiting.setdefault(self, []).extend(changes)
        await asyncio.wait_for(may.wait(), PATIENCE)
        await delivered(self, waiting.pop(self), **options)

    with patch.object(Delivery, "deliver", late):
        yield may.set
        may.set()


async def test_a_feed_that_is_behind(person: People) -> None:
    """A stream is opened by who has joined, before what was said earlier is delivered."""
    alice, carol = person("alice"), person("carol")
    group = await alice.group("bob")
    await carol.told_all()
    async with feed_behind() as go_on:
        await alice.send(group, CANARY)
        await hide(alice, group)
        await add(alice, group, "carol")
        headers = {"X-User": "carol"}
        async with carol.client.get(f"{BASE}/stream", headers=headers) as response:
            assert response.status == 200
            go_on()
            await alice.send(group, "the end")
            assert CANARY not in await all_until(Tab(response), "the end")


async def test_who_is_gone_again_when_it_is_told(person: People) -> None:
    """In between they are told nothing of before, although nothing of them is stored any more."""
    alice, carol = person("alice"), person("carol")
    other = await alice.group("carol")
    group, ids = await said(alice, "bob")
    async with carol.tab() as tab, feed_behind() as go_on:
        await add(alice, group, "carol")
        await alice.react(ids["reacted to"], "+")
        here = f"/conversations/{group}/participants"
        answer = await alice.call("DELETE", here, json={"userId": "carol"})
        assert answer.status == 200
        await alice.send(other, "the end")
        go_on()
        told = await all_until(tab, "the end")
    assert "participant.removed" in told
    assert CANARY not in told


async def test_who_comes_back_to_all_of_it_hears_all_of_it(person: People) -> None:
    alice, carol = person("alice"), person("carol")
    group, ids = await said(alice, "bob")
    here = f"/conversations/{group}/participants"
    async with carol.tab() as tab:
        await add(alice, group, "carol")
        await alice.edit(ids["edited"], f"{CANARY}, not yet")
        await carol.call("DELETE", here, json={"userId": "carol"})
        await hide(alice, group, "all")
        await add(alice, group, "carol")
        await alice.edit(ids["edited"], f"{CANARY}, now")
        told = await all_until(tab, "now")
    assert "not yet" not in told


async def test_a_feed_behind_a_second_stay(person: People, database: Database) -> None:
    """While a stream is being opened the feed tells of an earlier stay, which hid nothing."""
    alice, carol = person("alice"), person("carol")
    group = await alice.group("carol")
    secret = (await alice.send(group, CANARY))["id"]
    await carol.told_all()
    async with feed_behind() as go_on:
        await alice.react(secret, "+")
        here = f"/conversations/{group}/participants"
        await carol.call("DELETE", here, json={"userId": "carol"})
        await hide(alice, group)
        await add(alice, group, "carol")
        await alice.edit(secret, f"{CANARY}, again")
        headers = {"X-User": "carol"}
        async with carol.client.get(f"{BASE}/stream", headers=headers) as response:
            assert response.status == 200
            go_on()
            await alice.send(group, "the end")
            assert CANARY not in await all_until(Tab(response), "the end")


async def test_the_feed_wins_over_what_was_read_for_a_stream(person: People) -> None:
    """While it is opened, its user leaves and comes back to all that was ever said."""
    alice, carol = person("alice"), person("carol")
    group, ids = await said(alice, "bob")
    await add(alice, group, "carol")
    await carol.told_all()
    read = Live._conversations_of

    async def slow(self: Live, stream: Any) -> Any:
        found = await read(self, stream)
        await carol.call("DELETE", f"/conversations/{group}/participants", json={"userId": "carol"})
        await hide(alice, group, "all")
        await add(alice, group, "carol")
        await carol.told_all()
        return found

    with patch.object(Live, "_conversations_of", slow):
        async with carol.tab() as tab:
            await alice.edit(ids["edited"], f"{CANARY}, now")
            await alice.send(group, "the end")
            assert f"{CANARY}, now" in await all_until(tab, "the end")


async def test_an_imported_conversation_keeps_it(person: People, database: Database) -> None:
    """What is hidden in a conversation that comes as a whole."""
    alice = person("alice")
    group, _ = await said(alice)
    await add(alice, group, "carol")
    stored: Any = await database.conversations.find_one({"_id": group})
    translator = Translator(alice.chat._context.database, clock=alice.chat._context.clock)
    stored["importedAt"] = stored["createdAt"]
    event = translator._conversation_created(stored)
    assert event.hidden == {"carol": 4}


async def test_old_positions_after_ageing(
    person: People, serve: MakePeople, database: Database
) -> None:
    """Who was away for long, in the conversation of the position itself."""
    alice, carol = person("alice"), person("carol")
    group, ids = await said(alice, "bob")
    await add(alice, group, "carol")
    seen = (await alice.send(group, "seen"))["seq"]
    await age(database)
    await change(alice, group, ids)
    elsewhere = await serve(replay_buffer_seconds=0)
    for who in (carol, elsewhere("carol")):
        async with who.tab(f"{group}:{seen}") as tab:
            await alice.send(group, "the end")
            require_hidden(await all_until(tab, "the end"), ids)


async def test_a_host_is_not_asked_about_what_is_hidden(
    serve: MakePeople, database: Database
) -> None:
    """Neither for a stream nor for a replay, nor about a quote."""
    asked: list[str] = []

    async def can_read(context: Any) -> bool:
        if context.user_id == "carol" and context.message:
            asked.append(context.message.body)
        return True

    hooks = Hooks(can_read=can_read, can_read_messages=True)
    person = await serve(hooks, room_controls=True)
    alice, carol = person("alice"), person("carol")
    other = await alice.group("carol")
    await alice.send(other, "position")
    group, ids = await said(alice, "bob")
    await add(alice, group, "carol")
    async with carol.tab() as tab:
        await change(alice, group, ids)
        await alice.send(other, "the end")
        require_hidden(await all_until(tab, "the end"), ids)
    elsewhere = await serve(hooks, replay_buffer_seconds=0)
    for who in (carol, elsewhere("carol")):
        async with who.tab(f"{other}:1") as tab:
            require_hidden(await all_until(tab, "the end"), ids)
    assert "a quote, edited" in asked
    assert CANARY not in "".join(asked)
