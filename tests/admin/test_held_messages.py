"""`chat-aio moderation held`, `release-held` and `discard-held`, beside a chat that runs."""

import json

import pytest

from chat_aio import Hooks
from chat_aio.plugins import BlockedWords, Filter
from tests.admin.running import AS_MOD, DO, Moderate, People, kept
from tests.conftest import Database, MakePeople
from tests.support.people import Person


@pytest.fixture
async def people(serve: MakePeople) -> People:
    rule = BlockedWords(["bad"], action="hold", reason="a listed word")
    hooks = Hooks(can_moderate=lambda asked: asked.user_id == "mod")
    return await serve(hooks, plugins=[Filter([rule])], room_controls=True)


async def hold(who: Person, conversation_id: str, body: str = "bad") -> str:
    """Have a message held; returns its id."""
    answer = await who.post(f"/conversations/{conversation_id}/messages", {"body": body})
    assert answer.code == "MESSAGE_HELD", answer
    row = await who.chat._context.database.held_messages.find_one(sort={"createdAt": -1, "_id": -1})
    return str(row["_id"])


async def test_what_waits_is_listed(people: People, moderate: Moderate) -> None:
    alice, mod = people("alice"), people("mod")
    group = await alice.group()
    ids = [await hold(alice, group, f"bad {number}\n\x1b[31mred") for number in range(3)]
    (page,) = [(await mod.get("/moderation/held")).json["heldMessages"]]
    assert (await moderate("held", "--json")).json == {"heldMessages": page, "more": False}
    lines = await moderate("held", "--limit", "2", "--json-lines")
    assert [json.loads(line)["id"] for line in lines.output.splitlines()] == [ids[2], ids[1]]
    assert "more than 2" in lines.errors
    table = (await moderate("held")).output
    head, first, *_ = table.splitlines()
    assert head.split() == ["ID", "HELD", "CONVERSATION", "SENDER", "REASON", "BODY"]
    assert all(text in first for text in (ids[2], group, "alice", "a listed word", "bad 2"))
    assert "\x1b" not in table


async def test_a_release_is_sent_and_told(
    people: People, moderate: Moderate, database: Database
) -> None:
    alice, bob = people("alice"), people("bob")
    group = await alice.group("bob")
    held_id = await hold(alice, group)
    before = await kept(database, "held_messages", "messages", "audit")
    would = await moderate("release-held", held_id, *AS_MOD, "--dry-run")
    said = f"Would send held message {held_id} of alice. Dry run: nothing was written.\n"
    assert would.output == said
    assert await kept(database, "held_messages", "messages", "audit") == before
    async with bob.tab() as tab:
        done = await moderate("release-held", held_id, *AS_MOD, "--json")
        told = (await tab.event("message.created"))["message"]
    assert done.json == {"message": told}
    assert (told["id"], told["senderId"], told["body"]) == (held_id, "alice", "bad")
    assert await kept(database, "held_messages") == [[]]
    (row,) = (await moderate("audit", "--target", held_id, "--json")).json["audit"]
    assert (row["action"], row["actorUserId"]) == ("release-held", "mod")
    assert row["details"] == {"conversationId": group, "senderId": "alice"}
    again = await moderate("release-held", held_id, *AS_MOD)
    assert "no such held message" in again.refusal


async def test_a_discarded_message_is_gone(
    people: People, moderate: Moderate, database: Database
) -> None:
    alice = people("alice")
    group = await alice.group()
    held_id = await hold(alice, group)
    before = await kept(database, "held_messages", "audit")
    would = await moderate("discard-held", held_id, *AS_MOD, "--dry-run", "--json")
    assert (would.json["dryRun"], would.json["heldMessage"]["id"]) == (True, held_id)
    assert await kept(database, "held_messages", "audit") == before
    done = await moderate("discard-held", held_id, *DO)
    assert done.output == f"Discarded held message {held_id} of alice.\n"
    assert await kept(database, "held_messages", "messages") == [[], []]
    (row,) = (await kept(database, "audit"))[0]
    assert (row["action"], row["targetId"], row["actorUserId"]) == ("discard-held", held_id, "mod")
    assert "no such held message" in (await moderate("discard-held", held_id, *DO)).refusal


async def test_what_cannot_be_decided_is_refused_before_and_with_a_dry_run(
    people: People,
    moderate: Moderate,
    database: Database,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    alice, bob = people("alice"), people("bob")
    group = await alice.group("bob")
    held_id = await hold(bob, group)
    release, discard = ("release-held", held_id, *AS_MOD), ("discard-held", held_id, *DO)
    await alice.call("PATCH", f"/conversations/{group}", json={"frozen": True})
    monkeypatch.setenv("CHAT_AIO_ROOM_CONTROLS", "true")
    for options in ((), ("--dry-run",)):
        assert "frozen" in (await moderate(*release, *options)).refusal
    await alice.call("PATCH", f"/conversations/{group}", json={"frozen": False})
    await moderate("ban", "bob", *AS_MOD)
    for options in ((), ("--dry-run",)):
        assert (
            "the sender of this message is banned" in (await moderate(*release, *options)).refusal
        )
    by_bob = ("--as", "bob")
    for command in ("release-held", "discard-held"):
        assert "banned" in (await moderate(command, held_id, *by_bob, "--dry-run")).refusal
        yes = ("--yes",) if command == "discard-held" else ()
        assert "banned" in (await moderate(command, held_id, *by_bob, *yes)).refusal
    await database["held_messages"].update_one({"_id": held_id}, {"$set": {"releasedBy": "mod"}})
    for options in ((), ("--dry-run",)):
        assert "released" in (await moderate(*discard, *options)).refusal
    assert len((await kept(database, "held_messages"))[0]) == 1
