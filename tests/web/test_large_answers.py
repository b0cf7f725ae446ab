"""Answers end where they would be too large, and lists are whole all the same."""

import asyncio
import json
from datetime import UTC, datetime
from typing import Any

import pytest

from chat_aio import Hooks
from chat_aio.store.rows import MOST_BYTES
from tests.conftest import MakePeople
from tests.support.people import BASE, Person

MANY: dict[str, Any] = {"a": [{}] * 5_400}
"""16 KiB of metadata, and of the smallest objects that there are."""

ENVELOPE = 1_024


async def pages_of(person: Person, path: str, under: str) -> list[list[dict[str, Any]]]:
    """All pages of a list, each within its bounds and none without a row."""
    found, cursor = [], ""
    while True:
        url = f"{BASE}{path}{'&' if '?' in path else '?'}limit=200{cursor}"
        async with person.client.get(url, headers={"X-User": person.user_id}) as response:
            assert response.status == 200
            raw = await response.read()
        page = json.loads(raw)
        found.append(page[under])
        assert len(raw) <= MOST_BYTES + ENVELOPE or len(page[under]) == 1
        if page["nextCursor"] is None:
            return found
        assert page[under]
        cursor = f"&cursor={page['nextCursor']}"


def ids_in(pages: list[list[dict[str, Any]]], name: str = "id") -> list[str]:
    return [row[name] for page in pages for row in page]


@pytest.mark.parametrize(
    "given",
    [{"body": "a word", "metadata": MANY}, {"body": "word " + "\x01" * 16_000}],
    ids=["small objects", "characters that grow in JSON"],
)
async def test_messages(person: Any, given: dict[str, Any]) -> None:
    alice = person("alice")
    group = await alice.group()
    api = alice.chat.api
    sent = [await api.send_message("alice", group, **given) for _ in range(110)]
    newest_first = [message.id for message in reversed(sent)]
    pages = await pages_of(alice, f"/conversations/{group}/messages", "messages")
    assert len(pages) > 1
    assert ids_in(pages) == newest_first
    assert pages[0][0]["metadata"] == given.get("metadata", {})
    found = await pages_of(alice, "/search/messages?q=word", "messages")
    assert len(found) > 1
    assert ids_in(found) == newest_first


async def test_conversations_and_channels(person: Any) -> None:
    alice = person("alice")
    users = [f"{number} {'x' * 190}" for number in range(255)]
    api = alice.chat.api
    made = [
        await api.create_group_conversation(
            "alice", user_ids=users, visibility="public", metadata=MANY
        )
        for _ in range(60)
    ]
    newest_first = [group.id for group in reversed(made)]
    pages = await pages_of(alice, "/conversations", "conversations")
    assert len(pages) > 1
    assert sorted(ids_in(pages)) == sorted(newest_first)
    assert all(len(conversation["participants"]) == 256 for page in pages for conversation in page)
    channels = await pages_of(alice, "/channels", "channels")
    assert sorted(ids_in(channels, "conversationId")) == sorted(newest_first)


async def test_reports(serve: MakePeople) -> None:
    people = await serve(Hooks(can_moderate=lambda asked: asked.user_id == "mod"))
    api = people("alice").chat.api
    group = await api.create_group_conversation("alice")
    made = []
    for _ in range(60):
        message = await api.send_message("alice", group.id, "word " + "\x01" * 16_000)
        made.append(await api.moderation.report("alice", "message", message.id, "spam"))
    pages = await pages_of(people("mod"), "/moderation/reports", "reports")
    assert len(pages) > 1
    assert sorted(ids_in(pages)) == sorted(made_report.id for made_report in made)


async def test_a_row_that_is_too_large_by_itself(person: Any) -> None:
    """It is shown all the same; nobody is cut off from what is behind it."""
    alice = person("alice")
    group = await alice.group()
    sent = [await alice.send(group, "x") for _ in range(3)]
    large = {
        "reactions": [
            {"emoji": "x", "userId": f"{number} {'y' * 2_500}", "createdAt": datetime.now(UTC)}
            for number in range(2_000)
        ]
    }
    messages = alice.chat._database.messages
    await messages.update_many({"conversationId": group}, {"$set": large})
    pages = await pages_of(alice, f"/conversations/{group}/messages", "messages")
    assert [[row["id"] for row in page] for page in pages] == [
        [message["id"]] for message in sent[::-1]
    ]


async def test_many_at_once(person: Any) -> None:
    """Whoever asks for much is answered, and so is everybody else."""
    alice = person("alice")
    group = await alice.group("bob")
    api = alice.chat.api
    for _ in range(50):
        await api.send_message("alice", group, "x", metadata=MANY)
    path = f"/conversations/{group}/messages?limit=200"
    asked = [asyncio.create_task(alice.get(path)) for _ in range(8)]
    for _ in range(20):
        assert (await person("bob").get(f"/conversations/{group}")).status == 200
    assert {(await task).status for task in asked} == {200}
