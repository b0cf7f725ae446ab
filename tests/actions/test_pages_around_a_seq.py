"""Pages around a number of the reader's messages, over HTTP and in process."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from chat_aio import Hooks
from chat_aio.errors import InvalidInput
from tests.conftest import MakePeople
from tests.support.moderating import is_mod
from tests.support.people import Person

People = Callable[[str], Person]
HUGE = 10**40


@pytest.fixture
async def person(serve: MakePeople) -> People:
    return await serve(Hooks(can_moderate=is_mod), room_controls=True, moderation_tools=True)


async def filled(alice: Person, count: int) -> tuple[str, list[str]]:
    group = await alice.group("bob")
    return group, [(await alice.send(group, f"m{n}"))["id"] for n in range(1, count + 1)]


def seqs(found: Any) -> list[int]:
    return [message["seq"] for message in found["messages"]]


async def around(who: Person, group: str, seq: int, limit: int) -> list[int]:
    """The seqs of a page, which are the same by both ways."""
    path = f"/conversations/{group}/messages?aroundSeq={seq}&limit={limit}"
    answer = await who.get(path)
    assert answer.status == 200, answer
    found = seqs(answer.json)
    page = await who.chat.api.list_messages(who.user_id, group, around_seq=seq, limit=limit)
    assert [message.seq for message in page.messages] == found
    assert page.next_cursor == answer.json["nextCursor"]
    assert page.previous_cursor == answer.json.get("previousCursor")
    return found


async def test_numbers_beyond_the_history(person: People) -> None:
    alice = person("alice")
    group, _ = await filled(alice, 4)
    for seq in (5, 10**18, 10**18 + 1, 2**63 - 1, 2**63, HUGE):
        assert await around(alice, group, seq, 2) == [4, 3]
    digits = "9" * 5_000  # Python refuses to make a number of them.
    found = await alice.get(f"/conversations/{group}/messages?aroundSeq={digits}&limit=2")
    assert (found.status, seqs(found.json)) == (200, [4, 3])
    empty = await alice.group("bob")
    for seq in (1, HUGE):
        assert await around(alice, empty, seq, 2) == []


@pytest.mark.parametrize("given", [0, -1, True, 1.0, "1", "", b"1", [1]])
async def test_what_is_no_number_in_process(person: People, given: Any) -> None:
    alice = person("alice")
    group, ids = await filled(alice, 1)
    with pytest.raises(InvalidInput):
        await alice.chat.api.list_messages("alice", group, around_seq=given)
    others: tuple[dict[str, Any], ...] = ({"around": ids[0]}, {"after": ids[0]}, {"cursor": "x"})
    for other in others:
        with pytest.raises(InvalidInput, match="together"):
            await alice.chat.api.list_messages("alice", group, around_seq=1, **other)


@pytest.mark.parametrize("given", ["0", "00", "-1", "1.0", "1e3", "", "%201", "%2B1", "٣", "true"])
async def test_what_is_no_number_over_http(person: People, given: str) -> None:
    alice = person("alice")
    group, ids = await filled(alice, 1)
    for place in ("messages", f"threads/{ids[0]}/messages"):
        answer = await alice.get(f"/conversations/{group}/{place}?aroundSeq={given}")
        assert (answer.status, answer.code) == (400, "INVALID_INPUT"), place


async def test_a_newcomer_sees_only_messages_since_they_joined(person: People) -> None:
    alice, carol = person("alice"), person("carol")
    group, ids = await filled(alice, 5)
    await alice.call("PATCH", f"/conversations/{group}", json={"history": "since_join"})
    await alice.post(f"/conversations/{group}/participants", {"userIds": ["carol"]})
    for n in range(3):
        await alice.send(group, f"later {n}")
    await alice.send(group, "a reply", threadRootMessageId=ids[0])
    for seq in (1, 5):
        assert await around(carol, group, seq, 4) == [7, 6]
    assert await around(carol, group, 6, 4) == [8, 7, 6]
    assert await around(carol, group, HUGE, 2) == [8, 7]
    assert await around(alice, group, 5, 3) == [6, 5, 4]
    answer = await carol.get(f"/conversations/{group}/threads/{ids[0]}/messages?aroundSeq=1")
    assert seqs(answer.json) == [9]


async def test_deleted_and_removed_messages_have_their_place(person: People) -> None:
    alice, mod = person("alice"), person("mod")
    group, ids = await filled(alice, 5)
    assert (await alice.call("DELETE", f"/messages/{ids[1]}")).status == 200
    removed = await mod.post(f"/moderation/tools/messages/{ids[2]}/remove")
    assert removed.status == 200, removed
    for seq in (2, 3):
        assert await around(alice, group, seq, 3) == [seq + 1, seq, seq - 1]
    answer = await alice.get(f"/conversations/{group}/messages?aroundSeq=2&limit=3")
    assert [message["body"] for message in answer.json["messages"]] == ["", "", "m1"]


async def test_a_message_that_the_host_hides(serve: MakePeople) -> None:
    def can_read(asked: Any) -> bool:
        return asked.message is None or asked.message.seq % 3 == 0

    alice = (await serve(Hooks(can_read=can_read, can_read_messages=True)))("alice")
    group, _ = await filled(alice, 12)
    for seq, expected in ((1, [3]), (5, [6, 3]), (6, [9, 6, 3]), (13, [12, 9, 6])):
        assert await around(alice, group, seq, 3) == expected


async def test_a_thread(person: People) -> None:
    """The numbers are those of the conversation, whatever list their messages are in."""
    alice = person("alice")
    group, (root, _) = await filled(alice, 2)
    for n in range(4):
        await alice.send(group, f"reply {n}", threadRootMessageId=root)
        await alice.send(group, f"next to it {n}")

    async def page(seq: int, limit: int) -> list[int]:
        path = f"/conversations/{group}/threads/{root}/messages?aroundSeq={seq}&limit={limit}"
        answer = await alice.get(path)
        assert answer.status == 200, answer
        return seqs(answer.json)

    assert await page(1, 4) == [5, 3]
    assert await page(5, 3) == [7, 5, 3]
    assert await page(6, 3) == [7, 5, 3]
    assert await page(HUGE, 2) == [9, 7]


async def test_only_readers_get_a_page(person: People) -> None:
    alice, mallory = person("alice"), person("mallory")
    group, _ = await filled(alice, 1)
    refused = await mallory.get(f"/conversations/{group}/messages?aroundSeq=1")
    assert (refused.status, refused.code) == (403, "FORBIDDEN_READ")


async def test_pages_while_many_write(person: People) -> None:
    """Always the messages around the number, without gaps, newest first."""
    alice, bob = person("alice"), person("bob")
    group, _ = await filled(alice, 6)

    async def write(number: int) -> None:
        for turn in range(5):
            await (alice, bob)[number % 2].send(group, f"{number} {turn}")

    async def read(number: int) -> None:
        for seq in (2, 3, 4):
            path = f"/conversations/{group}/messages?aroundSeq={seq}&limit=4"
            found = seqs((await (alice, bob)[number % 2].get(path)).json)
            assert found == [seq + 2, seq + 1, seq, seq - 1]

    await asyncio.gather(*map(write, range(8)), *map(read, range(8)))
    assert await around(alice, group, 43, 6) == [46, 45, 44, 43, 42, 41]
