"""Blocks: what they stop, and that another program's are made whole. What they keep from streams
(typing, presence, receipts) is in `tests/web/test_keeping_apart.py`."""

from typing import Any

import pytest

from tests.conftest import Database
from tests.support.moderating import People, block, unblock


async def test_a_block_stops_everything_direct(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    direct, group = await alice.direct("bob"), await alice.group("bob")
    hers, his = await alice.send(direct, "hers"), await bob.send(direct, "his")
    elsewhere = await bob.send(group, "elsewhere")
    made = await block(alice, "bob")
    assert made.status == 200
    assert set(made.json["block"]) == {"blockerUserId", "blockedUserId", "createdAt"}
    assert (await block(alice, "bob")).json == made.json
    here = f"/conversations/{direct}/messages"
    for who, own, other in ((alice, hers, his), (bob, his, hers)):
        for answer in (
            await who.post(here, {"body": "x"}),
            await who.post(here, {"body": "x", "replyToMessageId": "none"}),
            await who.call("PATCH", f"/messages/{own['id']}", json={"body": "x"}),
            await who.call("DELETE", f"/messages/{own['id']}"),
            await who.post(f"/messages/{other['id']}/reactions", {"emoji": "x"}),
            await who.call("DELETE", f"/messages/{other['id']}/reactions", json={"emoji": "x"}),
            await who.post(f"/messages/{elsewhere['id']}/forward", {"conversationId": direct}),
        ):
            assert (answer.status, answer.code) == (403, "DIRECT_INTERACTION_BLOCKED")
        assert await who.direct("bob" if who is alice else "alice") == direct
        assert len(await who.listed(here)) == 2
        assert await who.listed("/search/messages?q=hers")
        await who.read(direct, other["id"])
        out = {"conversationId": group}
        assert (await who.post(f"/messages/{own['id']}/forward", out)).status == 201
    await alice.send(group, "groups go on")
    for _ in range(2):
        assert (await unblock(alice, "bob")).json == {"ok": True}
    await bob.send(direct, "again")


async def test_a_block_stops_a_new_direct_conversation(person: People) -> None:
    alice, bob, carol = person("alice"), person("bob"), person("carol")
    await block(alice, "bob")
    for who, whom in ((alice, "bob"), (bob, "alice")):
        answer = await who.post("/conversations", {"otherUserId": whom})
        assert (answer.status, answer.code) == (403, "DIRECT_INTERACTION_BLOCKED")
    await carol.direct("alice")
    await block(bob, "alice")
    await unblock(alice, "bob")
    assert (await alice.post("/conversations", {"otherUserId": "bob"})).status == 403
    await unblock(bob, "alice")
    direct = await bob.direct("alice")
    assert (await bob.send(direct, "hi"))["seq"] == 1


async def test_a_deleted_message_can_be_deleted_under_a_block(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    message = await alice.send(await alice.direct("bob"), "hi")
    await alice.delete(message["id"])
    await block(bob, "alice")
    assert (await alice.call("DELETE", f"/messages/{message['id']}")).status == 200


async def test_blocks_of_a_user_are_listed(person: People) -> None:
    alice = person("alice")
    for user_id in ("bob", "carol", "dave"):
        await block(alice, user_id)
    await block(person("bob"), "alice")
    page = (await alice.get("/moderation/blocks?limit=2")).json
    assert [block_row["blockedUserId"] for block_row in page["blocks"]] == ["dave", "carol"]
    rest = await alice.get(f"/moderation/blocks?cursor={page['nextCursor']}")
    assert [block_row["blockedUserId"] for block_row in rest.json["blocks"]] == ["bob"]
    assert rest.json["nextCursor"] is None


@pytest.mark.parametrize("user_id", [None, "", " ", 7, ["bob"], {"$ne": ""}, "x" * 257, "alice"])
async def test_blocks_that_are_refused(person: People, user_id: Any) -> None:
    answer = await block(person("alice"), user_id)
    assert (answer.status, answer.code) == (400, "INVALID_INPUT")
    if user_id != "alice":
        assert (await unblock(person("alice"), user_id)).code == "INVALID_INPUT"


async def test_a_block_is_whole_again_after_another_program(
    moderated: People, database: Database
) -> None:
    """The row and the fence in the conversation; blocking and taking back mend both."""
    alice, bob = moderated("alice"), moderated("bob")
    direct = await alice.direct("bob")
    await block(alice, "bob")
    await database["conversations"].update_one({"_id": direct}, {"$set": {"blockedBy": []}})
    await block(alice, "bob")
    answer = await bob.post(f"/conversations/{direct}/messages", {"body": "x"})
    assert answer.code == "DIRECT_INTERACTION_BLOCKED"
    await database["blocks"].delete_many({})
    await unblock(alice, "bob")
    await bob.send(direct, "again")
