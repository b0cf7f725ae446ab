"""docs/guides/writing-a-client.md, taken at its word: a client that does what it says, cut off
while something changes, ends with what a refetch gives."""

import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import MakePeople
from tests.support.people import Person

GUIDE = Path(__file__).parents[2] / "docs/guides/writing-a-client.md"

Ids = dict[str, Any]
Deed = Callable[[Person, Ids], Awaitable[object]]


async def sends(alice: Person, ids: Ids) -> None:
    await alice.send(ids["group"], "new")


async def edits(alice: Person, ids: Ids) -> None:
    await alice.edit(ids["old"], "edited")


async def deletes(alice: Person, ids: Ids) -> None:
    await alice.delete(ids["old"])


async def reacts(alice: Person, ids: Ids) -> None:
    await alice.react(ids["old"], "+1")


async def reacts_to_what_is_new(alice: Person, ids: Ids) -> None:
    message = await alice.send(ids["group"], "new")
    await alice.react(message["id"], "+1")
    await alice.react(message["id"], "heart")


async def takes_a_reaction_back(alice: Person, ids: Ids) -> None:
    answer = await alice.call(
        "DELETE", f"/messages/{ids['reacted']}/reactions", json={"emoji": "+1"}
    )
    assert answer.status == 200


async def replies(alice: Person, ids: Ids) -> None:
    await alice.send(ids["group"], "reply", replyToMessageId=ids["old"])


async def edits_what_is_quoted(alice: Person, ids: Ids) -> None:
    await alice.edit(ids["quoted"], "another word")


async def deletes_what_a_new_reply_quotes(alice: Person, ids: Ids) -> None:
    await alice.send(ids["group"], "reply", replyToMessageId=ids["old"])
    await alice.delete(ids["old"])


async def answers_in_a_thread(alice: Person, ids: Ids) -> None:
    await alice.send(ids["group"], "in thread", threadRootMessageId=ids["old"])


async def answers_to_a_new_root(alice: Person, ids: Ids) -> None:
    root = await alice.send(ids["group"], "root")
    await alice.send(ids["group"], "in thread", threadRootMessageId=root["id"])


async def sends_and_edits_and_deletes(alice: Person, ids: Ids) -> None:
    one = await alice.send(ids["group"], "one")
    other = await alice.send(ids["group"], "other")
    await alice.edit(one["id"], "one, edited")
    await alice.edit(one["id"], "one, edited again")
    await alice.edit(other["id"], "other, edited")
    await alice.delete(other["id"])


async def forwards(alice: Person, ids: Ids) -> None:
    path = f"/messages/{ids['old']}/forward"
    assert (await alice.post(path, {"conversationId": ids["group"]})).status == 201


async def mentions(alice: Person, ids: Ids) -> None:
    await alice.send(ids["group"], "you", mentions=["bob"])


async def adds_somebody(alice: Person, ids: Ids) -> None:
    path = f"/conversations/{ids['group']}/participants"
    assert (await alice.post(path, {"userIds": ["carol"]})).status == 200


async def renames(alice: Person, ids: Ids) -> None:
    answer = await alice.call("PATCH", f"/conversations/{ids['group']}", json={"name": "new"})
    assert answer.status == 200


async def opens_another_conversation(alice: Person, ids: Ids) -> None:
    await alice.send(await alice.direct("bob"), "hi")


DEEDS: tuple[Deed, ...] = (
    sends,
    edits,
    deletes,
    reacts,
    reacts_to_what_is_new,
    takes_a_reaction_back,
    replies,
    edits_what_is_quoted,
    deletes_what_a_new_reply_quotes,
    answers_in_a_thread,
    answers_to_a_new_root,
    sends_and_edits_and_deletes,
    forwards,
    mentions,
    adds_somebody,
    renames,
    opens_another_conversation,
)


def refetched() -> set[str]:
    """The fields of messages that the guide says a replay does not bring up to date."""
    text = GUIDE.read_text()
    table = text[text.index("**What a replay leaves out.**") :]
    rows = re.findall(r"^\| messages that were not replayed \| (.*?) \|", table, re.MULTILINE)
    return {field for row in rows for field in re.findall(r"`(\w+)`", row)}


async def conversations_of(bob: Person) -> dict[str, Any]:
    answer = await bob.get("/conversations")
    return {conversation["id"]: conversation for conversation in answer.json["conversations"]}


async def messages_of(bob: Person) -> dict[str, Any]:
    """Every message that bob can read, those of threads included."""
    found: dict[str, Any] = {}
    for conversation_id in await conversations_of(bob):
        for message in await bob.chat.api.list_messages_after("bob", conversation_id, 0, limit=200):
            found[message.id] = message.model_dump(mode="json", by_alias=True)
    return found


async def prepared(alice: Person) -> Ids:
    group = await alice.group("bob")
    quoted, old, reacted = [
        (await alice.send(group, text))["id"] for text in ("word", "old", "reacted")
    ]
    await alice.react(reacted, "+1")
    await alice.send(group, "reply", replyToMessageId=quoted)
    return {"group": group, "quoted": quoted, "old": old, "reacted": reacted}


@pytest.mark.parametrize("deed", DEEDS, ids=lambda deed: deed.__name__)
async def test_a_client_that_was_away_ends_with_what_there_is(
    serve: MakePeople, deed: Deed
) -> None:
    """From the buffer of the process where it was, from that of another, and from storage."""
    here, there = await serve(), await serve()
    alice, bob = here("alice"), here("bob")
    ids = await prepared(alice)
    await alice.told_all()
    async with bob.tab() as tab:
        await tab.next()
        position = tab.last_event_id
        messages = await messages_of(bob)

    await deed(alice, ids)

    forgetful = await serve(replay_buffer_seconds=0)
    for source, person in (("buffer", here), ("another buffer", there), ("storage", forgetful)):
        await expect_all_after(person("bob"), position, {**messages}, alice, ids, source)


async def expect_all_after(
    bob: Person, position: str | None, messages: Ids, alice: Person, ids: Ids, source: str
) -> None:
    """What bob's client had, with what it is told from a position on, is what there is."""
    end = f"the end, from {source}"
    await bob.told_all()
    replayed: set[str] = set()
    async with bob.tab(position) as tab:
        conversations = await conversations_of(bob)
        await alice.send(ids["group"], end)
        for frame in await tab.until(lambda frame: end in str(frame.data)):
            if frame.event and frame.event.startswith("message."):
                message = frame.data["message"]
                messages[message["id"]] = message
                replayed.add(message["id"])
    truth = await messages_of(bob)
    assert messages.keys() == truth.keys()
    for message_id, message in truth.items():
        stale = set() if message_id in replayed else refetched()
        for field, value in message.items():
            assert field in stale or messages[message_id][field] == value, (
                *(source, message["body"], field),
            )
    counts = {
        conversation["id"]: conversation["participants"] for conversation in conversations.values()
    }
    assert counts == {
        conversation["id"]: conversation["participants"]
        for conversation in (await conversations_of(bob)).values()
    }


def test_the_guide_lists_no_more_than_is_needed() -> None:
    assert refetched() == {"reactions", "replyTo", "threadSummary"}
