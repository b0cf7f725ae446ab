"""History since one has joined: what was said before is not there for who comes later."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from chat_aio import Hooks
from chat_aio.actions.plugin_api import PluginAPI
from tests.conftest import Database, MakeChat, MakePeople
from tests.support.people import Answer, Person
from tests.support.verify import verify_action

People = Callable[[str], Person]


@pytest.fixture
async def person(serve: MakePeople) -> People:
    return await serve(room_controls=True, inbox=True)


async def hide(who: Person, group: str, history: str = "since_join") -> Answer:
    answer = await who.call("PATCH", f"/conversations/{group}", json={"history": history})
    assert answer.status == 200, answer
    return answer


async def add(who: Person, group: str, *user_ids: str) -> None:
    answer = await who.post(f"/conversations/{group}/participants", {"userIds": user_ids})
    assert answer.status == 200, answer


async def bodies(who: Person, group: str) -> list[str]:
    found = await who.listed(f"/conversations/{group}/messages")
    return [message["body"] for message in reversed(found)]


async def leave(who: Person, group: str) -> None:
    answer = await who.call(
        "DELETE", f"/conversations/{group}/participants", json={"userId": who.user_id}
    )
    assert answer.status == 200, answer


async def test_who_joins_later_sees_what_is_said_from_then_on(person: People) -> None:
    alice, bob, carol = person("alice"), person("bob"), person("carol")
    group = await alice.group("bob")
    await alice.send(group, "before")
    await hide(alice, group)
    await add(alice, group, "carol")
    await alice.send(group, "after")
    assert await bodies(bob, group) == ["before", "after"]
    assert await bodies(carol, group) == ["after"]
    assert (await bob.unread(group), await carol.unread(group)) == (2, 1)


async def test_a_newcomer_has_no_last_message_until_something_is_said(person: People) -> None:
    alice, carol = person("alice"), person("carol")
    group = await alice.group()
    await alice.send(group, "before")
    await hide(alice, group)
    await add(alice, group, "carol")
    listed = (await carol.get("/conversations?include=lastMessage,unread")).json
    assert listed["lastMessages"] == {}
    assert listed["unreadSummaries"][group]["firstUnreadSeq"] is None
    assert (await carol.get("/conversations?unread=true")).json["conversations"] == []


async def test_a_change_applies_from_then_on(person: People) -> None:
    """Who is in keeps what they see, in both directions; who comes back begins anew."""
    alice, carol, dave = person("alice"), person("carol"), person("dave")
    group = await alice.group()
    await alice.send(group, "one")
    await add(alice, group, "carol")
    await hide(alice, group)
    await add(alice, group, "dave")
    await alice.send(group, "two")
    await hide(alice, group, "all")
    assert await bodies(carol, group) == ["one", "two"]
    assert await bodies(dave, group) == ["two"]
    await add(alice, group, "erin")
    assert await bodies(person("erin"), group) == ["one", "two"]
    await leave(dave, group)
    await add(alice, group, "dave")
    assert await bodies(dave, group) == ["one", "two"]
    await leave(carol, group)
    await hide(alice, group)
    await add(alice, group, "carol")
    assert await bodies(carol, group) == []
    assert await carol.unread(group) == 0


async def by_invite(admin: Person, group: str, who: Person) -> None:
    code = (await admin.post(f"/conversations/{group}/invites")).json["invite"]["code"]
    assert (await who.post(f"/invites/{code}/accept")).status == 200


async def by_request(admin: Person, group: str, who: Person) -> None:
    assert (await who.post(f"/conversations/{group}/join-requests")).status == 201
    given = {"userId": who.user_id, "decision": "approve"}
    requests = f"/conversations/{group}/join-requests"
    assert (await admin.call("PATCH", requests, json=given)).status == 200


async def by_channel(admin: Person, group: str, who: Person) -> None:
    given = {"visibility": "public", "joinPolicy": "open"}
    assert (await admin.call("PATCH", f"/conversations/{group}", json=given)).status == 200
    assert (await who.post(f"/conversations/{group}/join")).status == 200


async def by_admin(admin: Person, group: str, who: Person) -> None:
    await add(admin, group, who.user_id)


@pytest.mark.parametrize("way", [by_invite, by_request, by_channel, by_admin])
async def test_every_way_in(
    person: People, way: Callable[[Person, str, Person], Awaitable[None]]
) -> None:
    alice, carol = person("alice"), person("carol")
    group = await alice.group()
    await alice.send(group, "before")
    await hide(alice, group)
    await way(alice, group, carol)
    await alice.send(group, "after")
    assert await bodies(carol, group) == ["after"]


async def test_it_is_shown_and_told_as_the_other_settings(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    group, direct = await alice.group("bob"), await alice.direct("bob")
    for conversation_id in (group, direct):
        shown = (await bob.get(f"/conversations/{conversation_id}")).json["conversation"]
        assert shown["history"] == "all"

    async def change() -> None:
        await hide(alice, group, "all")  # As it is: nobody is told.
        await hide(alice, group)
        await hide(alice, group)

    (event,) = await verify_action(bob, change, "conversation.updated")
    assert event.data["conversation"]["history"] == "since_join"
    for wrong in ("none", "", 1, True):
        given = {"history": wrong}
        answer = await alice.call("PATCH", f"/conversations/{group}", json=given)
        assert (answer.status, answer.code) == (400, "INVALID_INPUT")
    for who, where, refusal in (
        (bob, group, (403, "NOT_CONVERSATION_ADMIN")),
        (alice, direct, (409, "NOT_GROUP_CONVERSATION")),
    ):
        answer = await who.call("PATCH", f"/conversations/{where}", json={"history": "all"})
        assert (answer.status, answer.code) == refusal


async def test_it_holds_where_the_option_is_off_again(make_chat: MakeChat) -> None:
    with_it, without = await make_chat(room_controls=True), await make_chat()
    group = (await with_it.api.create_group_conversation("alice")).id
    plain = (await without.api.create_group_conversation("alice")).id
    await with_it.api.send_message("alice", group, "before")
    await with_it.rooms.update_conversation("alice", group, history="since_join")
    await without.api.add_participants("alice", group, ["bob"])
    assert (await without.api.list_messages("bob", group)).messages == ()
    assert (await without.api.get_conversation("bob", group)).history == "since_join"
    assert (await without.api.get_conversation("alice", plain)).history is None


async def test_nobody_is_notified_of_what_is_hidden(
    make_chat: MakeChat, database: Database
) -> None:
    """Also where the clock of another process is behind."""
    chat = await make_chat(room_controls=True)
    group = (await chat.api.create_group_conversation("alice", user_ids=["bob"])).id
    sent = await chat.api.send_message("alice", group, "before")
    await chat.rooms.update_conversation("alice", group, history="since_join")
    await chat.api.add_participants("alice", group, ["carol"])
    moved = {"participants.$[].joinedAt": sent.created_at}
    await database.conversations.update_one({"_id": group}, {"$set": moved})
    found = await PluginAPI(chat._context).get_recipients([sent.id])
    assert found[sent.id].user_ids == ("bob",)


async def test_what_one_has_said_in_an_earlier_stay(person: People) -> None:
    """It is not listed, but may be taken back; what one says now counts as ever."""
    alice, bob = person("alice"), person("bob")
    group = await alice.group("bob")
    mine = (await bob.send(group, "mine", clientMessageId="k"))["id"]
    for body in ("one", "two"):
        await bob.send(group, body)
    await leave(bob, group)
    await hide(alice, group)
    await alice.send(group, "meanwhile")
    await add(alice, group, "bob")
    assert await bodies(bob, group) == []
    answer = await bob.call("PATCH", f"/messages/{mine}", json={"body": "x"})
    assert (answer.status, answer.code) == (404, "MESSAGE_NOT_FOUND")
    again = await bob.post(
        f"/conversations/{group}/messages", {"body": "mine", "clientMessageId": "k"}
    )
    assert (again.status, again.json["message"]["id"]) == (200, mine)
    assert (await bob.delete(mine))["deletedAt"]
    assert await bob.unread(group) == 0
    await alice.send(group, "three")
    await bob.send(group, "four")
    assert await bob.unread(group) == 1
    heads = (await bob.get("/conversations?include=unread")).json["unreadSummaries"]
    assert heads[group]["firstUnreadSeq"] == 5


async def test_counting_costs_nothing_more(
    make_chat: MakeChat, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of who comes back it is known what they had sent up to where their messages begin."""
    chat = await make_chat(room_controls=True)
    group = (await chat.api.create_group_conversation("alice", user_ids=["bob"])).id
    for _ in range(3):
        await chat.api.send_message("bob", group, "before")
    await chat.api.remove_participant("bob", group, "bob")
    await chat.rooms.update_conversation("alice", group, history="since_join")
    await chat.api.add_participants("alice", group, ["bob"])
    await chat.api.send_message("alice", group, "after")
    await chat.api.send_message("bob", group, "after")

    async def no(_: Any, __: str, readers: Any) -> dict[str, int]:
        assert not readers
        return {}

    monkeypatch.setattr("chat_aio.store.unread._count_own", no)
    assert (await chat.api.get_conversation("bob", group)).unread_count == 1


async def test_a_thread_whose_root_is_hidden(person: People) -> None:
    """As one whose root retention has removed: replies are listed, none can be added."""
    alice, carol = person("alice"), person("carol")
    group = await alice.group()
    root = (await alice.send(group, "root"))["id"]
    silent = (await alice.send(group, "silent"))["id"]
    for root_id in (root, silent):
        await alice.send(group, "early", threadRootMessageId=root_id)
    await hide(alice, group)
    await add(alice, group, "carol")
    await alice.send(group, "late", threadRootMessageId=root, mentions=["carol"])
    path = f"/conversations/{group}/threads/{root}"
    assert [message["body"] for message in await carol.listed(f"{path}/messages")] == ["late"]
    hidden = await carol.get(f"{path}/messages?around={root}")
    assert (hidden.status, hidden.code) == (404, "MESSAGE_NOT_FOUND")
    gone = await carol.get(f"/conversations/{group}/threads/{silent}/messages")
    assert (gone.status, gone.code) == (404, "MESSAGE_NOT_FOUND")
    in_it = {"body": "x", "threadRootMessageId": root}
    for answer in (
        await carol.post(f"/conversations/{group}/messages", in_it),
        await carol.call("PUT", f"{path}/follow"),
        await carol.post(f"{path}/follow"),
    ):
        assert answer.status == 404
    assert (await carol.get("/threads")).json["threads"] == []
    (mention,) = (await carol.get("/mentions")).json["mentions"]
    assert mention["message"]["body"] == "late"


async def test_pages_are_full_and_end_where_the_stay_began(person: People) -> None:
    alice, carol = person("alice"), person("carol")
    group = await alice.group()
    ids = [(await alice.send(group, f"before {n}"))["id"] for n in range(10)]
    await hide(alice, group)
    await add(alice, group, "carol")
    ids += [(await alice.send(group, f"after {n}"))["id"] for n in range(5)]
    here = f"/conversations/{group}/messages"
    first = (await carol.get(f"{here}?limit=3")).json
    assert [message["seq"] for message in first["messages"]] == [15, 14, 13]
    second = (await carol.get(f"{here}?limit=3&cursor={first['nextCursor']}")).json
    assert [message["seq"] for message in second["messages"]] == [12, 11]
    assert second["nextCursor"] is None
    around = (await carol.get(f"{here}?limit=20&around={ids[11]}")).json
    assert [message["seq"] for message in around["messages"]] == [15, 14, 13, 12, 11]
    assert around["nextCursor"] is None
    for query in (f"around={ids[3]}", f"after={ids[3]}"):
        answer = await carol.get(f"{here}?{query}")
        assert (answer.status, answer.code) == (404, "MESSAGE_NOT_FOUND")
    # A cursor of before they left and came back.
    old = (await alice.get(f"{here}?after={ids[1]}&limit=2")).json
    newer = (await carol.get(f"{here}?cursor={old['previousCursor']}&limit=2")).json
    assert [message["seq"] for message in newer["messages"]] == [12, 11]
    older = (await carol.get(f"{here}?cursor={old['nextCursor']}&limit=2")).json
    assert (older["messages"], older["nextCursor"]) == ([], None)


async def test_what_is_hidden_is_not_even_read(
    person: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A newcomer's page costs no more where a lot was said before."""
    alice, carol = person("alice"), person("carol")
    group = await alice.group("carol")
    for number in range(11):
        root = (await alice.send(group, f"word {number}", mentions=["carol"]))["id"]
    await carol.send(group, "word", threadRootMessageId=root)
    await leave(carol, group)
    await hide(alice, group)
    await add(alice, group, "carol")
    await alice.send(group, "word", threadRootMessageId=root)
    await alice.send(group, "word")
    seen: list[int] = []

    async def well_formed(context: Any, found: Any) -> Any:
        seen.extend(message["seq"] for message in found)
        return found

    monkeypatch.setattr("chat_aio.actions.reading._well_formed", well_formed)
    here = f"/conversations/{group}"
    for path in (
        f"{here}/messages",
        f"{here}/threads/{root}/messages",
        "/search/messages?q=word",
        "/mentions",
        "/threads",
    ):
        assert (await carol.get(path)).status == 200
    await carol.chat.api.list_messages_after("carol", group, 0)
    assert set(seen) == {13, 14}


async def test_a_hosts_own_rule_is_not_asked_about_what_is_hidden(serve: MakePeople) -> None:
    asked: list[str] = []

    async def can_read(context: Any) -> bool:
        if context.message and context.user_id == "carol":
            asked.append(context.message.body)
        return True

    person = await serve(
        Hooks(can_read=can_read, can_read_messages=True), room_controls=True, inbox=True
    )
    alice, carol = person("alice"), person("carol")
    group = await alice.group()
    before = (await alice.send(group, "before"))["id"]
    await hide(alice, group)
    await add(alice, group, "carol")
    quoting = await alice.send(group, "after", replyToMessageId=before)
    assert await bodies(carol, group) == ["after"]
    shown = (await carol.get(f"/conversations/{group}/messages/{quoting['id']}")).json["message"]
    assert shown["replyTo"] == {"id": before, "senderId": "", "excerpt": "", "deleted": True}
    assert set(asked) == {"after"}


async def test_a_hidden_message_is_not_found_wherever_it_is_named(serve: MakePeople) -> None:
    """Deleted or not, whatever the host's rules are; they are not called about it."""
    asked: list[str] = []

    def rule(context: Any) -> bool:
        if context.message and context.user_id == "carol":
            asked.append(context.message.id)
        return True

    hooks = Hooks(can_read=rule, can_write=rule, can_read_messages=True)
    person = await serve(hooks, room_controls=True, inbox=True)
    alice, carol = person("alice"), person("carol")
    group = await alice.group("bob")
    hidden = [(await alice.send(group, body))["id"] for body in ("before", "deleted")]
    await alice.delete(hidden[1])
    await hide(alice, group)
    await add(alice, group, "carol")
    elsewhere = await carol.group()
    messages = f"/conversations/{group}/messages"
    for message_id in [*hidden, "unknown"]:
        path = f"/messages/{message_id}"
        report = {"targetType": "message", "targetId": message_id, "reason": "rude"}
        for answer in (
            await carol.get(f"{messages}/{message_id}"),
            await carol.get(f"{messages}?around={message_id}"),
            await carol.get(f"{messages}?after={message_id}"),
            await carol.get(f"/conversations/{group}/threads/{message_id}/messages"),
            await carol.call("PATCH", path, json={"body": "x"}),
            await carol.call("DELETE", path),
            await carol.post(f"{path}/reactions", {"emoji": "x"}),
            await carol.call("DELETE", f"{path}/reactions", json={"emoji": "x"}),
            await carol.post(f"{path}/forward", {"conversationId": elsewhere}),
            await carol.post(messages, {"body": "x", "replyToMessageId": message_id}),
            await carol.post(messages, {"body": "x", "threadRootMessageId": message_id}),
            await carol.post(f"/conversations/{group}/read", {"messageId": message_id}),
            await carol.post(f"/conversations/{group}/unread", {"messageId": message_id}),
            await carol.post("/moderation/reports", report),
        ):
            assert (answer.status, answer.code) == (404, "MESSAGE_NOT_FOUND"), answer
    assert asked == []


async def test_the_sender_of_a_hidden_message_may_delete_it(person: People) -> None:
    """Again and again, but neither edit nor react to it; nobody else finds it."""
    alice, bob = person("alice"), person("bob")
    group = await alice.group("bob")
    mine = (await bob.send(group, "mine"))["id"]
    await leave(bob, group)
    await hide(alice, group)
    await add(alice, group, "bob", "carol")
    for _ in range(2):
        answer = await bob.call("DELETE", f"/messages/{mine}")
        assert (answer.status, answer.json["message"]["body"]) == (200, "")
    for refused in (
        await bob.call("PATCH", f"/messages/{mine}", json={"body": "x"}),
        await bob.post(f"/messages/{mine}/reactions", {"emoji": "x"}),
        await person("carol").call("DELETE", f"/messages/{mine}"),
    ):
        assert (refused.status, refused.code) == (404, "MESSAGE_NOT_FOUND")


async def test_many_join_while_many_send(make_chat: MakeChat, database: Database) -> None:
    """From two processes. Nobody sees what was sent before they joined, and everybody all that was
    sent after."""
    one, other = await make_chat(room_controls=True), await make_chat(room_controls=True)
    group = (await one.api.create_group_conversation("alice")).id
    await one.rooms.update_conversation("alice", group, history="since_join")

    async def send(number: int) -> None:
        await (one, other)[number % 2].api.send_message("alice", group, f"{number}")

    async def join(number: int) -> tuple[str, int, int]:
        user_id, chat = f"u{number}", (other, one)[number % 2]
        before = await head_of(database, group)
        await chat.api.add_participants("alice", group, [user_id])
        return user_id, before, await head_of(database, group)

    joined, _ = await asyncio.gather(
        asyncio.gather(*map(join, range(40))), asyncio.gather(*map(send, range(120)))
    )
    begins = set()
    for user_id, before, after in joined:
        page = await one.api.list_messages(user_id, group, limit=200)
        seqs = [message.seq for message in page.messages]
        begin = seqs[-1] - 1 if seqs else 120
        assert seqs == list(range(120, begin, -1))
        assert before <= begin <= after
        begins.add(begin)
        found: Any = await database.conversations.find_one({"_id": group})
        (mine,) = [
            participant for participant in found["participants"] if participant["userId"] == user_id
        ]
        assert mine.get("hiddenUpToSeq", 0) == begin
        assert (await other.api.get_conversation(user_id, group)).unread_count == len(seqs)
    assert len(begins) > 1


async def head_of(database: Database, group: str) -> int:
    head: Any = await database.counters.find_one({"_id": group})
    return int(head["seq"])


async def test_the_setting_changes_while_many_join(make_chat: MakeChat) -> None:
    """Each joins under one setting or the other: they see all, or nothing of before."""
    one, other = await make_chat(room_controls=True), await make_chat(room_controls=True)
    group = (await one.api.create_group_conversation("alice")).id
    await one.api.send_message("alice", group, "before")

    async def flip(number: int) -> None:
        history: Any = ("since_join", "all")[number % 2]
        await one.rooms.update_conversation("alice", group, history=history)

    async def join(number: int) -> None:
        chat = (one, other)[number % 2]
        await chat.api.add_participants("alice", group, [f"u{number}"])

    await asyncio.gather(*map(flip, range(10)), *map(join, range(40)))
    await one.api.send_message("alice", group, "after")
    counts = []
    for number in range(40):
        for chat in (one, other):
            found = (await chat.api.list_messages(f"u{number}", group)).messages
            counts.append(tuple(message.seq for message in found))
    assert set(counts) <= {(2, 1), (2,)}
    assert counts[::2] == counts[1::2]
