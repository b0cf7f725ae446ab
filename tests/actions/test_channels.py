"""Channels: the directory, and joining from it."""

from collections.abc import Callable

import pytest

from chat_aio.capabilities import Capability
from tests.actions.test_join_requests import join, queue
from tests.conftest import Database, MakePeople
from tests.support.people import Person

People = Callable[[str], Person]


async def test_joining_an_open_channel(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    channel = await alice.group(visibility="public", joinPolicy="open")
    assert (await bob.get(f"/conversations/{channel}")).code == "FORBIDDEN_READ"
    answer = await join(bob, channel)
    assert answer.status == 200
    assert (answer.json["status"], answer.json["joinRequest"]) == ("joined", None)
    assert [
        participant["userId"] for participant in answer.json["conversation"]["participants"]
    ] == [
        "alice",
        "bob",
    ]
    assert (await join(bob, channel)).code == "ALREADY_PARTICIPANT"


async def test_joining_an_approval_channel(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    channel = await alice.group(visibility="public")
    answer = await join(bob, channel, message="hello")
    asked = answer.json["joinRequest"]
    assert answer.json == {"status": "pending", "conversation": None, "joinRequest": asked}
    assert (asked["message"], asked["inviteCode"]) == ("hello", None)
    assert (await join(bob, channel)).json == answer.json
    assert await queue(alice, channel) == [asked]


async def test_what_cannot_be_joined(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    private = await alice.group("carol")
    for who, where, status, code in (
        (bob, private, 403, "NOT_PUBLIC_CONVERSATION"),
        (person("carol"), private, 403, "NOT_PUBLIC_CONVERSATION"),
        (bob, await alice.direct("bob"), 409, "NOT_GROUP_CONVERSATION"),
        (bob, "none", 404, "CONVERSATION_NOT_FOUND"),
    ):
        answer = await join(who, where)
        assert (answer.status, answer.code) == (status, code)


async def test_the_directory(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    first = await alice.group("bob", name="One", visibility="public", metadata={"$topic": "x"})
    second = await alice.group(name="Two", visibility="public", joinPolicy="open")
    third = await alice.group(visibility="public")
    await alice.group(name="private")
    await alice.send(first, "hi")
    await join(bob, third)
    page = (await bob.get("/channels")).json
    assert [channel["conversationId"] for channel in page["channels"]] == [first, third, second]
    assert page["nextCursor"] is None
    one, other, two = page["channels"]
    assert one == {
        "conversationId": first,
        "name": "One",
        "participantCount": 2,
        "joinPolicy": "approval",
        "createdAt": one["createdAt"],
        "metadata": {"$topic": "x"},
        "alreadyParticipant": True,
        "requestPending": False,
    }
    assert (other["alreadyParticipant"], other["requestPending"]) == (False, True)
    assert (two["joinPolicy"], two["participantCount"]) == ("open", 1)
    await alice.call("PATCH", f"/conversations/{first}", json={"visibility": "private"})
    hidden = (await bob.get("/channels")).json["channels"]
    assert [channel["conversationId"] for channel in hidden] == [third, second]


async def test_an_id_like_the_name_of_a_field(person: People) -> None:
    await person("alice").group("$bob", visibility="public")
    (channel,) = (await person("$bob").get("/channels")).json["channels"]
    assert channel["alreadyParticipant"] is True


async def test_the_directory_is_paged(person: People, database: Database) -> None:
    alice = person("alice")
    made = [await alice.group(visibility="public") for _ in range(7)]
    await database["counters"].update_many({}, [{"$set": {"activityAt": "$$NOW"}}])
    told: list[str] = []
    cursor = ""
    for _ in range(3):
        page = (await person("bob").get(f"/channels?limit=3{cursor}")).json
        told += [channel["conversationId"] for channel in page["channels"]]
        cursor = f"&cursor={page['nextCursor']}"
    assert (told, page["nextCursor"]) == (sorted(made, reverse=True), None)
    assert (await person("bob").get("/channels?limit=x")).code == "INVALID_INPUT"


async def test_a_page_of_the_directory_costs_the_same_in_a_large_one(
    person: People, database: Database
) -> None:
    """Three queries, which look at nothing but the page."""
    for _ in range(60):
        await person("alice").group(visibility="public")
    cursor = (await person("bob").get("/channels?limit=20")).json["nextCursor"]
    await person("bob").told_all()
    await database.command("profile", 2)
    try:
        page = await person("bob").get(f"/channels?limit=20&cursor={cursor}")
        assert len(page.json["channels"]) == 20
    finally:
        await database.command("profile", 0)
    named = {"ns": {"$regex": r"\.(counters|conversations|join_requests)$"}}
    found = await database["system.profile"].find(named).to_list(None)
    assert len(found) == 3
    assert sum(query["docsExamined"] for query in found) <= 20 + 1 + 20 + 1


async def test_a_search_in_the_directory(serve: MakePeople) -> None:
    person = await serve(room_controls=True)
    alice, bob = person("alice"), person("bob")

    async def found(text: str) -> list[str | None]:
        page = (await bob.get("/channels", params={"q": text})).json
        return [channel["name"] for channel in page["channels"]]

    for name, visibility in (("Engines", "public"), ("old engines", "private"), ("a.c", "public")):
        group = await alice.group(name=name, visibility=visibility)
        await alice.call("PATCH", f"/conversations/{group}", json={"topic": f"About {name} (1843)"})
    await alice.group(visibility="public")
    assert await found("ENGINE") == ["Engines"]
    assert await found("(1843)") == ["a.c", "Engines"]
    assert await found(".") == ["a.c"]
    assert await found("a\0") == []
    shown = (await bob.get("/channels?limit=2&q=a.c")).json
    assert [channel["topic"] for channel in shown["channels"]] == ["About a.c (1843)"]
    for query in ("q=", "q=%20", f"q={'x' * 2049}"):
        assert (await bob.get(f"/channels?{query}")).code == "INVALID_INPUT"


async def test_without_room_controls_topics_are_neither_shown_nor_found(
    serve: MakePeople,
) -> None:
    group = await (await serve(room_controls=True))("alice").group(name="x", visibility="public")
    alice = (await serve(room_controls=True))("alice")
    await alice.call("PATCH", f"/conversations/{group}", json={"topic": "Engines"})
    assert (await alice.get("/channels?q=engine")).json["channels"][0]["topic"] == "Engines"
    without = (await serve())("alice")
    assert (await without.get("/channels?q=engine")).json["channels"] == []
    assert "topic" not in (await without.get("/channels")).json["channels"][0]


async def test_a_search_in_a_large_directory_is_paged(
    person: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page looks at a part of the directory: it may be short, and the next one goes on."""
    monkeypatch.setattr("chat_aio.actions.reading.MOST_AT_A_TIME", 4)
    monkeypatch.setattr("chat_aio.actions.reading.MOST_LOOKED_AT", 8)
    for number in range(30):
        name = f"Engine {number}" if number % 10 == 5 else f"Room {number}"
        await person("alice").group(name=name, visibility="public")
    pages: list[list[str]] = []
    path: str | None = "/channels?limit=2&q=engine"
    while path:
        page = (await person("bob").get(path)).json
        pages.append([channel["name"] for channel in page["channels"]])
        cursor = page["nextCursor"]
        path = cursor and f"/channels?limit=2&q=engine&cursor={cursor}"
    assert pages == [["Engine 25"], ["Engine 15"], ["Engine 5"]]


async def test_an_installation_without_channels(serve: MakePeople) -> None:
    alice = (await serve(disabled_capabilities={Capability.CHANNELS}))("alice")
    for answer in (await alice.get("/channels"), await join(alice, "none")):
        assert (answer.status, answer.code) == (501, "CHANNELS_UNSUPPORTED")
    assert (await alice.get("/channels?limit=0")).code == "INVALID_INPUT"


async def test_an_approval_channel_without_invites(serve: MakePeople) -> None:
    person = await serve(disabled_capabilities={Capability.INVITES})
    alice, bob = person("alice"), person("bob")
    channel = await alice.group("carol", visibility="public")
    private = await alice.group()
    answer = await join(bob, channel)
    assert (answer.status, answer.code) == (501, "INVITES_UNSUPPORTED")
    assert (await join(person("carol"), channel)).code == "ALREADY_PARTICIPANT"
    assert (await join(bob, private)).code == "NOT_PUBLIC_CONVERSATION"
    shown = (await bob.get("/channels")).json["channels"]
    assert [conversation["requestPending"] for conversation in shown] == [False]
