"""Attachments of messages: uploaded, sent, shown, forwarded, and deleted with their message."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from chat_aio.hooks import Hooks
from chat_aio.plugins import Attachments, BeforeMessageSend, Filter, Hold, Plugin, Verdict
from tests.conftest import Database, MakePeople
from tests.plugins.attachments.uploading import (
    PNG,
    TEXT,
    attached,
    fetch,
    kept_bytes,
    let_pass,
    png,
    sent,
    status_for,
    upload,
)
from tests.support.moderating import is_mod
from tests.support.people import Person

People = Callable[[str], Person]


class Holding(Plugin):
    async def check_message(self, message: BeforeMessageSend) -> Verdict | None:
        return Hold("a file") if message.attachments else None


@pytest.fixture
async def people(serve: MakePeople) -> People:
    return await serve(Hooks(can_moderate=is_mod), plugins=[Attachments()], moderation_tools=True)


async def test_a_message_carries_files_everywhere_it_is_shown(people: People) -> None:
    alice, bob = people("alice"), people("bob")
    group = await alice.group("bob")
    answer = await upload(alice, group, png(5, 4), name="../..\\evil\u202egnp.exe.png")
    expected = answer.json["attachment"]
    assert {**expected, "id": ""} == {
        "id": "",
        "name": "evilgnp.exe.png",
        "contentType": "image/png",
        "size": len(png(5, 4)),
        "width": 5,
        "height": 4,
        "hasThumbnail": True,
    }
    async with bob.tab() as tab:
        message = await alice.send(group, "look", attachmentIds=[expected["id"]])
        event = (await tab.event("message.created"))["message"]
        position = tab.last_event_id
        edited = await alice.edit(message["id"], "look here")
        updated = (await tab.event("message.updated"))["message"]
    assert message["attachments"] == event["attachments"] == updated["attachments"] == [expected]
    assert edited["attachments"] == [expected]
    listed = await bob.listed(f"/conversations/{group}/messages")
    found = await bob.listed("/search/messages?q=here")
    assert listed[0]["attachments"] == found[0]["attachments"] == [expected]
    plain = await alice.send(group, "nothing")
    assert "attachments" not in plain
    async with bob.tab(position) as tab:
        assert "attachments" not in (await tab.until(lambda it: it.id is not None))[-1].data
    whole = await fetch(bob, f"/attachments/{expected['id']}")
    assert (whole.status, whole.body) == (200, png(5, 4))


async def test_only_who_may_read_a_message_reads_its_files(people: People) -> None:
    alice, bob, carol, mallory = map(people, ("alice", "bob", "carol", "mallory"))
    group = await alice.group("bob", "carol")
    attachment_id = await attached(alice, group)
    assert [await status_for(person, attachment_id) for person in (alice, bob)] == [200, 404]
    message = await alice.send(group, "look", attachmentIds=[attachment_id])
    everybody = (alice, bob, carol, mallory)
    assert [await status_for(user, attachment_id) for user in everybody] == [200, 200, 200, 404]
    await alice.call("DELETE", f"/conversations/{group}/participants", json={"userId": "carol"})
    assert await status_for(carol, attachment_id) == 404
    assert await status_for(alice, "no-such-thing") == 404
    tombstone = await alice.delete(message["id"])
    assert "attachments" not in tombstone
    assert [await status_for(user, attachment_id) for user in everybody] == [404] * 4


async def test_a_tombstone_that_still_has_files_shows_none(
    people: People, database: Database
) -> None:
    """As another program may leave one."""
    alice = people("alice")
    message = await sent(alice, await alice.group("bob"))
    now = {"$set": {"deletedAt": datetime.now(UTC), "body": ""}}
    await database["messages"].update_one({"_id": message["id"]}, now)
    assert await status_for(alice, message["attachments"][0]["id"]) == 404


async def test_who_has_left_does_not_read_what_they_never_sent(people: People) -> None:
    alice, bob = people("alice"), people("bob")
    group = await alice.group("bob")
    attachment_id = await attached(bob, group)
    await bob.call("DELETE", f"/conversations/{group}/participants", json={"userId": "bob"})
    assert await status_for(bob, attachment_id) == 404


async def test_only_own_files_of_the_same_conversation_can_be_sent(people: People) -> None:
    alice, bob = people("alice"), people("bob")
    group, other = await alice.group("bob"), await alice.group("bob")
    attachment_id = await attached(alice, group)

    async def send(who: Person, place: str, ids: Any) -> str | None:
        given = {"body": "look", "attachmentIds": ids}
        return (await who.post(f"/conversations/{place}/messages", given)).code

    assert await send(bob, group, [attachment_id]) == "ATTACHMENT_NOT_FOUND"
    assert await send(alice, other, [attachment_id]) == "ATTACHMENT_NOT_FOUND"
    assert await send(alice, group, ["unknown"]) == "ATTACHMENT_NOT_FOUND"
    assert await send(alice, group, [str(number) for number in range(11)]) == "INVALID_INPUT"
    assert await send(alice, group, [attachment_id, attachment_id]) is None
    assert await send(alice, group, [attachment_id]) is None  # Once more, in another message.


async def test_a_forward_copies_the_right_and_not_the_bytes(
    people: People, database: Database
) -> None:
    alice, bob, carol = people("alice"), people("bob"), people("carol")
    group, direct = await alice.group("bob"), await bob.direct("carol")
    message = await sent(alice, group)
    (attachment,) = message["attachments"]
    assert await status_for(carol, attachment["id"]) == 404
    before = await kept_bytes(database)
    answer = await bob.post(f"/messages/{message['id']}/forward", {"conversationId": direct})
    assert answer.json["message"]["attachments"] == [attachment]
    assert await kept_bytes(database) == before
    await alice.delete(message["id"])
    assert [await status_for(person, attachment["id"]) for person in (alice, bob, carol)] == [
        404,
        200,
        200,
    ]


async def test_a_repeated_send_is_the_same_message(people: People) -> None:
    alice = people("alice")
    group = await alice.group("bob")
    given = {"attachmentIds": [await attached(alice, group)], "clientMessageId": "key"}
    first = await alice.send(group, "look", **given)
    again = await alice.post(f"/conversations/{group}/messages", {"body": "look", **given})
    assert (again.status, again.json["message"]) == (200, first)
    other = {**given, "body": "look", "attachmentIds": [await attached(alice, group)]}
    answer = await alice.post(f"/conversations/{group}/messages", other)
    assert answer.code == "MESSAGE_CONFLICT"


async def test_without_the_plugin_there_are_none(serve: MakePeople) -> None:
    alice = (await serve())("alice")
    group = await alice.group("bob")
    path = f"/conversations/{group}/messages"
    answer = await alice.post(path, {"body": "look", "attachmentIds": ["one"]})
    assert (answer.status, answer.code) == (501, "ATTACHMENTS_UNSUPPORTED")
    assert (await alice.post(path, {"body": "look", "attachmentIds": []})).status == 201
    assert (await upload(alice, group)).code == "NOT_FOUND"


async def test_the_server_api_sends_them_too(people: People) -> None:
    alice = people("alice")
    group = await alice.group("bob")
    attachment_id = await attached(alice, group, TEXT, name="notes.txt")
    api = alice.chat.api
    message = await api.send_message("alice", group, "look", attachment_ids=[attachment_id])
    assert message.attachments is not None
    assert [(attachment.name, attachment.content_type) for attachment in message.attachments] == [
        ("notes.txt", "text/plain")
    ]


async def test_a_held_message_keeps_its_files_until_it_is_sent(
    serve: MakePeople, database: Database
) -> None:
    plugin = Attachments()
    people = await serve(
        Hooks(can_moderate=is_mod), plugins=[plugin, Holding(), Filter()], moderation_tools=True
    )
    alice, bob, mod = people("alice"), people("bob"), people("mod")
    group = await alice.group("bob")
    attachment_id = await attached(alice, group)
    given = {"body": "look", "attachmentIds": [attachment_id]}
    assert (await alice.post(f"/conversations/{group}/messages", given)).code == "MESSAGE_HELD"
    await let_pass(database)
    assert await plugin.sweep() == 0
    (held,) = (await mod.get("/moderation/held")).json["heldMessages"]
    assert [attachment["id"] for attachment in held["attachments"]] == [attachment_id]
    assert await status_for(mod, attachment_id) == 200
    assert await status_for(bob, attachment_id) == 404
    answer = await mod.post("/moderation/held/release", {"heldId": held["id"]})
    assert [attachment["id"] for attachment in answer.json["message"]["attachments"]] == [
        attachment_id
    ]
    assert await status_for(bob, attachment_id) == 200


async def test_moderators_see_files_at_their_desk_and_bring_them_back(
    people: People, database: Database
) -> None:
    alice, bob, mod = people("alice"), people("bob"), people("mod")
    direct = await alice.direct("bob")
    message = await sent(alice, direct)
    attachment_id = message["attachments"][0]["id"]
    assert await status_for(mod, attachment_id) == 200
    looks = database["audit"].find({"action": "look-at-attachment", "targetId": attachment_id})
    assert [look["actorUserId"] async for look in looks] == ["mod"]
    path = f"/moderation/tools/messages/{message['id']}"
    removed = await mod.post(f"{path}/remove", {})
    assert "attachments" not in removed.json["message"]
    assert [await status_for(person, attachment_id) for person in (alice, bob)] == [404, 404]
    (version,) = (await mod.get(f"{path}/versions")).json["versions"]
    assert version["attachments"] == message["attachments"]
    assert await status_for(mod, attachment_id) == 200
    restored = await mod.post(f"{path}/restore")
    assert restored.json["message"]["attachments"] == message["attachments"]
    assert await status_for(bob, attachment_id) == 200


async def test_a_pinned_reply_and_a_thread_are_no_different(people: People) -> None:
    alice = people("alice")
    group = await alice.group("bob")
    root = await sent(alice, group)
    attachment_id = await attached(alice, group)
    reply = await alice.send(
        group, "look", threadRootMessageId=root["id"], attachmentIds=[attachment_id]
    )
    thread = await alice.listed(f"/conversations/{group}/threads/{root['id']}/messages")
    assert thread[0]["attachments"] == reply["attachments"]
    many = await asyncio.gather(*(fetch(alice, f"/attachments/{attachment_id}") for _ in range(5)))
    assert {answer.body for answer in many} == {PNG}
