"""Lists that need no second request, parts of a main list, mentions and unread marks."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from chat_aio import Hooks
from tests.conftest import Database, MakeChat, MakePeople
from tests.support.people import Answer, Person

People = Callable[[str], Person]


@pytest.fixture
async def person(serve: MakePeople) -> People:
    return await serve(inbox=True, extra_events=True)


async def filled(alice: Person, count: int = 20) -> tuple[str, list[str]]:
    """A group with bob, and the ids of its messages, oldest first."""
    group = await alice.group("bob")
    return group, [(await alice.send(group, f"m{n}"))["id"] for n in range(1, count + 1)]


async def page(who: Person, group: str, query: str) -> Any:
    answer = await who.get(f"/conversations/{group}/messages?{query}")
    assert answer.status == 200, answer.json
    return answer.json


def seqs(found: Any) -> list[int]:
    return [each["seq"] for each in found["messages"]]


@pytest.mark.parametrize(
    ("at", "limit", "expected"),
    [
        (10, 1, [10]),
        (10, 2, [11, 10]),
        (10, 5, [12, 11, 10, 9, 8]),
        (20, 4, [20, 19, 18, 17]),
        (1, 4, [3, 2, 1]),
        (10, 50, list(range(20, 0, -1))),
    ],
)
async def test_a_page_around_a_message(
    person: People, at: int, limit: int, expected: list[int]
) -> None:
    alice = person("alice")
    group, ids = await filled(alice)
    found = await page(alice, group, f"around={ids[at - 1]}&limit={limit}")
    assert seqs(found) == expected
    assert ("previousCursor" in found) == (expected[0] < 20)
    assert (found["nextCursor"] is not None) == (expected[-1] > 1)


async def test_both_directions_lead_to_every_message_once(person: People) -> None:
    alice = person("alice")
    group, ids = await filled(alice)
    here = await page(alice, group, f"around={ids[9]}&limit=3")
    found, newer, older = seqs(here), here.get("previousCursor"), here["nextCursor"]
    while newer:
        further = await page(alice, group, f"cursor={newer}&limit=3")
        found, newer = seqs(further) + found, further.get("previousCursor")
    while older:
        further = await page(alice, group, f"cursor={older}&limit=3")
        assert "previousCursor" not in further
        found, older = found + seqs(further), further["nextCursor"]
    assert found == list(range(20, 0, -1))


async def test_after_a_message_the_nearest_ones_come_first(person: People) -> None:
    alice = person("alice")
    group, ids = await filled(alice)
    found = await page(alice, group, f"after={ids[9]}&limit=3")
    assert seqs(found) == [13, 12, 11]
    assert seqs(await page(alice, group, f"cursor={found['nextCursor']}&limit=2")) == [10, 9]
    last = await page(alice, group, f"after={ids[-1]}")
    assert seqs(last) == []
    assert "previousCursor" not in last
    assert seqs(await page(alice, group, f"cursor={last['nextCursor']}&limit=1")) == [20]


async def test_a_reply_in_a_thread_has_its_place(person: People) -> None:
    alice = person("alice")
    group, ids = await filled(alice, 3)
    reply = await alice.send(group, "a word", threadRootMessageId=ids[0])
    await alice.send(group, "a word")
    assert seqs(await page(alice, group, f"around={reply['id']}&limit=4")) == [5, 3, 2, 1]
    assert seqs(await page(alice, group, f"after={reply['id']}")) == [5]


async def test_what_cannot_be_asked_for_together_is_refused(person: People) -> None:
    alice = person("alice")
    group, ids = await filled(alice, 2)
    other = await alice.group("bob")
    strange = (await alice.send(other, "a word"))["id"]

    async def refused(query: str) -> tuple[int, str | None]:
        answer = await alice.get(f"/conversations/{group}/messages?{query}")
        return answer.status, answer.code

    cursor = (await page(alice, group, "limit=1"))["nextCursor"]
    for query in (
        f"around={ids[0]}&after={ids[1]}",
        f"around={ids[0]}&cursor={cursor}",
        "around=",
        "cursor=bmV3ZXI",
    ):
        assert await refused(query) == (400, "INVALID_INPUT"), query
    for query in (f"around={strange}", f"after={strange}", "after=gone"):
        assert await refused(query) == (404, "MESSAGE_NOT_FOUND"), query


async def test_a_host_that_refuses_messages_does_not_end_a_direction(serve: MakePeople) -> None:
    def can_read(asked: Any) -> bool:
        return asked.message is None or asked.message.seq % 3 == 0

    people = await serve(Hooks(can_read=can_read, can_read_messages=True))
    alice = people("alice")
    group, ids = await filled(alice)
    found = await page(alice, group, f"around={ids[8]}&limit=3")
    assert seqs(found) == [12, 9, 6]
    assert seqs(await page(alice, group, f"cursor={found['previousCursor']}&limit=9")) == [18, 15]
    assert seqs(await page(alice, group, f"cursor={found['nextCursor']}&limit=9")) == [3]
    refused = await alice.get(f"/conversations/{group}/messages?around={ids[9]}")
    assert refused.status == 200


async def listed(who: Person, query: str = "include=lastMessage,heads") -> Any:
    answer = await who.get(f"/conversations?{query}")
    assert answer.status == 200, answer.json
    return answer.json


async def test_a_list_has_nothing_more_than_is_asked_for(person: People) -> None:
    alice = person("alice")
    await filled(alice, 1)
    assert set(await listed(alice, "")) == {"conversations", "nextCursor"}
    assert set(await listed(alice, "include=heads")) == {"conversations", "nextCursor", "heads"}
    for query in ("include=", "include=names", "unread=yes", "q="):
        assert (await alice.get(f"/conversations?{query}")).code == "INVALID_INPUT"


async def test_last_messages_are_those_of_the_main_lists(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    group, ids = await filled(alice, 2)
    quiet = await alice.group("bob")
    await alice.send(group, "in the thread only", threadRootMessageId=ids[0])
    newest = await page(bob, group, "limit=1")
    assert (await listed(bob))["lastMessages"] == {group: newest["messages"][0]}
    answered = await bob.send(group, "yes", replyToMessageId=ids[0])
    await alice.call("DELETE", f"/messages/{ids[0]}")
    last = (await listed(alice))["lastMessages"][group]
    assert (last["id"], last["replyTo"]["deleted"]) == (answered["id"], True)
    gone = (await bob.call("DELETE", f"/messages/{answered['id']}")).json["message"]
    assert (await listed(alice))["lastMessages"] == {group: gone}
    assert quiet in {each["id"] for each in (await listed(alice))["conversations"]}


async def test_heads_say_where_to_begin(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    group, ids = await filled(alice, 3)
    assert (await listed(bob))["heads"][group] == head(3, 1, 0)
    await bob.read(group, ids[0])
    await bob.send(group, "a word")
    await alice.send(group, "a word", mentions=["bob"])
    await bob.send(group, "a word", mentions=["bob"])
    assert (await listed(bob))["heads"][group] == head(6, 2, 1)
    last = await alice.send(group, "a word", mentions=["bob"])
    assert (await listed(bob))["heads"][group] == head(7, 2, 2)
    await bob.read(group, last["id"])
    assert (await listed(bob))["heads"][group] == head(7, None, 0)
    await bob.send(group, "a word")
    assert (await listed(bob))["heads"][group] == head(8, None, 0)
    await alice.send(group, "a word")
    # The first one after what is read is bob's own.
    assert (await listed(bob))["heads"][group] == head(9, 9, 0)


def head(seq: int, first: int | None, mentions: int) -> dict[str, Any]:
    return {"seq": seq, "firstUnreadSeq": first, "unreadMentionCount": mentions}


async def test_lists_are_filtered_by_text_and_by_what_is_unread(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    named = {
        name: (
            await alice.post("/conversations/group", {"name": name, "userIds": ["bob", "Carol"]})
        ).json["conversation"]["id"]
        for name in ("Engine room", "Kitchen (old)", "100 % legal")
    }
    direct = (await alice.post("/conversations", {"otherUserId": "bob"})).json["conversation"]["id"]

    async def found(who: Person, query: str) -> set[str]:
        return {each["id"] for each in (await listed(who, query))["conversations"]}

    assert await found(alice, "q=ENGINE") == {named["Engine room"]}
    assert await found(alice, "q=%28old%29") == {named["Kitchen (old)"]}
    assert await found(alice, "q=.*") == await found(alice, "q=%00") == set()
    assert await found(alice, "q=aro") == set(named.values())
    assert await found(alice, "q=bob") == {direct, *named.values()}
    assert await found(bob, "q=bob") == set()
    assert await found(bob, "unread=true") == set()
    await alice.send(named["Kitchen (old)"], "a word")
    await alice.send(direct, "a word")
    assert await found(bob, "unread=true") == {named["Kitchen (old)"], direct}
    assert await found(bob, "unread=true&q=old") == {named["Kitchen (old)"]}
    assert await found(alice, "unread=true") == set()


async def test_filtered_pages_lead_to_every_conversation_once(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    groups = [await alice.group("bob") for _ in range(9)]
    for group in groups[::2]:
        await alice.send(group, "a word")
    found: list[str] = []
    query = "unread=true&limit=2&include=lastMessage"
    part: Any = {"nextCursor": ""}
    while part["nextCursor"] is not None:
        behind = part["nextCursor"] and f"&cursor={part['nextCursor']}"
        part = await listed(bob, f"{query}{behind}")
        assert set(part["lastMessages"]) == {each["id"] for each in part["conversations"]}
        found += [each["id"] for each in part["conversations"]]
    assert found == groups[::2][::-1]


async def test_large_last_messages_end_a_page_early(make_chat: MakeChat) -> None:
    """Both doors answer the same, and every conversation comes with its last message."""
    chat = await make_chat(quotas=None, max_message_length=900_000)
    groups = [
        (await chat.api.create_group_conversation("alice", user_ids=["bob"])).id for _ in range(7)
    ]
    for group in groups:
        await chat.api.send_message("alice", group, "x" * 900_000)
    found: list[str] = []
    cursor: str | None = None
    while True:
        part = await chat.api.list_conversations("bob", include=["lastMessage"], cursor=cursor)
        assert part.last_messages is not None
        assert list(part.last_messages) == [each.id for each in part.conversations]
        found += part.last_messages
        assert len(part.conversations) <= 4
        if (cursor := part.next_cursor) is None:
            break
    assert found == groups[::-1]


async def unread_count(who: Person, group: str) -> int:
    count = await who.unread(group)
    assert (group, count) in [
        (each["id"], each["unreadCount"]) for each in (await listed(who))["conversations"]
    ]
    return count


async def mark_unread(who: Person, group: str, message_id: str) -> Answer:
    return await who.post(f"/conversations/{group}/unread", {"messageId": message_id})


async def test_messages_are_unread_again_until_one_of_them_is_read(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    group, ids = await filled(alice, 6)
    await bob.read(group, ids[-1])
    await bob.send(group, "a word")
    assert await unread_count(bob, group) == 0
    assert (await mark_unread(bob, group, ids[3])).json == {"ok": True}
    assert await unread_count(bob, group) == 3
    assert (await listed(bob))["heads"][group]["firstUnreadSeq"] == 4
    shown = (await alice.get(f"/conversations/{group}")).json["conversation"]["participants"]
    assert {each["userId"]: each["lastReadMessageId"] for each in shown}["bob"] == ids[-1]
    await alice.send(group, "a word")
    assert await unread_count(bob, group) == 4
    await bob.read(group, ids[2])
    assert await unread_count(bob, group) == 4
    await bob.read(group, ids[4])
    assert await unread_count(bob, group) == 1
    assert await unread_count(alice, group) == 1


async def test_other_devices_hear_of_it(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    group, ids = await filled(alice, 3)
    async with bob.tab() as tab:
        await bob.read(group, ids[-1])
        assert (await tab.event("read.updated"))["unreadCount"] == 0
        await mark_unread(bob, group, ids[1])
        told = await tab.event("read.updated")
    assert (told["messageId"], told["unreadCount"]) == (ids[-1], 2)


async def test_marks_of_many_at_once_hold(person: People) -> None:
    """Whoever reads ends their own mark only, also if both are written at once."""
    alice = person("alice")
    names = [f"user-{number}" for number in range(20)]
    group = await alice.group(*names)
    ids = [(await alice.send(group, "a word"))["id"] for _ in range(3)]
    readers = [person(each) for each in names]
    await asyncio.gather(*(each.read(group, ids[-1]) for each in readers))
    await asyncio.gather(*(mark_unread(each, group, ids[1]) for each in readers))
    await asyncio.gather(*(each.read(group, ids[-1]) for each in readers[::2]))
    counts = [await unread_count(each, group) for each in readers]
    assert counts == [0, 2] * 10


async def test_who_comes_back_begins_anew(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    group, ids = await filled(alice, 3)
    await bob.read(group, ids[-1])
    await mark_unread(bob, group, ids[0])
    here = f"/conversations/{group}/participants"
    await alice.call("DELETE", here, json={"userId": "bob"})
    await alice.post(here, {"userIds": ["bob"]})
    await bob.read(group, ids[-1])
    assert await unread_count(bob, group) == 0


async def test_without_the_option_there_is_nothing_of_it(serve: MakePeople) -> None:
    alice = (await serve())("alice")
    group, ids = await filled(alice, 1)
    assert (await mark_unread(alice, group, ids[0])).status == 404
    assert (await alice.get("/mentions")).status == 404
    with pytest.raises(RuntimeError, match="inbox"):
        _ = alice.chat.inbox


async def mentions(who: Person, query: str = "") -> Any:
    answer = await who.get(f"/mentions{query}")
    assert answer.status == 200, answer.json
    return answer.json


async def test_mentions_of_all_conversations_come_newest_first(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    groups = [await alice.group("bob") for _ in range(2)]
    sent = [
        await alice.send(groups[number % 2], f"m{number}", mentions=["bob"]) for number in range(5)
    ]
    await alice.send(groups[0], "to nobody")
    await bob.send(groups[0], "to myself", mentions=["bob"])
    reply = await alice.send(
        groups[1], "in a thread", mentions=["bob"], threadRootMessageId=sent[1]["id"]
    )
    await bob.read(groups[0], sent[2]["id"])
    first = await mentions(bob, "?limit=4")
    rest = await mentions(bob, f"?limit=4&cursor={first['nextCursor']}")
    found = first["mentions"] + rest["mentions"]
    expected = [reply["id"], *(each["id"] for each in sent[::-1])]
    assert [each["message"]["id"] for each in found] == expected
    read = {sent[0]["id"], sent[2]["id"]}
    assert {each["message"]["id"] for each in found if not each["unread"]} == read
    assert rest["nextCursor"] is None
    assert (await mentions(alice))["mentions"] == []


async def test_what_no_longer_mentions_or_may_not_be_read_is_not_listed(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    group, left = await alice.group("bob"), await alice.group("bob")
    edited, deleted, kept = [await alice.send(group, "a word", mentions=["bob"]) for _ in range(3)]
    await alice.send(left, "a word", mentions=["bob"])
    await alice.call("PATCH", f"/messages/{edited['id']}", json={"body": "b", "mentions": []})
    await alice.call("DELETE", f"/messages/{deleted['id']}")
    here = f"/conversations/{left}/participants"
    await bob.call("DELETE", here, json={"userId": "bob"})
    found = (await mentions(bob))["mentions"]
    assert [each["message"]["id"] for each in found] == [kept["id"]]


async def test_mentions_are_read_from_their_index(person: People, database: Database) -> None:
    """What others write makes neither the list nor the count dearer."""
    alice, bob = person("alice"), person("bob")
    group = await alice.group("bob")
    await alice.send(group, "a word", mentions=["bob"])
    for number in range(30):
        await alice.send(group, f"m{number}")
    await database.command("profile", 2)
    assert len((await mentions(bob))["mentions"]) == 1
    assert (await listed(bob, "include=heads"))["heads"][group]["unreadMentionCount"] == 1
    await database.command("profile", 0)
    asked = {"ns": f"{database.name}.messages"}
    profiled = await database["system.profile"].find(asked).to_list(None)
    assert len(profiled) == 2
    assert all(each["docsExamined"] <= 1 for each in profiled)
