"""`chat-aio conversations`: whole conversations from one chat to another, and back the same."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from chat_aio import Chat, Hooks, Options
from chat_aio.actions.context import utc_now
from chat_aio.actions.maintenance.conversations import exporting, importing
from chat_aio.errors import StorageUnavailable
from chat_aio.store.change_stream import StreamChange, open_changes, tick
from chat_aio.store.database import Database as Store
from chat_aio.store.maintenance import conversations as stored
from tests.admin.running import People, Run, Tool, kept, run
from tests.admin.world import World, make_world
from tests.conftest import PATIENT, Database, MakeChat, MakePeople
from tests.support.people import PATIENCE, Person, picked_by_header
from tests.support.pool import Pool

USERS = ("alice", "bob", "carol", "dave", "erin")
WRITTEN = ("conversations", "counters", "messages")


@dataclass(frozen=True)
class Source:
    """Another chat, with its own database."""

    database: Database
    people: People
    url: str

    async def tool(self, *arguments: str) -> Run:
        place = {"CHAT_AIO_MONGO_URL": self.url, "CHAT_AIO_DATABASE": self.database.name}
        return await run(*arguments, **place)


@pytest.fixture
async def people(serve: MakePeople) -> People:
    return await serve(room_controls=True)


@pytest.fixture
async def source(
    database: Database, pool: Pool, aiohttp_client: Any, client_url: str
) -> AsyncIterator[Source]:
    taken = await pool.take(database.client)
    app = web.Application()
    hooks = Hooks(can_moderate=lambda asked: asked.user_id == "mod")
    given: dict[str, Any] = {**PATIENT, "room_controls": True}
    chat = Chat(taken, auth=picked_by_header, hooks=hooks, options=Options(**given))
    chat.mount(app)
    client = await aiohttp_client(app)
    yield Source(taken, lambda user_id: Person(user_id, client, chat), client_url)
    pool.give_back(taken)


@dataclass(frozen=True)
class Moved:
    """A world of another chat, and the file with some of its conversations."""

    world: World
    file: Path
    ids: tuple[str, ...]


@pytest.fixture
async def moved(source: Source, database: Database, tmp_path: Path) -> Moved:
    """Exported, to be imported into a chat with the same key for direct conversations."""
    world = await make_world(source.people)
    alice = source.people("alice")
    here = f"/conversations/{world.group}"
    given = {"slowModeSeconds": 5, "frozen": True, "history": "since_join"}
    for answer in (
        await alice.call("PATCH", here, json=given),
        await alice.post(f"{here}/participants", {"userIds": ["zoe"]}),
    ):
        assert answer.status == 200, answer
    await alice.send(world.group, "to zoe as well")
    versioned: dict[str, dict[str, Any]] = {"$set": {"metadataVersion": 3}}
    await source.database["messages"].update_one({"body": "to zoe as well"}, versioned)
    view = {"archived": True, "favourite": False, "unlistedUpToSeq": -1}
    versioned["$set"] |= {"key": "order:7", "participants.0.view": view}
    await source.database["conversations"].update_one({"_id": world.group}, versioned)
    key = await source.database["settings"].find_one({"_id": "direct_conversation_key"})
    assert key is not None
    await database["settings"].replace_one({"_id": key["_id"]}, key, upsert=True)
    ids = (world.group, world.channel, world.direct, world.blocked)
    file = tmp_path / "moved.jsonl"
    done = await source.tool("conversations", "export", *ids, "--output", str(file), "--json")
    assert done.json["conversations"] == len(ids)
    return Moved(world, file, ids)


async def test_everything_arrives_as_it_was(
    source: Source, database: Database, tool: Tool, people: People, moved: Moved
) -> None:
    """The documents, the file of another export, and what people see; a second run does nothing."""
    tried = await tool("conversations", "import", str(moved.file), "--dry-run", "--json")
    assert tried.json["conversations"] == len(moved.ids)
    assert await kept(database, *WRITTEN) == [[], [], []]
    done = await tool("conversations", "import", str(moved.file), "--json")
    assert done.json["messages"] == tried.json["messages"] > 0
    assert (await tool("check", "--json")).json["violations"] == []
    again = await tool("conversations", "export", *moved.ids)
    assert again.output == moved.file.read_text()
    assert await documents(database, moved) == await documents(source.database, moved)
    zoe = people("zoe")
    (shown,) = await zoe.listed(f"/conversations/{moved.world.group}/messages")
    assert (shown["body"], await zoe.unread(moved.world.group)) == ("to zoe as well", 1)
    for user_id in (*USERS, "zoe"):
        there, here = source.people(user_id), people(user_id)
        assert await seen_by(here, moved) == await seen_by(there, moved)

    before = await kept(database, *WRITTEN)
    repeated = await tool("conversations", "import", str(moved.file), "--json")
    assert (repeated.json["conversations"], repeated.json["messages"]) == (0, 0)
    assert repeated.json["unchanged"]["conversations"] == len(moved.ids)
    assert await kept(database, *WRITTEN) == before


async def documents(database: Database, moved: Moved) -> Any:
    """What is stored, without what an import cannot know or adds."""
    left_out = {
        "conversations": {"change", "epoch", "blockedBy", "importedAt", "importDigest"},
        "counters": {"epoch", "fence", "sent"},
        "messages": {"change", "importedAt"},
    }
    field = {"messages": "conversationId"}
    found = {}
    for name, fields in left_out.items():
        chosen = {field.get(name, "_id"): {"$in": moved.ids}}
        rows = await database[name].find(chosen).sort("_id", 1).to_list()
        found[name] = [
            {key: value for key, value in row.items() if key not in fields} for row in rows
        ]
    for row in found["conversations"]:
        # A mark says what was known then; an import knows it up to what was read.
        for participant in row["participants"]:
            participant.pop("sentUpToSeq"), participant.pop("sentCount")
    return found


async def seen_by(person: Person, moved: Moved) -> Any:
    """Lists, unread counts, messages, threads and searches of these conversations."""
    listed = (await person.get("/conversations")).json["conversations"]
    group = f"/conversations/{moved.world.group}"
    paths = (
        *(f"/conversations/{conversation_id}/messages" for conversation_id in moved.ids),
        f"{group}/threads/{moved.world.root}/messages",
        "/search/messages?q=root",
    )
    pages = [(await person.get(path)).json for path in paths]
    return [message for message in listed if message["id"] in moved.ids], pages


async def test_a_chat_at_work_gets_the_conversation_and_no_old_events(
    database: Database, tool: Tool, people: People, moved: Moved
) -> None:
    """Messages of the import are not in the change stream at all; later ones arrive as ever."""
    alice, bob = people("alice"), people("bob")
    store, seen = Store(database), []
    ended = asyncio.Event()

    async def take(change: StreamChange) -> None:
        seen.append((change.collection, change.operation))
        if change.tick_id == "end":
            ended.set()

    changes = await open_changes(store)
    reading = changes.start(take)
    async with alice.tab() as tab:
        await tab.next()
        assert (await tool("conversations", "import", str(moved.file))).code == 0
        sent = await bob.send(moved.world.direct, "after the move")
        frame = await tab.next()
        while frame.event is None:
            frame = await tab.next()
        assert (frame.event, frame.data["message"]["id"]) == ("message.created", sent["id"])
        last = sent["seq"]
    await tick(store, tick_id="end", at=utc_now())
    await asyncio.wait_for(ended.wait(), PATIENCE)
    changes.stop()
    await reading
    assert seen.count(("messages", "insert")) == 1
    assert seen.count(("conversations", "insert")) == len(moved.ids)
    missed = await bob.send(moved.world.direct, "missed")
    async with alice.tab(f"{moved.world.direct}:{last}") as tab:
        assert (await tab.event("message.created"))["message"]["id"] == missed["id"]
    assert await alice.unread(moved.world.direct) > 0
    # It has lived on: the same file still changes nothing.
    repeated = await tool("conversations", "import", str(moved.file), "--json")
    assert repeated.json["unchanged"]["conversations"] == len(moved.ids)
    assert (await tool("check", "--json")).json["violations"] == []


async def test_a_run_that_is_cut_short_shows_nothing_and_is_continued(
    database: Database,
    tool: Tool,
    people: People,
    moved: Moved,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def cut(*_: object) -> bool:
        raise StorageUnavailable

    with monkeypatch.context() as patch:
        patch.setattr(stored, "create", cut)
        assert (await tool("conversations", "import", str(moved.file))).code == 1
    assert await database["messages"].count_documents({}) > 0
    alice = people("alice")
    assert (await alice.get("/conversations")).json["conversations"] == []
    here = f"/conversations/{moved.world.group}/messages"
    assert (await alice.get(here)).status == 404
    assert (await alice.call("DELETE", f"/messages/{moved.world.root}")).status == 404
    assert (await tool("conversations", "import", str(moved.file))).code == 0
    assert (await tool("check", "--json")).json["violations"] == []
    assert (await tool("conversations", "export", *moved.ids)).output == moved.file.read_text()


async def test_two_runs_at_once_do_no_harm(
    make_chat: MakeChat, tool: Tool, moved: Moved, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both find nothing there; both write everything, and one of them finds it written."""
    contexts = [(await make_chat())._context for _ in range(2)]
    plans = [await importing.plan_import(context, moved.file) for context in contexts]
    assert [plan.counts(new=True).conversations for plan in plans] == [len(moved.ids)] * 2
    monkeypatch.setattr(importing, "CONVERSATIONS_AT_A_TIME", 3)
    both = zip(contexts, plans, strict=True)
    await asyncio.gather(*(importing.carry_out(context, plan) for context, plan in both))
    assert (await tool("check", "--json")).json["violations"] == []
    assert (await tool("conversations", "export", *moved.ids)).output == moved.file.read_text()


async def test_what_an_import_of_another_file_has_left_is_named(
    database: Database, tool: Tool, moved: Moved
) -> None:
    lines = moved.file.read_text().splitlines()
    first = json.loads(lines[2])
    left = {
        "_id": "left",
        "conversationId": moved.world.group,
        "seq": 99,
        "importedAt": utc_now(),
    }
    whole: dict[str, Any] = {**PLAIN, **left}
    await database["messages"].insert_one(whole)
    refused = (await tool("conversations", "import", str(moved.file))).refusal_at_work
    assert "left by an import of another file" in refused
    await database["messages"].delete_many({})
    await database["messages"].insert_one({**whole, "_id": first["id"], "seq": first["seq"]})
    refused = (await tool("conversations", "import", str(moved.file))).refusal_at_work
    assert f"message {first['id']} (seq {first['seq']}) is there already" in refused
    assert moved.world.group not in [
        conversation["_id"] for conversation in await database["conversations"].find().to_list()
    ]


PLAIN = {
    "senderId": "alice",
    "body": "x",
    "role": "user",
    "createdAt": utc_now(),
    "editedAt": None,
    "deletedAt": None,
    "replyToMessageId": None,
    "threadRootMessageId": None,
    "timelines": [],
    "reactions": [],
    "mentions": [],
    "forwardedFrom": None,
    "metadata": {},
}


async def test_what_is_there_with_other_content_is_not_overwritten(
    database: Database, tool: Tool, people: People, moved: Moved
) -> None:
    direct = await people("alice").direct("bob")
    await people("alice").send(direct, "here before")
    assert direct == moved.world.direct
    refused = (await tool("conversations", "import", str(moved.file))).refusal_at_work
    assert "the direct conversation of alice and bob" in refused
    assert "other content" in refused
    assert await database["conversations"].count_documents({}) == 1


async def test_a_key_that_another_conversation_has_is_not_taken(
    database: Database, tool: Tool, people: People, moved: Moved
) -> None:
    other = await people("alice").group()
    await database["conversations"].update_one({"_id": other}, {"$set": {"key": "order:7"}})
    refused = (await tool("conversations", "import", str(moved.file))).refusal_at_work
    assert f"{moved.world.group} cannot be imported: another conversation has its key" in refused
    assert await database["conversations"].count_documents({}) == 1


async def test_a_conversation_that_came_from_here_is_the_same(source: Source, moved: Moved) -> None:
    """Nothing was imported, so the content is compared; one more message makes another one."""
    same = await source.tool("conversations", "import", str(moved.file), "--json")
    assert same.json["unchanged"]["conversations"] == len(moved.ids)
    await source.people("alice").send(moved.world.direct, "more")
    refused = (await source.tool("conversations", "import", str(moved.file))).refusal_at_work
    assert "other content" in refused


async def test_a_direct_conversation_gets_the_id_of_its_pair_here(
    database: Database, tool: Tool, people: People, moved: Moved
) -> None:
    """In a chat with another key; forwards that name it name it as it is called here."""
    await database["settings"].delete_many({})
    assert (await tool("conversations", "import", str(moved.file))).code == 0
    direct = await people("alice").direct("bob")
    assert direct != moved.world.direct
    assert len(await people("alice").listed(f"/conversations/{direct}/messages")) == 2
    assert (await tool("check", "--json")).json["violations"] == []


async def test_a_block_here_holds_in_what_is_imported(
    tool: Tool, people: People, moved: Moved
) -> None:
    answer = await people("bob").post("/moderation/blocks", {"targetUserId": "alice"})
    assert answer.status in (200, 201)
    assert (await tool("conversations", "import", str(moved.file))).code == 0
    refused = await people("alice").post(
        f"/conversations/{moved.world.direct}/messages", {"body": "hello?"}
    )
    assert refused.code == "DIRECT_INTERACTION_BLOCKED"
    assert (await tool("check", "--json")).json["violations"] == []


async def test_what_is_sent_meanwhile_is_not_half_there(
    source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The export ends with the message that was the newest when it began; retention that removes
    what it has not read yet is a failure and no hole."""
    alice = source.people("alice")
    group = await alice.group("bob")
    for number in range(6):
        await alice.send(group, f"m{number}")
    store, lines = Store(source.database), list[bytes]()
    monkeypatch.setattr(stored, "PAGE", 2)
    read = stored.pages_of_messages

    def disturbed(act: Callable[[], Any]) -> Any:
        async def pages(*given: Any, **span: Any) -> AsyncIterator[Any]:
            async for page in read(*given, **span):
                yield page
                await act()

        return pages

    async def send() -> None:
        await alice.send(group, "meanwhile")

    monkeypatch.setattr(stored, "pages_of_messages", disturbed(send))
    await exporting.export_conversations(store, [group], lines.append)
    bodies = [json.loads(line)["body"] for line in b"".join(lines).splitlines()[2:]]
    assert bodies == [f"m{number}" for number in range(6)]

    async def remove() -> None:
        await source.database["messages"].delete_many({"conversationId": group, "seq": 4})

    monkeypatch.setattr(stored, "pages_of_messages", disturbed(remove))
    with pytest.raises(exporting.CannotExport, match="no message with seq 4"):
        await exporting.export_conversations(store, [group], lines.append)


async def test_what_is_not_there_is_not_exported(source: Source, tmp_path: Path) -> None:
    file = tmp_path / "none.jsonl"
    lost = await source.tool("conversations", "export", "nowhere", "--output", str(file))
    assert "There is no conversation nowhere" in lost.refusal
    assert not file.exists()


async def test_after_retention_the_numbers_go_on(
    source: Source, tool: Tool, people: People, tmp_path: Path
) -> None:
    """Removed messages are not in the file; replies to them are."""
    alice, bob = source.people("alice"), source.people("bob")
    group = await alice.group("bob")
    first = await alice.send(group, "old")
    for _ in range(3):
        await bob.send(group, "old, too")
    long_ago = {"$set": {"createdAt": utc_now() - timedelta(days=9)}}
    await source.database["messages"].update_many({}, long_ago)
    await alice.send(group, "new", replyToMessageId=first["id"])
    await bob.send(group, "newer")
    removing = ("retention", "--older-than", "5", "--remove", "--as", "mod", "--yes")
    assert (await source.tool(*removing)).code == 0
    file = tmp_path / "later.jsonl"
    assert (await source.tool("conversations", "export", group, "--output", str(file))).code == 0
    assert len(file.read_text().splitlines()) == 4
    assert (await tool("conversations", "import", str(file))).code == 0
    assert (await tool("check", "--json")).json["violations"] == []
    assert await people("alice").unread(group) == await alice.unread(group)
    assert (await people("alice").send(group, "on"))["seq"] == 7
    again = await source.tool("conversations", "export", group)
    assert again.output == file.read_text()
