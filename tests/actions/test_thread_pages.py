"""Pages of a thread around and after a message, in both directions."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.conftest import MakePeople
from tests.support.people import Person

People = Callable[[str], Person]


@pytest.fixture
async def person(serve: MakePeople) -> People:
    return await serve()


async def discussed(alice: Person, count: int = 10) -> tuple[str, list[str]]:
    """A group with bob, and the ids of its messages, oldest first: the root of a thread, then
    replies, which have even seqs, and messages beside the thread."""
    group = await alice.group("bob")
    ids = [(await alice.send(group, "What do you think?"))["id"]]
    for n in range(1, count + 1):
        reply = await alice.send(group, f"reply {n}", threadRootMessageId=ids[0])
        beside = await alice.send(group, f"beside {n}")
        ids += [reply["id"], beside["id"]]
    return group, ids


async def page(who: Person, group: str, root: str, query: str) -> Any:
    answer = await who.get(f"/conversations/{group}/threads/{root}/messages?{query}")
    assert answer.status == 200, answer.json
    return answer.json


def seqs(found: Any) -> list[int]:
    return [message["seq"] for message in found["messages"]]


@pytest.mark.parametrize(
    ("query", "at", "expected"),
    [
        ("limit=3&around=", 10, [12, 10, 8]),
        ("limit=4&around=", 11, [14, 12, 10, 8]),
        ("limit=4&around=", 1, [4, 2]),
        ("limit=2&around=", 20, [20, 18]),
        ("limit=2&after=", 10, [14, 12]),
        ("limit=2&after=", 11, [14, 12]),
        ("limit=2&after=", 1, [4, 2]),
        ("limit=2&after=", 20, []),
    ],
)
async def test_a_page_at_a_message(
    person: People, query: str, at: int, expected: list[int]
) -> None:
    """At a reply, at the root, and at a message beside the thread, whose place is its seq's."""
    alice = person("alice")
    group, ids = await discussed(alice)
    found = await page(alice, group, ids[0], f"{query}{ids[at - 1]}")
    assert seqs(found) == expected
    assert ("previousCursor" in found) == (bool(expected) and expected[0] < 20)


async def test_both_directions_lead_to_every_reply_once(person: People) -> None:
    alice = person("alice")
    group, ids = await discussed(alice)
    here = await page(alice, group, ids[0], f"around={ids[9]}&limit=3")
    found, newer, older = seqs(here), here.get("previousCursor"), here["nextCursor"]
    while newer:
        further = await page(alice, group, ids[0], f"cursor={newer}&limit=3")
        found, newer = seqs(further) + found, further.get("previousCursor")
    while older:
        further = await page(alice, group, ids[0], f"cursor={older}&limit=3")
        found, older = found + seqs(further), further["nextCursor"]
    assert found == list(range(20, 0, -2))


async def test_cursors_are_of_their_own_list(person: People) -> None:
    alice = person("alice")
    group, ids = await discussed(alice, 4)
    thread = f"/conversations/{group}/threads/{ids[0]}/messages"
    main = f"/conversations/{group}/messages"
    for here, there in ((thread, main), (main, thread)):
        found = (await alice.get(f"{here}?around={ids[4]}&limit=2")).json
        for cursor in (found["previousCursor"], found["nextCursor"]):
            assert (await alice.get(f"{here}?cursor={cursor}")).status == 200
            assert (await alice.get(f"{there}?cursor={cursor}")).code == "INVALID_INPUT"


async def test_what_cannot_be_asked_for_is_refused(person: People) -> None:
    alice = person("alice")
    group, ids = await discussed(alice, 2)
    strange = (await alice.send(await alice.group("bob"), "elsewhere"))["id"]
    thread = f"/conversations/{group}/threads/{ids[0]}/messages"
    cursor = (await alice.get(f"{thread}?limit=1")).json["nextCursor"]
    for query in (f"around={ids[0]}&after={ids[1]}", f"after={ids[1]}&cursor={cursor}", "around="):
        answer = await alice.get(f"{thread}?{query}")
        assert (answer.status, answer.code) == (400, "INVALID_INPUT"), query
    for query in (f"around={strange}", f"after={strange}", "after=gone"):
        answer = await alice.get(f"{thread}?{query}")
        assert (answer.status, answer.code) == (404, "MESSAGE_NOT_FOUND"), query
