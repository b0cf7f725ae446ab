"""Replies and threads: where they stand, what they show, who counts them."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from tests.conftest import Database, MakePeople
from tests.support.people import Person

People = Callable[[str], Person]


async def test_a_preview_follows_its_parent(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    conversation_id = await alice.direct("bob")
    parent = await alice.send(conversation_id, "first")
    reply = await bob.send(conversation_id, "yes", replyToMessageId=parent["id"])
    assert reply["replyToMessageId"] == parent["id"]
    assert reply["replyTo"] == {
        "id": parent["id"],
        "senderId": "alice",
        "excerpt": "first",
        "deleted": False,
    }
    path = f"/conversations/{conversation_id}/messages/{reply['id']}"
    await alice.edit(parent["id"], "😀" * 141)
    preview = (await bob.get(path)).json["message"]["replyTo"]
    assert preview["excerpt"] == "😀" * 140 + "…"
    await alice.edit(parent["id"], "x" * 140)
    assert (await bob.get(path)).json["message"]["replyTo"]["excerpt"] == "x" * 140
    await alice.delete(parent["id"])
    preview = (await bob.get(path)).json["message"]["replyTo"]
    assert preview == {**reply["replyTo"], "excerpt": "", "deleted": True}
    late = await bob.send(conversation_id, "late", replyToMessageId=parent["id"])
    assert late["replyTo"] == preview
    nested = await alice.send(conversation_id, "nested", replyToMessageId=reply["id"])
    assert nested["replyTo"]["id"] == reply["id"]


async def test_every_answer_shows_the_preview(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    conversation_id = await alice.direct("bob")
    parent = await alice.send(conversation_id, "needle parent")
    reply = await bob.send(conversation_id, "needle", replyToMessageId=parent["id"])
    for shown in (
        await bob.edit(reply["id"], "needle!"),
        await alice.react(reply["id"], "👍"),
        await alice.unreact(reply["id"], "👍"),
        await alice.unreact(reply["id"], "👍"),
        (await bob.listed(f"/conversations/{conversation_id}/messages"))[0],
        (await bob.listed("/search/messages?q=needle"))[0],
        await bob.delete(reply["id"]),
        await bob.delete(reply["id"]),
    ):
        assert (shown["id"], shown["replyTo"]) == (reply["id"], reply["replyTo"])
    after = await alice.chat.api.list_messages_after("alice", conversation_id, 1)
    assert after[0].reply_to is not None


async def test_a_parent_that_is_gone_shows_as_deleted(person: People, database: Database) -> None:
    conversation_id = await person("alice").direct("bob")
    parent = await person("alice").send(conversation_id, "old")
    await person("alice").send(conversation_id, "x", replyToMessageId=parent["id"])
    await database["messages"].delete_one({"_id": parent["id"]})
    (reply,) = await person("alice").listed(f"/conversations/{conversation_id}/messages")
    assert reply["replyTo"]["deleted"] is True


async def test_a_page_of_replies_costs_one_more_query(person: People, database: Database) -> None:
    alice = person("alice")
    conversation_id = await alice.direct("bob")
    parents = [await alice.send(conversation_id, f"parent {n}") for n in range(5)]
    for number in range(10):
        await alice.send(conversation_id, "x", replyToMessageId=parents[number % 5]["id"])
    path = f"/conversations/{conversation_id}/messages?limit=10"
    await alice.listed(path)
    await alice.told_all()
    await database.command("profile", 2)
    try:
        assert all(message["replyTo"] for message in await alice.listed(path))
    finally:
        await database.command("profile", 0)
    profile = database["system.profile"]
    assert await profile.count_documents({"op": "query", "ns": f"{database.name}.messages"}) == 2


@pytest.mark.parametrize(
    ("place", "status", "code"),
    [
        ({"replyToMessageId": "none"}, 404, "MESSAGE_NOT_FOUND"),
        ({"replyToMessageId": "elsewhere"}, 404, "MESSAGE_NOT_FOUND"),
        ({"threadRootMessageId": "none"}, 404, "MESSAGE_NOT_FOUND"),
        ({"threadRootMessageId": "elsewhere"}, 404, "MESSAGE_NOT_FOUND"),
        ({"threadRootMessageId": "reply"}, 400, "INVALID_INPUT"),
        ({"alsoSendToMain": True}, 400, "INVALID_INPUT"),
        ({"threadRootMessageId": "root", "alsoSendToMain": "yes"}, 400, "INVALID_INPUT"),
        ({"threadRootMessageId": "root", "alsoSendToMain": 1}, 400, "INVALID_INPUT"),
        ({"replyToMessageId": ""}, 400, "INVALID_INPUT"),
        ({"replyToMessageId": {"$gt": ""}}, 400, "INVALID_INPUT"),
        ({"threadRootMessageId": ["root"]}, 400, "INVALID_INPUT"),
    ],
)
async def test_places_that_are_refused(
    person: People, database: Database, place: dict[str, Any], status: int, code: str
) -> None:
    alice = person("alice")
    conversation_id = await alice.direct("bob")
    root = await alice.send(conversation_id, "root")
    ids = {
        "root": root["id"],
        "reply": (await alice.send(conversation_id, "r", threadRootMessageId=root["id"]))["id"],
        "elsewhere": (await alice.send(await alice.direct("carol"), "x"))["id"],
    }
    given = {
        name: ids.get(value, value) if isinstance(value, str) else value
        for name, value in place.items()
    }
    answer = await alice.post(f"/conversations/{conversation_id}/messages", {"body": "x", **given})
    assert (answer.status, answer.code) == (status, code)
    assert await database["messages"].count_documents({"conversationId": conversation_id}) == 2


async def test_the_root_of_a_thread_is_in_the_main_list(person: People) -> None:
    """A reply that only its thread shows begins no other thread; one that both show does."""
    alice = person("alice")
    group = await alice.group()
    root = (await alice.send(group, "root"))["id"]
    path = f"/conversations/{group}/messages"
    for is_in_main, status in ((False, 400), (True, 201)):
        reply = await alice.send(
            group, "a reply", threadRootMessageId=root, alsoSendToMain=is_in_main
        )
        answer = await alice.post(path, {"body": "x", "threadRootMessageId": reply["id"]})
        assert answer.status == status, answer


async def test_a_thread_beside_the_main_list(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    conversation_id = await alice.direct("bob")
    root = await alice.send(conversation_id, "root")
    assert root["threadSummary"] is None
    quiet = await bob.send(conversation_id, "quiet", threadRootMessageId=root["id"])
    loud = await bob.send(
        conversation_id, "loud", threadRootMessageId=root["id"], alsoSendToMain=True
    )
    assert (quiet["threadRootMessageId"], quiet["alsoSendToMain"]) == (root["id"], False)
    assert (loud["threadRootMessageId"], loud["alsoSendToMain"]) == (root["id"], True)
    assert [root["seq"], quiet["seq"], loud["seq"]] == [1, 2, 3]
    here = f"/conversations/{conversation_id}"
    summary = {"replyCount": 2, "lastReplyAt": loud["createdAt"]}
    main = await alice.listed(f"{here}/messages")
    assert main == [loud, {**root, "threadSummary": summary}]
    assert await alice.listed(f"{here}/threads/{root['id']}/messages") == [loud, quiet]
    assert await alice.unread(conversation_id) == 2
    assert await alice.listed("/search/messages?q=quiet") == [quiet]
    nested = await alice.send(conversation_id, "nested", threadRootMessageId=loud["id"])
    assert await alice.listed(f"{here}/threads/{loud['id']}/messages") == [nested]
    await bob.delete(quiet["id"])
    (_, again) = await alice.listed(f"{here}/messages")
    assert again["threadSummary"] == summary


async def test_a_thread_is_paged(person: People) -> None:
    alice = person("alice")
    conversation_id = await alice.direct("bob")
    root = await alice.send(conversation_id, "root")
    for number in range(5):
        await alice.send(conversation_id, str(number), threadRootMessageId=root["id"])
    path = f"/conversations/{conversation_id}/threads/{root['id']}/messages?limit=2"
    told, cursor = [], ""
    for _ in range(3):
        page = (await alice.get(path + cursor)).json
        told += [message["body"] for message in page["messages"]]
        cursor = f"&cursor={page['nextCursor']}"
    assert (told, page["nextCursor"]) == (["4", "3", "2", "1", "0"], None)
    main = (await alice.get(f"/conversations/{conversation_id}/messages?limit=1")).json
    assert main["nextCursor"] is None
    assert (await alice.get(path + "&cursor=x")).code == "INVALID_INPUT"


async def test_who_may_list_a_thread(person: People) -> None:
    alice, eve = person("alice"), person("eve")
    conversation_id = await alice.direct("bob")
    root = await alice.send(conversation_id, "root")
    elsewhere = await alice.send(await alice.direct("carol"), "x")
    threads = f"/conversations/{conversation_id}/threads"
    assert await alice.listed(f"{threads}/{root['id']}/messages") == []
    for path, who, code in (
        (f"{threads}/{root['id']}/messages", eve, "FORBIDDEN_READ"),
        (f"{threads}/none/messages", alice, "MESSAGE_NOT_FOUND"),
        (f"{threads}/{elsewhere['id']}/messages", alice, "MESSAGE_NOT_FOUND"),
        (f"/conversations/none/threads/{root['id']}/messages", alice, "CONVERSATION_NOT_FOUND"),
    ):
        assert (await who.get(path)).code == code


async def test_replies_at_once_are_all_counted(person: People) -> None:
    """While others react to the root, which the same document is about."""
    alice = person("alice")
    conversation_id = await alice.direct("bob")
    root = await alice.send(conversation_id, "root")
    await asyncio.gather(
        *(alice.send(conversation_id, "x", threadRootMessageId=root["id"]) for _ in range(60)),
        *(person("bob").react(root["id"], str(number)) for number in range(30)),
    )
    (now,) = await alice.listed(f"/conversations/{conversation_id}/messages")
    assert now["threadSummary"]["replyCount"] == 60
    assert len(now["reactions"]) == 30


async def test_an_installation_without_threads(serve: MakePeople) -> None:
    alice = (await serve(threads=False))("alice")
    conversation_id = await alice.direct("bob")
    root = await alice.send(conversation_id, "root", alsoSendToMain=False)
    path = f"/conversations/{conversation_id}/messages"
    for answer in (
        await alice.post(path, {"body": "x", "threadRootMessageId": root["id"]}),
        await alice.get(f"/conversations/{conversation_id}/threads/{root['id']}/messages"),
    ):
        assert (answer.status, answer.code) == (501, "THREADS_UNSUPPORTED")
    answer = await alice.post(path, {"body": "", "threadRootMessageId": root["id"]})
    assert answer.code == "INVALID_INPUT"
