"""Lists that need no second request, parts of a main list, mentions and unread marks."""

import asyncio
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import pytest

from chat_aio import Hooks
from chat_aio.store import unread
from chat_aio.store.pipelines import union
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
    return [message["seq"] for message in found["messages"]]


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


async def test_a_page_around_a_seq(person: People) -> None:
    """Whether or not a message of this list has it."""
    alice = person("alice")
    group, ids = await filled(alice, 3)
    await alice.send(group, "a word", threadRootMessageId=ids[0])
    await alice.send(group, "a word")
    assert seqs(await page(alice, group, "aroundSeq=1&limit=2")) == [2, 1]
    assert seqs(await page(alice, group, "aroundSeq=4&limit=3")) == [5, 3, 2]
    assert seqs(await page(alice, group, f"aroundSeq={'9' * 40}&limit=2")) == [5, 3]


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
        f"around={ids[0]}&aroundSeq=1",
        "aroundSeq=0",
        "aroundSeq=-1",
        "aroundSeq=one",
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


async def listed(who: Person, query: str = "include=lastMessage,unread") -> Any:
    answer = await who.get(f"/conversations?{query}")
    assert answer.status == 200, answer.json
    return answer.json


async def test_a_list_has_nothing_more_than_is_asked_for(person: People) -> None:
    alice = person("alice")
    await filled(alice, 1)
    assert set(await listed(alice, "")) == {"conversations", "nextCursor"}
    assert set(await listed(alice, "include=unread")) == {
        "conversations",
        "nextCursor",
        "unreadSummaries",
    }
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
    assert quiet in {conversation["id"] for conversation in (await listed(alice))["conversations"]}


async def test_only_what_is_not_the_newest_of_all_is_looked_for(person: People) -> None:
    """Conversation by conversation: MongoDB plans a branch for each."""
    alice = person("alice")
    plain, _ = await filled(alice, 2)
    threaded, ids = await filled(alice, 2)
    await alice.send(threaded, "in the thread only", threadRootMessageId=ids[0])
    await alice.group("bob")
    with patch.object(unread, "union", wraps=union) as joined:
        last = (await listed(alice, "include=lastMessage"))["lastMessages"]
    assert {name: message["body"] for name, message in last.items()} == {
        plain: "m2",
        threaded: "m2",
    }
    ((_, branches),) = [call.args for call in joined.call_args_list]
    assert [branch[0]["$match"]["timelines"] for branch in branches] == [threaded]


async def test_heads_say_where_to_begin(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    group, ids = await filled(alice, 3)
    assert (await listed(bob))["unreadSummaries"][group] == head(3, 1, 0)
    await bob.read(group, ids[0])
    await bob.send(group, "a word")
    await alice.send(group, "a word", mentions=["bob"])
    await bob.send(group, "a word", mentions=["bob"])
    assert (await listed(bob))["unreadSummaries"][group] == head(6, 2, 1)
    last = await alice.send(group, "a word", mentions=["bob"])
    assert (await listed(bob))["unreadSummaries"][group] == head(7, 2, 2)
    await bob.read(group, last["id"])
    assert (await listed(bob))["unreadSummaries"][group] == head(7, None, 0)
    await bob.send(group, "a word")
    assert (await listed(bob))["unreadSummaries"][group] == head(8, None, 0)
    await alice.send(group, "a word")
    # The first one after what is read is bob's own.
    assert (await listed(bob))["unreadSummaries"][group] == head(9, 9, 0)


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
        return {conversation["id"] for conversation in (await listed(who, query))["conversations"]}

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
        assert set(part["lastMessages"]) == {
            conversation["id"] for conversation in part["conversations"]
        }
        found += [conversation["id"] for conversation in part["conversations"]]
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
        assert list(part.last_messages) == [conversation.id for conversation in part.conversations]
        found += part.last_messages
        assert len(part.conversations) <= 4
        if (cursor := part.next_cursor) is None:
            break
    assert found == groups[::-1]


async def unread_count(who: Person, group: str) -> int:
    count = await who.unread(group)
    assert (group, count) in [
        (conversation["id"], conversation["unreadCount"])
        for conversation in (await listed(who))["conversations"]
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
    assert (await listed(bob))["unreadSummaries"][group]["firstUnreadSeq"] == 4
    shown = (await alice.get(f"/conversations/{group}")).json["conversation"]["participants"]
    assert {participant["userId"]: participant["lastReadMessageId"] for participant in shown}[
        "bob"
    ] == ids[-1]
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
    readers = [person(name) for name in names]
    await asyncio.gather(*(reader.read(group, ids[-1]) for reader in readers))
    await asyncio.gather(*(mark_unread(reader, group, ids[1]) for reader in readers))
    await asyncio.gather(*(reader.read(group, ids[-1]) for reader in readers[::2]))
    counts = [await unread_count(reader, group) for reader in readers]
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
    expected = [reply["id"], *(message["id"] for message in sent[::-1])]
    assert [entry["message"]["id"] for entry in found] == expected
    read = {sent[0]["id"], sent[2]["id"]}
    assert {entry["message"]["id"] for entry in found if not entry["unread"]} == read
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
    assert [entry["message"]["id"] for entry in found] == [kept["id"]]


async def test_mentions_are_read_from_their_index(person: People, database: Database) -> None:
    """What others write makes neither the list nor the count dearer."""
    alice, bob = person("alice"), person("bob")
    group = await alice.group("bob")
    await alice.send(group, "a word", mentions=["bob"])
    for number in range(30):
        await alice.send(group, f"m{number}")
    await database.command("profile", 2)
    assert len((await mentions(bob))["mentions"]) == 1
    assert (await listed(bob, "include=unread"))["unreadSummaries"][group][
        "unreadMentionCount"
    ] == 1
    await database.command("profile", 0)
    asked = {"ns": f"{database.name}.messages"}
    profiled = await database["system.profile"].find(asked).to_list(None)
    assert len(profiled) == 2
    assert all(query["docsExamined"] <= 1 for query in profiled)


async def threads(who: Person, query: str = "") -> list[tuple[str, int]]:
    """The root of each thread, and how many replies in it are unread."""
    answer = await who.get(f"/threads{query}")
    assert answer.status == 200, answer.json
    return [(thread["root"]["id"], thread["unreadReplyCount"]) for thread in answer.json["threads"]]


async def reply(who: Person, group: str, root_id: str, **given: Any) -> dict[str, Any]:
    return await who.send(group, "a reply", threadRootMessageId=root_id, **given)


def of_thread(group: str, root_id: str) -> str:
    return f"/conversations/{group}/threads/{root_id}"


async def test_threads_that_concern_a_user(person: People) -> None:
    """As the author of the root, as a writer, as one who is mentioned, and as a follower."""
    alice, bob, carol = person("alice"), person("bob"), person("carol")
    group = await alice.group("bob", "carol")
    roots = [(await alice.send(group, f"root {number}"))["id"] for number in range(5)]
    own = (await bob.send(group, "bob's"))["id"]
    assert (await bob.post(f"{of_thread(group, roots[2])}/follow")).json == {"ok": True}
    for root_id in (*roots[:4], own):
        await reply(alice, group, root_id)
    await reply(bob, group, roots[0])
    await reply(alice, group, roots[1], mentions=["bob"])
    assert await threads(bob) == [(roots[1], 2), (roots[0], 0), (own, 1), (roots[2], 1)]
    await reply(carol, group, roots[0])
    assert (await threads(bob))[0] == (roots[0], 1)
    assert await threads(carol) == [(roots[0], 0)]
    page = await bob.get("/threads?limit=3")
    rest = await threads(bob, f"?limit=3&cursor={page.json['nextCursor']}")
    assert rest == [(roots[2], 1)]


async def test_unfollowing_leaves_a_thread_out_until_it_is_followed(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    group, (root_id,) = await filled(alice, 1)
    await reply(bob, group, root_id)
    here = of_thread(group, root_id)
    for who in (alice, bob):
        assert [root for root, _ in await threads(who)] == [root_id]
        assert (await who.call("DELETE", f"{here}/follow")).json == {"ok": True}
        assert await threads(who) == []
    await reply(bob, group, root_id, mentions=["alice"])
    assert await threads(alice) == []
    await alice.post(f"{here}/follow")
    assert [root for root, _ in await threads(alice)] == [root_id]


async def test_a_thread_has_a_read_state_of_its_own(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    group, (root_id,) = await filled(alice, 1)
    replies = [await reply(bob, group, root_id) for _ in range(4)]
    await alice.read(group, replies[-1]["id"])
    assert await threads(alice) == [(root_id, 4)]
    here = f"{of_thread(group, root_id)}/read"
    for number, left in ((1, 2), (0, 2), (3, 0)):
        answer = await alice.post(here, {"messageId": replies[number]["id"]})
        assert answer.json == {"ok": True}
        assert await threads(alice) == [(root_id, left)]
    assert await bob.unread(group) == 1
    await bob.post(here, {"messageId": replies[-1]["id"]})
    assert await bob.unread(group) == 1


async def test_marks_of_a_thread_never_move_it_back(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    group, (root_id,) = await filled(alice, 1)
    replies = [await reply(bob, group, root_id) for _ in range(12)]
    here = f"{of_thread(group, root_id)}/read"
    marks = (alice.post(here, {"messageId": message["id"]}) for message in replies[::-1])
    assert {answer.status for answer in await asyncio.gather(*marks)} == {200}
    assert await threads(alice) == [(root_id, 0)]


async def test_what_is_no_thread_is_refused(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    group, (root_id, other) = await filled(alice, 2)
    answered = await reply(bob, group, root_id)
    strange = await reply(bob, group, other)
    refused = await alice.post(f"{of_thread(group, answered['id'])}/follow")
    assert (refused.status, refused.code) == (404, "MESSAGE_NOT_FOUND")
    for place, message_id in ((root_id, strange["id"]), (root_id, other), ("gone", root_id)):
        answer = await alice.post(f"{of_thread(group, place)}/read", {"messageId": message_id})
        assert (answer.status, answer.code) == (404, "MESSAGE_NOT_FOUND")


async def test_without_threads_there_is_no_list_of_them(serve: MakePeople) -> None:
    alice = (await serve(inbox=True, threads=False))("alice")
    group, (message_id,) = await filled(alice, 1)
    assert (await alice.get("/threads")).code == "THREADS_UNSUPPORTED"
    followed = await alice.post(f"{of_thread(group, message_id)}/follow")
    assert followed.code == "THREADS_UNSUPPORTED"


async def test_threads_are_found_by_their_indexes(person: People, database: Database) -> None:
    """What others write in the conversation, and in other threads, makes the list no dearer."""
    alice, bob = person("alice"), person("bob")
    group, ids = await filled(alice, 10)
    for root_id in ids:
        await reply(alice, group, root_id)
    await reply(bob, group, ids[0])
    await bob.send(group, "in the main list")
    await database.command("profile", 2)
    assert await threads(bob) == [(ids[0], 0)]
    await database.command("profile", 0)
    asked = {"ns": f"{database.name}.messages"}
    profiled = await database["system.profile"].find(asked).to_list(None)
    assert len(profiled) == 5
    assert all(query["docsExamined"] <= 1 for query in profiled)


async def test_where_the_option_is_off_no_mark_counts(make_chat: MakeChat) -> None:
    with_it, without = await make_chat(inbox=True), await make_chat()
    group = (await with_it.api.create_group_conversation("alice", user_ids=["bob"])).id
    sent = [(await with_it.api.send_message("alice", group, "x")).id for _ in range(3)]
    await with_it.api.mark_read("bob", group, sent[-1])
    await with_it.inbox.mark_unread("bob", group, sent[0])
    for chat, count in ((with_it, 3), (without, 0)):
        assert (await chat.api.get_conversation("bob", group)).unread_count == count


async def test_a_newer_mark_leaves_the_older_one(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    group, ids = await filled(alice, 6)
    await bob.read(group, ids[-1])
    for number in (1, 4):
        await mark_unread(bob, group, ids[number])
        assert await unread_count(bob, group) == 5


async def test_other_devices_hear_that_it_is_over(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    group, ids = await filled(alice, 3)
    await bob.read(group, ids[-1])
    await mark_unread(bob, group, ids[0])
    await bob.told_all()
    async with bob.tab() as tab:
        await bob.read(group, ids[-1])
        counts = [(await tab.event("read.updated"))["unreadCount"]]
        while counts[-1] != 0:  # What was told before may come as well.
            counts.append((await tab.event("read.updated"))["unreadCount"])


async def test_mentions_of_many_large_conversations_say_what_is_unread(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    for _ in range(3):
        await alice.send(await alice.group("bob"), "@bob", mentions=["bob"])
    with patch.multiple("chat_aio.store.decoded", READ_AT_ONCE=1, MOST_BYTES=0):
        found = (await mentions(bob))["mentions"]
    assert [entry["unread"] for entry in found] == [True] * 3


async def test_rows_of_another_program_are_left_out(person: People, database: Database) -> None:
    alice, bob = person("alice"), person("bob")
    group, (root_id,) = await filled(alice, 1)
    other = await alice.group("bob")
    kept = await reply(bob, group, root_id)
    await reply(alice, group, root_id, mentions=["bob"])
    row: Any = await database["messages"].find_one({"mentions.userId": "bob"})
    strange: list[dict[str, Any]] = [
        {"threadRootMessageId": [root_id], "senderId": "bob", "mentions": []},
        {"threadRootMessageId": [root_id], "mentions": {"userId": "bob"}},
        # Two arrays cannot be in one index.
        {"conversationId": [group], "mentions": {"userId": "bob"}, "terms": None},
        {"timelines": [other]},
    ]
    for number, given in enumerate(strange):
        broken = {**row, "_id": f"broken {number}", "seq": 100 + number, **given}
        await database["messages"].insert_one(broken, bypass_document_validation=True)
    assert [root for root, _ in await threads(bob)] == [root_id]
    assert await mentions(bob)
    shown = await listed(bob)
    assert set(shown["lastMessages"]) == {group}
    assert kept["id"] not in {last_message["id"] for last_message in shown["lastMessages"].values()}


async def test_a_refused_reply_cannot_be_marked(serve: MakePeople) -> None:
    def can_read(asked: Any) -> bool:
        return asked.message is None or asked.message.body != "hidden"

    people = await serve(Hooks(can_read=can_read, can_read_messages=True), inbox=True)
    alice, bob = people("alice"), people("bob")
    group, (root_id,) = await filled(alice, 1)
    hidden = await alice.send(group, "hidden", threadRootMessageId=root_id)
    here = f"{of_thread(group, root_id)}/read"
    answer = await bob.post(here, {"messageId": hidden["id"]})
    assert (answer.status, answer.code) == (403, "FORBIDDEN_READ")


async def test_unread_mentions_are_counted_to_a_hundred(
    make_chat: MakeChat, database: Database
) -> None:
    """However many there are, no more are read."""
    chat = await make_chat(inbox=True, quotas=None)
    groups = [
        (await chat.api.create_group_conversation("alice", user_ids=["bob"])).id for _ in range(2)
    ]
    for number in range(130):
        await chat.api.send_message("alice", groups[0], f"m{number}", mentions=["bob"])
    await chat.api.send_message("alice", groups[1], "one", mentions=["bob"])
    await database.command("profile", 2)
    found = (await chat.api.list_conversations("bob", include=["unread"])).unread_summaries or {}
    await database.command("profile", 0)
    assert [found[group].unread_mention_count for group in groups] == [100, 1]
    (profiled,) = (
        await database["system.profile"].find({"ns": f"{database.name}.messages"}).to_list(None)
    )
    assert profiled["docsExamined"] <= 102
