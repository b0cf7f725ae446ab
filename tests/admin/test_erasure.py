"""`chat-aio users erase`: nothing names the user any more, and everything else goes on as it
was."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from click.testing import CliRunner, Result

from chat_aio import Hooks
from chat_aio.actions.maintenance import erasure as rules
from chat_aio.admin.erasure import erase as command
from chat_aio.plugins import Filter
from chat_aio.store import blocks
from chat_aio.store.maintenance import erasure
from chat_aio.store.membership import Membership
from tests.admin.life import HELD, MODERATORS, OTHERS, USER, Life, done, live, text_of
from tests.admin.running import AS_MOD, DO, People, Tool
from tests.admin.test_export import BYTES
from tests.conftest import Database, MakePeople
from tests.support.people import Frame

MOST_RUNS = 60
EraseHere = Callable[[], Awaitable[Result]]


@pytest.fixture
async def people(serve: MakePeople) -> People:
    hooks = Hooks(can_moderate=lambda asked: asked.user_id in MODERATORS)
    plugins = [Filter([HELD])]
    return await serve(
        hooks, plugins=plugins, inbox=True, room_controls=True, moderation_tools=True
    )


@pytest.fixture
def erase_here(client_url: str, database: Database) -> EraseHere:
    """The command, with what goes wrong within it."""
    env = {"CHAT_AIO_MONGO_URL": client_url, "CHAT_AIO_DATABASE": database.name}

    async def erase() -> Result:
        return await asyncio.to_thread(CliRunner().invoke, command, (USER, *DO), env=env)

    return erase


async def naming(database: Database) -> set[str]:
    """The collections that name the user anywhere."""
    return {name for name, text in (await text_of(database)).items() if USER in text}


async def unread(people: People, database: Database) -> dict[tuple[str, str], int]:
    """What the others have not read: as the chat says, which is as counted one by one."""
    said: dict[tuple[str, str], int] = {}
    for name in OTHERS:
        page = (await people(name).get("/conversations")).json["conversations"]
        said |= {(name, message["id"]): message["unreadCount"] for message in page}
    for (name, conversation_id), number in said.items():
        found = await database["conversations"].find_one({"_id": conversation_id}) or {}
        (reader,) = (
            participant for participant in found["participants"] if participant["userId"] == name
        )
        behind = {"conversationId": conversation_id, "seq": {"$gt": reader["lastReadSeq"]}}
        others = {**behind, "senderId": {"$ne": name}}
        assert number == await database["messages"].count_documents(others)
    return said


async def standing(database: Database) -> list[Any]:
    """Where every message stands, and what the others have written."""
    shown = {"conversationId": 1, "seq": 1, "timelines": 1, "thread": 1, "createdAt": 1}
    rows = database["messages"].find({}, shown).sort("_id", 1)
    others = database["messages"].find({"senderId": {"$in": OTHERS}}, {"body": 1, "terms": 1})
    return [await rows.to_list(None), await others.sort("_id", 1).to_list(None)]


async def test_nothing_names_them_any_more(people: People, tool: Tool, database: Database) -> None:
    life = await live(people, database)
    everything = await text_of(database)
    nobody_in = {"settings", "processes", "notification_messages", *BYTES}
    nobody_in.add("deleted_conversations")
    assert await naming(database) == everything.keys() - nobody_in
    before = [await unread(people, database), await standing(database)]
    would = (await tool("users", "erase", USER, *AS_MOD, "--dry-run", "--json")).json
    assert would["dryRun"]
    assert await text_of(database) == everything
    async with people("alice").tab() as tab:
        erased = (await tool("users", "erase", USER, *DO, "--json")).json
        assert await naming(database) == set()
        assert [await unread(people, database), await standing(database)] == before
        await people("alice").send(life.shared, "told all")
        told = await tab.until(lambda frame: frame.event == "message.created")
    assert erased["counts"] == would["counts"]
    left = "".join((await text_of(database)).values())
    assert [name for name in ("in mine", "regretted", "here too") if name in left] == []
    found_by = {"$or": [{field: {"$exists": True}} for field in ("terms", "search", "requestHash")]}
    theirs = {"senderId": erased["pseudonym"], **found_by}
    assert await database["messages"].find_one(theirs) is None
    assert erased["bansInForce"] == []
    was_told(told, life, erased["pseudonym"])
    assert "Nothing done" in (await tool("users", "erase", USER, *DO)).output
    trail = await database["audit"].find({"action": "erase-user"}).to_list(None)
    assert [(entry["targetId"], entry["actorUserId"]) for entry in trail] == [
        (erased["pseudonym"], "mod")
    ]
    assert (await tool("users", "export", USER)).output == ""


def was_told(frames: list[Frame], life: Life, pseudonym: str) -> None:
    """What alice heard: who has left, what is deleted, which reactions are gone."""
    events = [frame for frame in frames if frame.event is not None][:-1]
    assert not [event for event in events if USER in str({**event.data, "affectedUserIds": ""})]
    left = {
        event.data["conversationId"]: event.data
        for event in events
        if event.event == "participant.removed"
    }
    assert left.keys() == {life.led, life.shared, life.direct}
    assert all(rows["affectedUserIds"] == [USER] for rows in left.values())
    roles = {
        name: {
            participant["userId"]: participant["role"]
            for participant in data["conversation"]["participants"]
        }
        for name, data in left.items()
    }
    assert roles[life.led] == {"bob": "admin", "alice": "member"}
    assert roles[life.shared] == {"alice": "admin", "bob": "member"}
    assert roles[life.direct] == {"alice": "admin", pseudonym: "admin"}
    assert left[life.direct]["conversation"]["pairKey"] == f"alice:{pseudonym}"
    gone = {
        event.data["message"]["id"]: event.data["message"]
        for event in events
        if event.event == "message.deleted"
    }
    first, _, deleted, *_, fenced, _ = life.own
    assert gone.keys() == {own["id"] for own in life.own} - {deleted["id"], fenced["id"]}
    for rows in gone.values():
        assert (rows["senderId"], rows["body"], rows["metadata"]) == (pseudonym, "", {})
        assert (rows["clientMessageId"], rows["forwardedFrom"]) == (None, None)
    assert gone[first["id"]]["mentions"] == ["alice"]
    assert gone[first["id"]]["reactions"] == [{"emoji": "💡", "count": 1, "userIds": ["bob"]}]
    removed = [event.data for event in events if event.event == "reaction.removed"]
    assert [row["emoji"] for row in removed] == ["👍", "🦋"]
    assert removed[-1]["message"]["reactions"] == [{"emoji": "👍", "count": 1, "userIds": ["bob"]}]
    assert len(events) == len(left) + len(gone) + len(removed)


async def test_whoever_has_the_id_later_begins_anew(
    people: People, tool: Tool, database: Database
) -> None:
    alice, user = people("alice"), people(USER)
    ids, pseudonyms = [], set()
    for _ in range(3):
        ids.append(await alice.direct(USER))
        assert await user.direct("alice") == ids[-1]
        await user.send(ids[-1], "hello")
        assert await alice.unread(ids[-1]) == 1
        for old in ids[:-1]:
            assert (await user.get(f"/conversations/{old}/messages")).code == "FORBIDDEN_READ"
            await alice.send(old, "to nobody")
        report = {"targetType": "user", "targetId": USER, "reason": "spam"}
        await done(alice, "POST", "/moderation/reports", **report)
        await done(alice, "POST", "/moderation/blocks", targetUserId=USER)
        refused = await user.post(f"/conversations/{ids[-1]}/messages", {"body": "x"})
        assert refused.code == "DIRECT_INTERACTION_BLOCKED"
        pseudonyms.add((await tool("users", "erase", USER, *DO, "--json")).json["pseudonym"])
        assert await naming(database) == set()
    assert (len(set(ids)), len(pseudonyms)) == (3, 1)
    reports = await database["reports"].find().to_list(None)
    assert sorted("openKey" in report for report in reports) == [False, False, True]
    await alice.delete((await alice.send(ids[0], "no block is left"))["id"])


class Dies(Exception):
    """The process ends here."""


def dying(real: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[None]]:
    """Does its work, which is its process's last."""

    async def and_dies(*args: Any, **kwargs: Any) -> None:
        await real(*args, **kwargs)
        raise Dies

    return and_dies


async def test_what_was_cut_short_anywhere_is_finished(
    people: People, database: Database, erase_here: EraseHere, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each run dies behind its first write. A ban in force, whoever made it, goes on."""
    life = await live(people, database)
    ban = (await done(people("mod"), "POST", "/moderation/bans", targetUserId=USER))["ban"]
    numbers, stand = await unread(people, database), await standing(database)
    await database["bans"].update_one({"_id": ban["id"]}, {"$set": {"createdByUserId": USER}})
    stored = await database["bans"].find_one({"_id": ban["id"]}) or {}
    for place, name in (
        (Membership, "change"),
        (rules, "rename_in_stamp"),
        (erasure, "rename_in_stamp"),
        (erasure, "write"),
        (blocks, "remove"),
        (erasure, "rename_in_report"),
    ):
        monkeypatch.setattr(place, name, dying(getattr(place, name)))
    runs = [await erase_here()]
    while isinstance(runs[-1].exception, Dies) and len(runs) < MOST_RUNS:
        runs.append(await erase_here())
    assert runs[-1].exit_code == 0, runs[-1]
    assert len(runs) > len(life.rows) + 6
    assert f"A ban in force still names {USER}" in runs[-1].stderr
    assert await naming(database) == {"bans"}
    everything = "".join((await text_of(database)).values())
    (pseudonym,) = set(re.findall(r"erased-\w+", everything))
    rows = await database["bans"].find().to_list(None)
    in_force = {**stored, "createdByUserId": pseudonym}
    assert [row for row in rows if USER in str(row)] == [in_force]
    assert (await people(USER).get("/conversations")).code == "USER_BANNED"
    assert [await unread(people, database), await standing(database)] == [numbers, stand]


@pytest.mark.parametrize("often", [1, 100])
async def test_what_is_written_meanwhile_is_found(
    people: People,
    database: Database,
    erase_here: EraseHere,
    monkeypatch: pytest.MonkeyPatch,
    often: int,
) -> None:
    group = await people("alice").group(USER)
    sent = await people(USER).send(group, "before")
    stored = await database["messages"].find_one({"_id": sent["id"]}) or {}
    late = [{**stored, "_id": f"{seq:024}", "seq": seq} for seq in range(2, 2 + often)]
    write = erasure.write

    async def write_and_receive(store: Any, *args: Any) -> None:
        await write(store, *args)
        if late:
            await store.messages.insert_one(late.pop())

    monkeypatch.setattr(erasure, "write", write_and_receive)
    run = await erase_here()
    if often == 1:
        assert (run.exit_code, await naming(database)) == (0, set())
    else:
        assert (run.exit_code, "is still writing" in run.stderr) == (1, True)


async def test_a_check_finds_nothing_afterwards(
    people: People, tool: Tool, database: Database
) -> None:
    """A direct conversation keeps its messages, and its counts fit the pseudonym."""
    user, bob = people(USER), people("bob")
    direct, group = await user.direct("bob"), await bob.group(USER)
    for here in (direct, direct, group):
        await user.send(here, "mine")
    await bob.send(direct, "yours")
    await bob.unread(direct)
    assert (await tool("check")).code == 0
    assert (await tool("users", "erase", USER, *DO)).code == 0
    checked = await tool("check")
    assert (checked.code, checked.output.splitlines()[-1]) == (0, "No violation.")
    assert await bob.unread(direct) == 2
    assert await bob.unread(group) == 1


async def test_names_and_topics_that_they_wrote_are_cleared(
    people: People, tool: Tool, database: Database
) -> None:
    """Also in groups that they have left; those that others wrote since stay."""
    alice, user = people("alice"), people(USER)
    named, kept, left = [await user.group("alice", name=f"{USER}'s") for _ in range(3)]
    topic = "call me, mallory"
    for admin, here in ((user, named), (user, kept), (user, left)):
        await done(admin, "PATCH", f"/conversations/{here}", topic=topic)
        role = {"userId": "alice", "role": "admin"}
        await done(admin, "PATCH", f"/conversations/{here}/participants", **role)
    await done(alice, "PATCH", f"/conversations/{kept}", name="Tea", topic="of tea", frozen=True)
    await done(user, "PATCH", f"/conversations/{kept}", name="Tea", frozen=False)
    await done(user, "DELETE", f"/conversations/{left}/participants", userId=USER)
    exported = (await tool("users", "export", USER)).output.count('"groupText"')
    assert exported == 4
    async with alice.tab() as tab:
        erased = (await tool("users", "erase", USER, *DO, "--json")).json
        await tab.until(lambda frame: frame.event == "conversation.updated")
    assert (erased["counts"]["groupNames"], erased["counts"]["groupTopics"]) == (2, 2)
    page = (await alice.get("/conversations")).json["conversations"]
    shown = {message["id"]: (message["name"], message["topic"]) for message in page}
    assert shown == {named: (None, ""), kept: ("Tea", "of tea"), left: (None, "")}
    assert await naming(database) == set()
    assert "call me" not in "".join((await text_of(database)).values())


async def test_who_and_whom(people: People, tool: Tool, database: Database) -> None:
    await people("alice").group("bob")
    before = await text_of(database)
    nobody, themselves, allowed = await asyncio.gather(
        tool("users", "erase", "nobody", *DO),
        tool("users", "erase", USER, "--as", USER, "--yes"),
        tool("users", "erase", "nobody", *DO, "--allow-unknown"),
    )
    assert (nobody.code, "names the user nobody" in nobody.errors) == (4, True)
    assert (allowed.code, "Nothing done" in allowed.output) == (0, True)
    assert {**await text_of(database), "settings": ""} == {**before, "settings": ""}
    assert (themselves.code, "you cannot erase yourself" in themselves.errors) == (2, True)


async def test_nobody_keeps_the_view_of_an_erased_user(
    people: People, tool: Tool, database: Database
) -> None:
    user = people(USER)
    direct = await user.direct("alice")
    given = {"archived": True, "favourite": True}
    assert (await user.call("PATCH", f"/conversations/{direct}/view", json=given)).status == 200
    assert (await tool("users", "erase", USER, *DO)).code == 0
    rows = await database["conversations"].find().to_list(None)
    assert not any("view" in reader for row in rows for reader in row["participants"])
