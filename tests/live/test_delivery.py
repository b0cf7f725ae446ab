"""What an event costs: it is encoded where somebody listens, and then once for all of them."""

from contextlib import AsyncExitStack
from typing import Any
from unittest.mock import patch

from chat_aio.live import frames
from chat_aio.live.hub import Hub
from chat_aio.store import mapping
from tests.conftest import Database, MakePeople
from tests.support.saboteurs import prove

TRANSLATOR = "chat_aio.live.translator"


async def test_what_nobody_hears_is_not_encoded(serve: MakePeople) -> None:
    encoded: list[str] = []
    encode = frames.message_frame

    def counting(name: str, document: Any, parents: Any, optional: Any) -> Any:
        encoded.append(document["body"])
        return encode(name, document, parents, optional)

    async def scenario() -> None:
        encoded.clear()
        people = await serve()
        alice, bob = people("alice"), people("bob")
        heard, unheard = await alice.group("bob"), await alice.group("carol")
        async with AsyncExitStack() as opened:
            tabs = [await opened.enter_async_context(bob.tab()) for _ in range(2)]
            await alice.send(unheard, "to nobody")
            await alice.send(heard, "to bob")
            for tab in tabs:
                assert await tab.bodies(1) == ["to bob"]
        assert encoded == ["to bob"]

    with patch(f"{TRANSLATOR}.message_frame", counting):
        await prove(scenario, sabotage=patch.object(Hub, "has_listeners", lambda *_: True))


async def test_who_comes_later_gets_what_nobody_heard(serve: MakePeople) -> None:
    people = await serve()
    alice, bob = people("alice"), people("bob")
    group = await alice.group("bob")
    await alice.send(group, "seen")
    await alice.send(group, "unheard")
    await alice.told_all()
    async with bob.tab(f"{group}:1") as tab:
        assert await tab.bodies(1) == ["unheard"]


async def test_a_row_that_cannot_be_encoded_stops_nothing(
    serve: MakePeople, database: Database, caplog: Any
) -> None:
    """Another program has written it; its shape is right, as far as MongoDB's validator looks."""
    people = await serve()
    alice, bob = people("alice"), people("bob")
    group = await alice.group("bob")
    async with bob.tab() as tab:
        message = await alice.send(group, "first")
        assert await tab.bodies(1) == ["first"]
        row = await database.messages.find_one({"_id": message["id"]})
        assert row is not None
        row |= {"_id": "of another program", "seq": 2}
        with patch("chat_aio.store.event_data.message_json", broken_for(row["_id"])):
            await database.messages.insert_one(row)
            await database.counters.update_one({"_id": group}, {"$inc": {"seq": 1}})
            await alice.send(group, "third")
            assert await tab.bodies(1) == ["third"]
    assert f"no event can be made of message 2 of conversation {group!r}" in caplog.text


def broken_for(message_id: str) -> Any:
    make = mapping.message_json

    def message_json(document: Any, parents: Any, optional: Any) -> bytes:
        if document["_id"] == message_id:
            raise ValueError(message_id)
        return make(document, parents, optional)

    return message_json
