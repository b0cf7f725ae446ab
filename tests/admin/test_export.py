"""`chat-aio users export`: everything that concerns a user, and nothing else."""

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from chat_aio import Hooks
from chat_aio.actions.maintenance.erasure import ACTS, WRITES
from chat_aio.actions.maintenance.export import LINES
from chat_aio.plugins import Filter
from chat_aio.schema.models import BareMessage
from chat_aio.store.database import COLLECTIONS
from chat_aio.store.maintenance import scanning
from chat_aio.store.maintenance.personal_data import PLACES
from tests.admin.life import HELD, MODERATORS, USER, Life, live
from tests.admin.running import People, Tool
from tests.conftest import Database, MakeChat, MakePeople

Rows = dict[str, list[dict[str, Any]]]
BARE = {str(model_field.alias) for model_field in BareMessage.model_fields.values()}


@pytest.fixture
async def people(serve: MakePeople) -> People:
    hooks = Hooks(can_moderate=lambda asked: asked.user_id in MODERATORS)
    plugins = [Filter([HELD])]
    return await serve(
        hooks, plugins=plugins, inbox=True, room_controls=True, moderation_tools=True
    )


BYTES = {"attachment_bytes.files", "attachment_bytes.chunks"}


async def expected(people: People, life: Life, database: Database) -> Rows:
    """What the chat itself says about it, by kind."""
    user, named, first = people(USER), life.touched["named"], life.own[0]
    own = []
    for message in life.own:
        here = f"/conversations/{message['conversationId']}/messages/{message['id']}"
        found = (await user.get(here)).json["message"]
        found.setdefault("attachments", None)
        own.append({name: found[name] for name in (*BARE, "mentions")})
    trail = await database["audit"].find().to_list(None)
    return {
        **life.rows,
        "ban": [{"id": "expired"}, *({"id": row["id"]} for row in life.rows["ban"])],
        "audit": [{"id": row["_id"]} for row in trail],
        "message": own,
        "reaction": [
            {"messageId": named["id"], "emoji": "👍"},
            {"messageId": named["id"], "emoji": "🦋"},
            {"messageId": first["id"], "emoji": "💡"},
        ],
        "mention": [
            {
                "messageId": message["id"],
                "senderId": message["senderId"],
                "createdAt": message["createdAt"],
            }
            for message in (named, first)
        ],
        "forward": [
            {
                "messageId": message["id"],
                "forwardedFrom": message["forwardedFrom"],
                "senderId": "bob",
            }
            for message in (life.touched["forward"],)
        ],
        "participation": [
            {"conversationId": conversation["id"], **participant_of(conversation)}
            for conversation in (await user.get("/conversations")).json["conversations"]
        ],
    }


def participant_of(conversation: dict[str, Any]) -> dict[str, Any]:
    (found,) = (
        participant for participant in conversation["participants"] if participant["userId"] == USER
    )
    return {name: found[name] for name in ("role", "joinedAt", "lastReadMessageId")}


def by_kind(lines: Iterable[dict[str, Any]], like: Rows) -> Rows:
    """The lines, with the fields that are looked at."""
    got: Rows = {}
    for line in lines:
        kind = line.pop("kind")
        line.setdefault("attachments", None)  # Most messages have none.
        looked_at = like[kind][0] if like.get(kind) else line
        got.setdefault(kind, []).append({name: line[name] for name in looked_at})
    return got


def in_order(rows: Rows) -> Rows:
    return {
        kind: sorted(found, key=lambda line: json.dumps(line, sort_keys=True))
        for kind, found in rows.items()
    }


async def test_every_line_is_there(
    people: People, tool: Tool, database: Database, tmp_path: Path
) -> None:
    life = await live(people, database)
    await people("alice").send(await people("alice").group("bob"), "of no concern")
    run = await tool("users", "export", USER)
    wanted = await expected(people, life, database)
    lines = [json.loads(line) for line in run.output.split("\n") if line]
    assert in_order(by_kind(map(dict, lines), wanted)) == in_order(wanted)
    assert "LINES" in run.errors

    file = tmp_path / "user.jsonl"
    kept = await tool("users", "export", USER, "--output", str(file), "--json")
    assert file.read_text() == run.output
    assert kept.json["counts"] == {kind: len(rows) for kind, rows in wanted.items()}
    assert "already exists" in (await tool("users", "export", USER, "--output", str(file))).refusal
    assert os.listdir(tmp_path) == [file.name]


async def test_what_is_there_of_nobody(people: People, tool: Tool, tmp_path: Path) -> None:
    await people("alice").group("bob")
    unknown = await tool("users", "export", USER)
    assert (unknown.code, unknown.output) == (4, "")
    assert f"no row of the database names the user {USER}" in unknown.errors
    run = await tool("users", "export", USER, "--allow-unknown")
    assert (run.code, run.output) == (0, "")
    missing = tmp_path / "none"
    lost = await tool("users", "export", "alice", "--output", str(missing / "x"))
    (line,) = lost.errors.splitlines()
    assert (lost.code, line) == (1, f"Error: --output: {missing} is not an existing folder")


def test_every_collection_is_looked_into() -> None:
    nobody_in = {"settings", "processes", "signals", "notification_messages", *BYTES}
    nobody_in.add("deleted_conversations")
    assert {*COLLECTIONS} - nobody_in <= PLACES.keys() == LINES.keys()
    assert PLACES.keys() == WRITES.keys() | ACTS.keys()
    assert not WRITES.keys() & ACTS.keys()


async def test_a_scan_goes_past_every_document_once(
    make_chat: MakeChat, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where another program's ids are of other types, and wherever a stretch ends."""
    store = (await make_chat())._context.database
    ids: list[Any] = [*range(5), *map(str, range(4)), {"a": 1}, {"a": 2}, b"b"]
    for stretch in (1, 4, len(ids), 100):
        monkeypatch.setattr(scanning, "STRETCH", stretch)
        await database["bans"].delete_many({})
        await database["bans"].insert_many(
            [{"_id": key, "odd": key in (1, "2")} for key in ids],
            bypass_document_validation=True,
        )
        seen = [row async for _, found in scanning.scan(store, store.bans, {}) for row in found]
        assert [row["_id"] for row in seen] == ids
        odd = [
            row["_id"]
            async for _, found in scanning.scan(store, store.bans, {"odd": True})
            for row in found
        ]
        assert odd == [1, "2"]


async def test_who_came_back_to_history_since_joining(people: People, tool: Tool) -> None:
    """What they said in an earlier stay is theirs; of others there is nothing."""
    alice, user = people("alice"), people(USER)
    group = await alice.group(USER)
    mine = await user.send(group, "mine")
    await alice.send(group, "a secret of alice")
    here = f"/conversations/{group}"
    for answer in (
        await user.call("DELETE", f"{here}/participants", json={"userId": USER}),
        await alice.call("PATCH", here, json={"history": "since_join"}),
        await alice.post(f"{here}/participants", {"userIds": [USER]}),
    ):
        assert answer.status == 200, answer
    assert (await user.call("PATCH", f"{here}/view", json={"favourite": True})).status == 200
    run = await tool("users", "export", USER)
    lines = [json.loads(line) for line in run.output.splitlines()]
    assert [line["id"] for line in lines if line["kind"] == "message"] == [mine["id"]]
    (participation,) = [line for line in lines if line["kind"] == "participation"]
    assert participation["hiddenUpToSeq"] == 2
    assert participation["view"] == {"favourite": True}
    assert "a secret of alice" not in run.output
