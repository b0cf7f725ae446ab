"""Lines of other systems: what may be left out, what ids become, and what is refused."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from chat_aio.schema.lines import ConversationLine, MessageLine
from tests.admin.running import People, Tool
from tests.conftest import Database

HEADER = {"kind": "header", "version": 1}
ROOM = {
    "kind": "conversation",
    "id": "!room:example.org",
    "type": "group",
    "name": "Engine room",
    "createdAt": "2024-01-01T09:00:00Z",
    "participants": [{"userId": "ada", "role": "admin"}, {"userId": "@grace:example.org"}],
}
FIRST = {
    "kind": "message",
    "id": "$1:example.org",
    "senderId": "ada",
    "body": "Found a moth in the relay",
    "createdAt": "2024-01-01T09:01:00Z",
}
ANSWER = {
    "kind": "message",
    "senderId": "@grace:example.org",
    "body": "Tape it into the log",
    "createdAt": "2024-01-01T10:02:00.5+01:00",
    "replyToMessageId": "$1:example.org",
    "threadRootMessageId": "$1:example.org",
    "alsoSendToMain": True,
    "reactions": [{"emoji": "🦋", "userId": "ada"}],
    "mentions": [{"userId": "ada"}],
}
DIRECT = {
    "kind": "conversation",
    "type": "direct",
    "createdAt": "2024-01-01T09:00:00Z",
    "participants": [
        {"userId": "ada", "lastReadSeq": 0},
        {"userId": "grace", "lastReadMessageId": "D1-1"},
    ],
}
WHISPER = {
    "kind": "message",
    "id": "D1-1",
    "senderId": "grace",
    "body": "psst",
    "createdAt": "2024-01-01T09:00:01Z",
}


def written(tmp_path: Path, *lines: Any) -> str:
    """The path of a file with these lines; text stands as it is."""
    file = tmp_path / "lines.jsonl"
    said = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    file.write_text("\n".join(said) + "\n")
    return str(file)


async def test_the_lines_of_the_documents_are_such(tool: Tool, tmp_path: Path) -> None:
    text = (Path(__file__).parents[2] / "docs/guides/importing.md").read_text()
    (example,) = re.findall(r"```jsonl\n(.*?)```", text, re.S)
    file = written(tmp_path, example)
    assert (await tool("conversations", "import", file, "--json")).json["messages"] == 3
    assert (await tool("check", "--json")).json["violations"] == []


def test_every_field_of_a_line_is_documented() -> None:
    text = (Path(__file__).parents[2] / "docs/guides/importing.md").read_text()
    for shape, title in ((ConversationLine, "Of a \\*\\*conv"), (MessageLine, "Of a \\*\\*mess")):
        (part,) = re.findall(rf"{title}.*?\n\n(\|.*?)\n\n", text, re.S)
        first = "".join(row.split(" | ")[0] for row in part.splitlines() if "| - " not in row)
        fields = {model_field.alias or name for name, model_field in shape.model_fields.items()} - {
            "kind"
        }
        assert {*re.findall(r"`(\w+)`", first)} == fields


async def test_what_is_left_out_follows_from_the_rest(
    database: Database, tool: Tool, people: People, tmp_path: Path
) -> None:
    file = written(tmp_path, HEADER, ROOM, FIRST, "", ANSWER, DIRECT, WHISPER)
    assert (await tool("conversations", "import", file, "--json")).json["messages"] == 3
    assert (await tool("check", "--json")).json["violations"] == []
    ada, grace = people("ada"), people("grace")
    (room,) = [
        conversation
        for conversation in (await ada.get("/conversations")).json["conversations"]
        if conversation["type"] == "group"
    ]
    assert len(room["id"]) == 24, "an id with a colon becomes another one"
    assert room["unreadCount"] == 0, "without a word everything is read"
    first, answer = (await ada.listed(f"/conversations/{room['id']}/messages"))[::-1]
    assert (first["seq"], answer["seq"], answer["senderId"]) == (1, 2, "@grace:example.org")
    assert answer["replyTo"]["id"] == answer["threadRootMessageId"] == first["id"]
    assert (first["createdAt"], answer["createdAt"]) == (
        "2024-01-01T09:01:00.000Z",
        "2024-01-01T09:02:00.500Z",
    )
    assert first["threadSummary"] == {"replyCount": 1, "lastReplyAt": answer["createdAt"]}
    assert answer["reactions"] == [{"emoji": "🦋", "count": 1, "userIds": ["ada"]}]
    found = (await ada.get("/search/messages?q=moth")).json["messages"]
    assert [conversation["id"] for conversation in found] == [first["id"]]

    direct = await ada.direct("grace")
    (whisper,) = await ada.listed(f"/conversations/{direct}/messages")
    assert whisper["id"] == "D1-1"
    assert (await ada.unread(direct), await grace.unread(direct)) == (1, 0)
    before = await database["messages"].find().sort("_id", 1).to_list()
    assert (await tool("conversations", "import", file, "--json")).json["messages"] == 0
    assert await database["messages"].find().sort("_id", 1).to_list() == before


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (("",), "line 1: not JSON"),
        ((ROOM,), "line 1: the first line must be"),
        (({"kind": "header", "version": 2},), "line 1: version 2 is not known"),
        ((HEADER, FIRST), "line 2: a message must follow the line of its conversation"),
        ((HEADER, "{"), "line 2: not JSON"),
        ((HEADER, "[]"), "line 2: must be a JSON object"),
        ((HEADER, {"kind": "post"}), 'line 2: kind must be "conversation" or "message"'),
        ((HEADER, {**ROOM, "id": None}), "line 2: id is missing"),
        ((HEADER, {**ROOM, "subject": "x"}), "line 2: subject is not a field of such a line"),
        (
            (HEADER, {**ROOM, "participants": [{"userId": "ada"}]}),
            "line 2: participants of a group",
        ),
        (
            (
                HEADER,
                {**ROOM, "participants": [{"userId": "ada", "role": "admin", "hiddenUpToSeq": 2}]},
                FIRST,
            ),
            "hiddenUpToSeq of ada is behind the last message",
        ),
        ((HEADER, {**ROOM, "type": "direct", "participants": []}), "must be two users"),
        ((HEADER, {**DIRECT, "key": "order:7"}), "line 2: key is a field of groups"),
        ((HEADER, {**ROOM, "key": " "}), "line 2: key must be 1 to 200 characters"),
        ((HEADER, {**ROOM, "metadataVersion": 0}), "line 2: metadataVersion must be at least 1"),
        (
            (HEADER, {**ROOM, "key": "order:7"}, {**ROOM, "id": "other", "key": "order:7"}),
            "conversation other cannot be imported: another conversation has its key",
        ),
        ((HEADER, ROOM, {**FIRST, "body": " "}), "line 3: body must not be blank"),
        ((HEADER, ROOM, {**FIRST, "body": 5}), "line 3: body must be a string"),
        ((HEADER, ROOM, {**FIRST, "seq": 2}), "line 3: seq must be 1, the next one"),
        ((HEADER, ROOM, {**FIRST, "createdAt": "now"}), "line 3: createdAt must be a time"),
        (
            (HEADER, ROOM, {**FIRST, "deletedAt": FIRST["createdAt"]}),
            "body of a deleted message must be empty",
        ),
        ((HEADER, ROOM, ANSWER), "line 3: replyToMessageId names no message above"),
        ((HEADER, DIRECT, WHISPER, WHISPER), "line 4: id D1-1 is that of a message above"),
        ((HEADER, ROOM, {**FIRST, "conversationId": "x"}), "conversationId is not that of"),
        (
            (HEADER, ROOM, FIRST, {**ANSWER, "createdAt": "2023-01-01T00:00:00Z"}),
            "line 4: createdAt is before that of the message above",
        ),
        (
            (HEADER, ROOM, {**FIRST, "reactions": [{"emoji": "x", "userId": "ada"}] * 2}),
            "line 3: reactions must have each emoji of a user once",
        ),
        ((HEADER, ROOM, FIRST, DIRECT), "line 4: lastReadMessageId of grace names no message"),
        ((HEADER, ROOM, FIRST, ROOM), "line 4: conversation"),
    ],
)
async def test_a_wrong_line_is_named_and_nothing_is_written(
    database: Database, tool: Tool, tmp_path: Path, lines: tuple[Any, ...], said: str
) -> None:
    refusal = (await tool("conversations", "import", written(tmp_path, *lines))).refusal_at_work
    assert said in refusal
    for name in ("conversations", "counters", "messages"):
        assert await database[name].count_documents({}) == 0


@pytest.mark.parametrize("is_above", [True, False])
async def test_a_forward_may_stand_above_its_direct_conversation(
    database: Database, tool: Tool, people: People, tmp_path: Path, *, is_above: bool
) -> None:
    """It names the conversation as it is called here, and a second run finds it there."""
    origin = {"messageId": "D1-1", "conversationId": "D1", "senderId": "grace"}
    forward = [ROOM, {**FIRST, "forwardedFrom": origin}]
    direct = [{**DIRECT, "id": "D1"}, WHISPER]
    lines = [*forward, *direct] if is_above else [*direct, *forward]
    file = written(tmp_path, HEADER, *lines)
    assert (await tool("conversations", "import", file, "--json")).json["messages"] == 2
    row = await database["messages"].find_one({"forwardedFrom": {"$ne": None}})
    assert row is not None
    assert row["forwardedFrom"] == {**origin, "conversationId": await people("ada").direct("grace")}
    for again in (lines, [*direct, *forward], [*forward, *direct]):
        file = written(tmp_path, HEADER, *again)
        done = await tool("conversations", "import", file, "--json")
        assert (done.json["conversations"], done.json["messages"]) == (0, 0)
