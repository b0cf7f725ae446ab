"""Held messages: who sees them, and that a release sends each of them exactly once."""

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from unittest.mock import patch

import pytest

from chat_aio.actions import held_messages as acting
from chat_aio.actions import sending
from chat_aio.actions.outgoing import Outgoing
from chat_aio.errors import StorageUnavailable
from chat_aio.hooks import Hooks, MessageMutation
from chat_aio.plugins import (
    BeforeMessageSend,
    BlockedWords,
    Filter,
    Hold,
    Plugin,
    Refuse,
    Typing,
    Verdict,
)
from chat_aio.store import held_messages as stored
from tests.conftest import Database, MakePeople
from tests.support.ageing import next_millisecond
from tests.support.moderating import ban, block, is_mod
from tests.support.people import Answer, Person
from tests.support.saboteurs import prove

MODERATED = Hooks(can_moderate=is_mod)
HELD = "/moderation/held"
People = Callable[[str], Person]


@pytest.fixture
async def people(serve: MakePeople) -> People:
    return await serve(MODERATED, plugins=[holding()], room_controls=True)


def holding() -> Filter:
    return Filter([BlockedWords(["bad"], action="hold", reason="a listed word")])


async def hold(who: Person, conversation_id: str, body: str = "bad", **given: Any) -> str:
    """Have a message held; returns its id."""
    path = f"/conversations/{conversation_id}/messages"
    answer = await who.post(path, {"body": body, **given})
    assert answer.code == "MESSAGE_HELD", answer
    row = await who.chat._context.database.held_messages.find_one(sort={"createdAt": -1, "_id": -1})
    await next_millisecond()
    return str(row["_id"])


async def release(who: Person, held_id: Any) -> Answer:
    return await who.post(f"{HELD}/release", {"heldId": held_id})


async def discard(who: Person, held_id: Any) -> Answer:
    return await who.post(f"{HELD}/discard", {"heldId": held_id})


async def test_a_release_sends_the_message_as_its_sender_meant_it(
    people: People, database: Database
) -> None:
    alice, bob, mod = people("alice"), people("bob"), people("mod")
    group = await alice.group("bob", "carol")
    root = await bob.send(group, "root")
    await alice.post(f"/conversations/{group}/participants", {"userIds": ["dave"]})
    given = {
        "threadRootMessageId": root["id"],
        "alsoSendToMain": True,
        "replyToMessageId": root["id"],
        "mentions": ["bob", "dave"],
        "metadata": {"$a.b": [1]},
        "clientMessageId": "key",
    }
    held_id = await hold(bob, group, **given)
    dave = {"userId": "dave"}
    await alice.call("DELETE", f"/conversations/{group}/participants", json=dave)
    await alice.told_all()
    async with alice.tab() as tab:
        answer = await release(mod, held_id)
        message = answer.json["message"]
        assert (await tab.event("message.created"))["message"] == message
    shown = {name: message[name] for name in given}
    assert shown == {**given, "mentions": ["bob"]}
    assert (message["id"], message["senderId"], message["body"]) == (held_id, "bob", "bad")
    again = await bob.post(f"/conversations/{group}/messages", {"body": "bad", **given})
    assert (again.status, again.json["message"]) == (200, message)
    assert (await release(mod, held_id)).code == "HELD_MESSAGE_NOT_FOUND"
    assert await database["held_messages"].count_documents({}) == 0
    row = await database["audit"].find_one({"action": "release-held"})
    assert row is not None
    assert (row["actorUserId"], row["targetId"]) == ("mod", held_id)
    assert row["details"] == {"conversationId": group, "senderId": "bob"}


async def test_without_a_key_it_is_sent_under_one_of_its_own(people: People) -> None:
    alice, mod = people("alice"), people("mod")
    group = await alice.group()
    first, second = await hold(alice, group), await hold(alice, group)
    assert first != second
    answers = [await release(mod, held_id) for held_id in (first, second)]
    keys = [answer.json["message"]["clientMessageId"] for answer in answers]
    assert keys == [f"held:{first}", f"held:{second}"]


@pytest.mark.parametrize("now", [None, Refuse("no")], ids=["passes", "is refused"])
async def test_a_held_request_is_held_whatever_is_said_of_it_now(
    serve: MakePeople, database: Database, now: Verdict | None
) -> None:
    """Also if its repetition would pass, or be refused: a moderator decides, and nobody else."""
    verdicts: list[Verdict | None] = [Hold("at first")]

    class Wavers(Plugin):
        async def check_message(self, message: BeforeMessageSend) -> Verdict | None:
            return verdicts.pop() if verdicts else now

    people = await serve(MODERATED, plugins=[Wavers(), Filter([])])
    alice, mod = people("alice"), people("mod")
    group = await alice.group()
    held_id = await hold(alice, group, clientMessageId="key")
    path = f"/conversations/{group}/messages"
    again = await alice.post(path, {"body": "bad", "clientMessageId": "key"})
    assert (again.code, again.json["error"]["message"]) == ("MESSAGE_HELD", "at first")
    assert await database["messages"].count_documents({}) == 0
    assert await database["held_messages"].count_documents({}) == 1
    message = (await release(mod, held_id)).json["message"]
    again = await alice.post(path, {"body": "bad", "clientMessageId": "key"})
    assert (again.status, again.json["message"]) == (200, message)


async def test_the_key_of_a_held_request_is_taken(people: People, database: Database) -> None:
    """Another message under it would stand in the way of the release."""
    alice, mod = people("alice"), people("mod")
    group, elsewhere = await alice.group(), await alice.group()
    source = await alice.send(elsewhere, "clean")
    held_id = await hold(alice, group, clientMessageId="key")
    clean = {"body": "clean", "clientMessageId": "key"}
    answer = await alice.post(f"/conversations/{group}/messages", clean)
    assert answer.code == "MESSAGE_CONFLICT"
    forward = {"conversationId": group, "clientMessageId": "key"}
    answer = await alice.post(f"/messages/{source['id']}/forward", forward)
    assert answer.code == "MESSAGE_CONFLICT"
    assert await database["messages"].count_documents({"conversationId": group}) == 0
    await alice.send(elsewhere, **clean)
    assert (await release(mod, held_id)).json["message"]["body"] == "bad"


@pytest.mark.parametrize("plugins", [(), (Typing(),)], ids=["none", "another"])
async def test_without_such_a_plugin_no_key_is_looked_for(
    serve: MakePeople, plugins: tuple[Plugin, ...]
) -> None:
    alice = (await serve(plugins=plugins))("alice")
    with patch.object(stored, "find_repeated", side_effect=AssertionError):
        await alice.send(await alice.group(), "hi", clientMessageId="key")


async def test_only_moderators_see_them(people: People) -> None:
    alice, mod = people("alice"), people("mod")
    group = await alice.group()
    ids = [await hold(alice, group, f"bad {number}") for number in range(3)]
    for answer in (await alice.get(HELD), await release(alice, ids[0]), await discard(alice, "x")):
        assert (answer.status, answer.code) == (403, "NOT_MODERATOR")
    first = (await mod.get(f"{HELD}?limit=2")).json
    rest = (await mod.get(f"{HELD}?limit=2&cursor={first['nextCursor']}")).json
    listed = [*first["heldMessages"], *rest["heldMessages"]]
    assert [row["id"] for row in listed] == ids[::-1]
    assert rest["nextCursor"] is None
    one = listed[0]
    assert (one["senderId"], one["conversationId"], one["body"]) == ("alice", group, "bad 2")
    assert (one["reason"], one["releasedBy"]) == ("a listed word", None)
    created, expires = (datetime.fromisoformat(one[name]) for name in ("createdAt", "expiresAt"))
    assert expires - created == timedelta(days=30)
    for path in (f"{HELD}?limit=0", f"{HELD}?cursor=x"):
        assert (await mod.get(path)).code == "INVALID_INPUT"
    for given in (None, 7, "", "\0"):
        assert (await release(mod, given)).code == "INVALID_INPUT"
        assert (await discard(mod, given)).code == "INVALID_INPUT"
    assert (await discard(mod, "unknown")).code == "HELD_MESSAGE_NOT_FOUND"


async def test_a_discarded_message_is_gone(people: People, database: Database) -> None:
    alice, mod = people("alice"), people("mod")
    group = await alice.group()
    held_id = await hold(alice, group, clientMessageId="key")
    assert (await discard(mod, held_id)).json == {"ok": True}
    for answer in (await discard(mod, held_id), await release(mod, held_id)):
        assert (answer.status, answer.code) == (404, "HELD_MESSAGE_NOT_FOUND")
    assert [row["action"] async for row in database["audit"].find()] == ["discard-held"]
    assert await hold(alice, group, clientMessageId="key") != held_id
    assert await database["messages"].count_documents({}) == 0


async def test_many_releases_at_once_send_one_message(
    serve: MakePeople, database: Database
) -> None:
    """From two processes, with and without an idempotency key; each of them in the audit log
    once. Without the key of a held message the same storm sends several."""
    told: Counter[str] = Counter()

    def note(mutation: MessageMutation) -> None:
        told[mutation.message.id] += 1

    hooks = Hooks(can_moderate=is_mod, after_message_mutation=note)
    one, two = [await serve(hooks, plugins=[holding()]) for _ in range(2)]
    alice = one("alice")
    group = await alice.group()

    async def scenario() -> None:
        told.clear()
        for name in ("messages", "audit", "held_messages"):
            await database[name].delete_many({})
        ids = [
            await hold(alice, group, **given)
            for given in ({}, {"clientMessageId": "key"}, {"clientMessageId": "other"})
        ]
        mods = [people("mod") for people in (one, two)]
        calls = [release(mods[turn % 2], held_id) for turn in range(8) for held_id in ids]
        answers = await asyncio.gather(*calls)
        assert {answer.code for answer in answers} <= {None, "HELD_MESSAGE_NOT_FOUND"}
        assert await database["messages"].count_documents({"body": "bad"}) == len(ids)
        assert told == dict.fromkeys(ids, 1)
        rows = Counter([row["targetId"] async for row in database["audit"].find()])
        assert rows == dict.fromkeys(ids, 1)
        assert await database["held_messages"].count_documents({}) == 0

    put = sending.put

    async def put_without_key(context: Any, outgoing: Outgoing) -> Any:
        """Each call makes another message."""
        return await put(context, replace(outgoing, key=None, message_id=None))

    await prove(scenario, sabotage=patch.object(acting, "put", put_without_key))


async def test_a_release_that_dies_is_gone_on_with(people: People, database: Database) -> None:
    """Before the message is sent, and between sending it and removing the row."""
    alice, mod = people("alice"), people("mod")
    group = await alice.group()

    async def dies(*_: Any, **__: Any) -> None:
        raise StorageUnavailable

    for place, sent in (((acting, "put"), 0), ((stored, "remove"), 1)):
        held_id = await hold(alice, group, clientMessageId=f"key {sent}")
        with patch.object(*place, dies):
            assert (await release(mod, held_id)).status == 503
        assert await database["messages"].count_documents({"_id": held_id}) == sent
        listed = (await mod.get(HELD)).json["heldMessages"]
        assert [(row["id"], row["releasedBy"]) for row in listed] == [(held_id, "mod")]
        answer = await discard(mod, held_id)
        assert (answer.status, answer.code) == (409, "HELD_MESSAGE_RELEASED")
        assert (await release(mod, held_id)).json["message"]["id"] == held_id
        assert await database["messages"].count_documents({"_id": held_id}) == 1
        assert await database["audit"].count_documents({"targetId": held_id}) == 1
    assert await database["held_messages"].count_documents({}) == 0


async def test_either_a_release_or_a_discard(people: People, database: Database) -> None:
    """Of many at once, one kind is answered with success; a message goes out or it does not."""
    alice, mod = people("alice"), people("mod")
    group = await alice.group()

    async def scenario() -> None:
        ids = [await hold(alice, group) for _ in range(6)]
        await asyncio.gather(*(act(mod, held_id) for held_id in ids for act in (release, discard)))
        for held_id in ids:
            acts = [row["action"] async for row in database["audit"].find({"targetId": held_id})]
            count = await database["messages"].count_documents({"_id": held_id})
            assert (acts, count) in ((["release-held"], 1), (["discard-held"], 0))

    async def undecided(*_: Any) -> bool:
        await asyncio.sleep(0.01)
        return True

    await prove(scenario, sabotage=patch.object(stored, "decide_release", undecided))


async def test_who_may_not_write_any_more_sends_nothing(people: People, database: Database) -> None:
    alice, bob, mod = people("alice"), people("bob"), people("mod")
    group, direct = await alice.group("bob"), await alice.direct("bob")
    in_group, in_direct = await hold(bob, group), await hold(bob, direct)
    root = await alice.send(group, "root")
    await block(alice, "bob")
    assert (await release(mod, in_direct)).code == "DIRECT_INTERACTION_BLOCKED"
    at = f"/conversations/{group}"
    await alice.call("PATCH", at, json={"frozen": True})
    assert (await release(mod, in_group)).code == "CONVERSATION_FROZEN"
    await alice.call("PATCH", at, json={"frozen": False, "slowModeSeconds": 3_600})
    await bob.send(group, "the last one for an hour")
    reply = await hold(alice, group, replyToMessageId=root["id"])
    await database["messages"].delete_one({"_id": root["id"]})
    assert (await release(mod, reply)).code == "MESSAGE_NOT_FOUND"
    assert (await release(mod, in_group)).status == 200
    banned = await hold(alice, group)
    await ban(mod, "alice")
    assert (await release(mod, banned)).code == "USER_BANNED"
    left = await hold(bob, group)
    await bob.call("DELETE", f"{at}/participants", json={"userId": "bob"})
    assert (await release(mod, left)).code == "FORBIDDEN_WRITE"
    assert all(
        [(await discard(mod, held_id)).status == 200 for held_id in (in_direct, banned, left)]
    )


async def test_a_key_that_another_message_has_by_now(serve: MakePeople) -> None:
    """Of two requests at once under one key, the second is held while plugins look at the first."""
    held_ids: list[str] = []

    class Slow(Plugin):
        async def check_message(self, message: BeforeMessageSend) -> Verdict | None:
            if message.body == "fine":
                held_ids.append(await hold(alice, group, clientMessageId="key"))
            return None

    people = await serve(MODERATED, plugins=[Slow(), holding()])
    alice, mod = people("alice"), people("mod")
    group = await alice.group()
    await alice.send(group, "fine", clientMessageId="key")
    (held_id,) = held_ids
    answer = await release(mod, held_id)
    assert (answer.status, answer.code) == (409, "MESSAGE_CONFLICT")
    assert (await discard(mod, held_id)).status == 200


async def test_there_are_no_routes_without_the_plugin(person: People) -> None:
    alice = person("alice")
    assert (await alice.get(HELD)).code == "NOT_FOUND"
    assert (await release(alice, "x")).code == "NOT_FOUND"
