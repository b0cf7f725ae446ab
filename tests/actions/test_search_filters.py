"""Search with filters (`search_filters`): by sender, time, attachments and mentions."""

import asyncio
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any
from unittest.mock import patch

import pytest

from chat_aio import Chat, Hooks
from chat_aio.actions import search_index
from chat_aio.capabilities import Capability
from chat_aio.errors import InvalidInput, SearchUnsupported, StorageUnavailable
from chat_aio.hooks import PermissionContext
from chat_aio.plugins import Attachments
from chat_aio.store import indexes, search, search_filters
from tests.actions.test_history import hide
from tests.actions.test_searching import SLEEP
from tests.conftest import Database, MakeChat, MakePeople
from tests.plugins.attachments.uploading import attached
from tests.support.membership import change
from tests.support.people import Person

People = Callable[[str], Person]

FILTERS: dict[str, dict[str, str]] = {
    "conversation_newest": {"since": "2000-01-01T00:00:00Z"},
    "conversation_sender_newest": {"senderId": "alice"},
    "conversation_attached_newest": {"hasAttachments": "true"},
    "conversation_mentioned_newest": {"mentions": "me"},
}
"""A filter for each index."""


@pytest.fixture
async def person(serve: MakePeople) -> People:
    return await serve(search_filters=True, plugins=[Attachments()])


async def found(who: Person, **params: Any) -> list[str]:
    """The bodies that a search finds, on all its pages."""
    bodies: list[str] = []
    while True:
        answer = await who.get("/search/messages", params=params)
        assert answer.status == 200, answer
        bodies += [message["body"] for message in answer.json["messages"]]
        if answer.json["nextCursor"] is None:
            return bodies
        params["cursor"] = answer.json["nextCursor"]


async def test_each_filter_alone(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    group, direct = await alice.group("bob", "carol"), await alice.direct("bob")
    file = await attached(bob, group)
    await alice.send(group, "one")
    await bob.send(group, "two", mentions=["alice"])
    third = await bob.send(group, "three", attachmentIds=[file])
    await bob.send(direct, "four", mentions=["bob"])
    await alice.send(direct, "five", mentions=["bob", "alice"])
    assert await found(alice, senderId="bob") == ["four", "three", "two"]
    assert await found(alice, senderId="alice") == ["five", "one"]
    assert await found(alice, senderId="carol") == []
    assert await found(alice, hasAttachments="true") == ["three"]
    assert await found(alice, mentions="me") == ["five", "two"]
    assert await found(bob, mentions="me") == ["five", "four"]
    assert await found(alice, mentions="bob") == ["five", "four"]
    at = third["createdAt"]
    assert await found(alice, since=at, conversationId=group) == ["three"]
    assert "three" not in await found(alice, until=at)
    assert await found(person("eve"), senderId="bob") == []


async def test_times_are_half_open(person: People, database: Database) -> None:
    alice = person("alice")
    conversation_id = await alice.direct("bob")
    noon = datetime(2026, 3, 1, 12, tzinfo=UTC)
    for number in range(4):
        sent = await alice.send(conversation_id, f"word {number}")
        at = noon + timedelta(milliseconds=number)
        await database["messages"].update_one({"_id": sent["id"]}, {"$set": {"createdAt": at}})
    span = {"since": "2026-03-01T12:00:00.001Z", "until": "2026-03-01T13:00:00.003+01:00"}
    assert await found(alice, **span) == ["word 2", "word 1"]
    assert await found(alice, q="word", **span) == ["word 2", "word 1"]
    assert await found(alice, since=span["since"]) == ["word 3", "word 2", "word 1"]
    assert await found(alice, until=span["since"]) == ["word 0"]
    assert await found(alice, since=span["until"], until=span["since"]) == []
    page = await alice.chat.api.search_messages("alice", since=noon, until=noon)
    assert page.messages == ()


async def test_filters_together(person: People) -> None:
    """And with words: then the order is that of rank."""
    alice, bob = person("alice"), person("bob")
    group, other = await alice.group("bob"), await alice.group("bob")
    for place in (group, other):
        for who in (alice, bob):
            file = await attached(who, place)
            name = f"{who.user_id} {'here' if place == group else 'there'}"
            await who.send(place, f"tea {name}")
            await who.send(place, f"tea tea {name} file", attachmentIds=[file])
            await who.send(place, f"tea {name} mention", mentions=["alice"])
    assert await found(alice, senderId="bob", hasAttachments="true") == [
        "tea tea bob there file",
        "tea tea bob here file",
    ]
    assert await found(alice, senderId="bob", hasAttachments="true", conversationId=group) == [
        "tea tea bob here file"
    ]
    assert await found(alice, mentions="me", hasAttachments="true") == []
    assert await found(alice, mentions="me", senderId="bob", conversationId=other) == [
        "tea bob there mention"
    ]
    assert await found(alice, q="tea", senderId="bob", conversationId=group) == [
        "tea tea bob here file",
        "tea bob here mention",
        "tea bob here",
    ]
    assert await found(alice, q="tea", mentions="me", conversationId=group, senderId="bob") == [
        "tea bob here mention"
    ]
    assert await found(alice, q="tea", hasAttachments="true", conversationId=other) == [
        "tea tea bob there file",
        "tea tea alice there file",
    ]
    assert await found(alice, q="coffee", senderId="bob") == []
    assert await found(alice, q="?!", senderId="bob") == []
    assert await found(alice, q="tea", hasAttachments="false", limit="200") == await found(
        alice, q="tea", limit="200"
    )


async def test_deleted_messages_and_files_are_not_found(person: People) -> None:
    alice = person("alice")
    group = await alice.group("bob")
    file = await attached(alice, group)
    message = await alice.send(group, "look", attachmentIds=[file], mentions=["alice"])
    for params in FILTERS.values():
        assert await found(alice, **params) == ["look"]
    await alice.delete(message["id"])
    for params in FILTERS.values():
        assert await found(alice, **params) == []


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("", "q"),
        ("hasAttachments=false", "q"),
        ("conversationId=none", "q"),
        ("q=&senderId=bob", "q"),
        ("senderId=", "senderId"),
        ("senderId=" + "x" * 257, "senderId"),
        ("since=2026-01-01", "since"),
        ("since=yesterday", "since"),
        ("until=2026-01-01T00:00:00", "until"),
        ("until=0001-01-01T00:00:00%2B10:00", "until"),
        ("hasAttachments=1", "hasAttachments"),
        ("hasAttachments=", "hasAttachments"),
        ("mentions=%20", "mentions"),
        ("mentions=a%00", "mentions"),
        ("senderId=bob&limit=0", "limit"),
        ("senderId=bob&cursor=x", "cursor"),
    ],
)
async def test_searches_that_are_refused(person: People, query: str, field: str) -> None:
    answer = await person("alice").get(f"/search/messages?{query}")
    assert (answer.status, answer.code) == (400, "INVALID_INPUT")
    assert answer.json["error"]["message"].startswith(field), answer


async def test_in_process(person: People) -> None:
    alice = person("alice")
    group = await alice.group("bob")
    await alice.send(group, "tea", mentions=["bob"])
    api = alice.chat.api
    for given in (
        {"sender_id": "alice"},
        {"mentions": "me"},
        {"since": datetime(2000, 1, 1, tzinfo=UTC)},
        {"query": "tea", "sender_id": "alice"},
    ):
        (message,) = (await api.search_messages("bob", **given)).messages
        assert message.body == "tea"
    assert (await api.search_messages("bob", has_attachments=True)).messages == ()
    for wrong in ({"since": "yesterday"}, {"sender_id": 1}, {"has_attachments": "true"}, {}):
        with pytest.raises(InvalidInput):
            await api.search_messages("bob", **wrong)


@pytest.mark.parametrize("name", FILTERS)
async def test_pages_while_messages_are_written(person: People, name: str) -> None:
    """Without gaps or doubles, in several conversations, and with equal times."""
    alice = person("alice")
    places = [await alice.group("bob") for _ in range(3)]
    number = count()

    async def send() -> None:
        place = places[next(number) % 3]
        given = {"attachmentIds": [await attached(alice, place)], "mentions": ["alice"]}
        await alice.send(place, "look", **given)

    await asyncio.gather(*(send() for _ in range(20)))
    page = (await alice.get("/search/messages", params={**FILTERS[name], "limit": "200"})).json
    expected = [message["id"] for message in page["messages"]]
    assert len(expected) == 20
    ordered = [(message["createdAt"], message["id"]) for message in page["messages"]]
    assert ordered == sorted(ordered, reverse=True)
    paged: list[str] = []
    cursor: dict[str, str] | None = {}
    while cursor is not None:
        params = {**FILTERS[name], "limit": "3", **cursor}
        page, _ = await asyncio.gather(alice.get("/search/messages", params=params), send())
        await alice.delete(expected[len(paged)])  # The page that was shown has it already.
        paged += [message["id"] for message in page.json["messages"]]
        cursor = page.json["nextCursor"] and {"cursor": page.json["nextCursor"]}
    # What was sent during the first request may be on the first page.
    assert [message_id for message_id in paged if message_id in expected] == expected
    assert len(set(paged)) == len(paged)


async def test_conversations_are_asked_for_in_portions(person: People, database: Database) -> None:
    alice = person("alice")
    places = [await alice.group("bob") for _ in range(7)]
    for number in range(21):
        await alice.send(places[number * 5 % 7], str(number), mentions=["bob"])
    # At two times only, so that ids decide in most places.
    for half, moment in (("^.$", 2020), ("^..$", 2021)):
        at = {"createdAt": datetime(moment, 1, 1, tzinfo=UTC)}
        await database["messages"].update_many({"body": {"$regex": half}}, {"$set": at})
    expected = await found(alice, senderId="alice")
    assert len(expected) == 21
    assert {*expected[:11]} == {str(number) for number in range(10, 21)}
    with patch.object(search, "CONVERSATIONS_AT_ONCE", 2):
        for limit in ("1", "4", "50"):
            assert await found(alice, senderId="alice", limit=limit) == expected
            assert await found(alice, mentions="bob", limit=limit) == expected


async def test_more_conversations_than_mongodb_merges(person: People, database: Database) -> None:
    """With more spans it would read and sort all of them."""
    alice = person("alice")
    create = alice.chat.api.create_group_conversation
    made = [await create("alice", user_ids=["bob"]) for _ in range(201)]
    await database["messages"].insert_many(rows([group.id for group in made], 10))
    await database.command("profile", 2)
    try:
        page = (await alice.get("/search/messages?senderId=bob&limit=5")).json
    finally:
        await database.command("profile", 0)
    newest = [f"row {number}" for number in range(ROWS + 9, ROWS + 4, -1)]
    assert [message["id"] for message in page["messages"]] == newest
    searches = {"command.aggregate": "messages"}
    profiled = await database["system.profile"].find(searches).to_list(None)
    assert len(profiled) == 2
    assert not any(operation.get("hasSortStage") for operation in profiled)
    assert sum(operation["docsExamined"] for operation in profiled) <= 20


async def test_rows_of_other_programs(person: People, database: Database) -> None:
    """A row without a time or with another id has no place in the order; searches go on."""
    alice = person("alice")
    group = await alice.group("bob")
    sent = await alice.send(group, "sound")
    stored = await database["messages"].find_one({"_id": sent["id"]})
    assert stored is not None
    broken: list[dict[str, Any]] = [
        {"_id": "untimed", "createdAt": "today"},
        {"_id": 7, "createdAt": datetime(2030, 1, 1, tzinfo=UTC)},
        {"_id": "misplaced", "conversationId": [group], "createdAt": datetime(2030, 1, 1)},
    ]
    for number, fields in enumerate(broken):
        row = {**stored, "terms": "sound", **fields, "seq": 100 + number}
        await database["messages"].insert_one(row, bypass_document_validation=True)
    for limit in ("1", "50"):
        assert await found(alice, senderId="alice", limit=limit) == ["sound"]
        assert await found(alice, since="2000-01-01T00:00:00Z", limit=limit) == ["sound"]


async def test_only_what_one_may_read_is_found(person: People) -> None:
    alice, bob, eve = person("alice"), person("bob"), person("eve")
    group = await bob.group("alice", "eve")
    await bob.send(group, "for all", mentions=["eve"])
    await change(alice.chat, group, remove=("eve",))
    await bob.send(group, "without eve")
    assert await found(eve, senderId="bob") == []
    assert await found(eve, mentions="me") == []
    refused = await eve.get("/search/messages", params={"senderId": "bob", "conversationId": group})
    assert (refused.status, refused.code) == (403, "FORBIDDEN_READ")
    absent = await eve.get("/search/messages?senderId=bob&conversationId=none")
    assert (absent.status, absent.code) == (404, "CONVERSATION_NOT_FOUND")
    await alice.chat.conversations.delete_conversation("bob", group)
    assert await found(alice, senderId="bob") == []


async def test_a_block_changes_nothing(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    await bob.send(await bob.direct("alice"), "before")
    await alice.post("/moderation/blocks", {"targetUserId": "bob"})
    assert await found(alice, senderId="bob") == ["before"]


async def test_a_host_may_open_a_conversation(serve: MakePeople) -> None:
    """Only the one that is named, as for any search."""

    def can_read(asked: PermissionContext) -> bool:
        return asked.user_id == "supervisor" or asked.user_id in asked.conversation.roles

    people = await serve(Hooks(can_read=can_read), search_filters=True)
    alice, supervisor = people("alice"), people("supervisor")
    group = await alice.group("bob")
    await alice.send(group, "seen")
    assert await found(supervisor, senderId="alice") == []
    assert await found(supervisor, senderId="alice", conversationId=group) == ["seen"]


async def test_hidden_history_is_not_found(serve: MakePeople) -> None:
    people = await serve(search_filters=True, room_controls=True, plugins=[Attachments()])
    alice, carol = people("alice"), people("carol")
    group = await alice.group("bob", "dora")
    await hide(alice, group)
    file = await attached(alice, group)
    await alice.send(group, "before", attachmentIds=[file], mentions=["alice"])
    await alice.chat.api.add_participants("alice", group, ["carol"])
    file = await attached(alice, group)
    await alice.send(group, "after", attachmentIds=[file], mentions=["alice"])
    for params in ({**FILTERS, "conversation_mentioned_newest": {"mentions": "alice"}}).values():
        assert await found(carol, **params) == ["after"]
        assert await found(carol, **params, conversationId=group) == ["after"]
        assert await found(alice, **params) == ["after", "before"]


async def test_a_page_is_filled_with_what_may_be_read(serve: MakePeople) -> None:
    def can_read(asked: PermissionContext) -> bool:
        return asked.message is None or asked.message.body.endswith("even")

    hooks = Hooks(can_read=can_read, can_read_messages=True)
    alice = (await serve(hooks, search_filters=True))("alice")
    conversation_id = await alice.direct("bob")
    for number in range(12):
        await alice.send(conversation_id, f"{number} {'odd' if number % 2 else 'even'}")
    page = await alice.get("/search/messages", params={"senderId": "alice", "limit": "4"})
    assert [message["body"] for message in page.json["messages"]] == [
        f"{number} even" for number in (10, 8, 6, 4)
    ]


ROWS = 3_000

FILES = [
    {
        "id": "a",
        "name": "a",
        "contentType": "text/plain",
        "size": 1,
        "width": None,
        "height": None,
        "hasThumbnail": False,
    }
]


def rows(conversation_ids: Iterable[str], start: int, **given: Any) -> list[dict[str, Any]]:
    """Messages as they are stored, one a second."""
    places = list(conversation_ids)
    return [
        {
            "_id": f"row {number}",
            "conversationId": places[number % len(places)],
            "seq": number,
            "senderId": "bob",
            "body": "look",
            "role": "user",
            "createdAt": datetime(2020, 1, 1, tzinfo=UTC) + timedelta(seconds=number),
            "editedAt": None,
            "deletedAt": None,
            "replyToMessageId": None,
            "threadRootMessageId": None,
            "timelines": [places[number % len(places)]],
            "reactions": [],
            "mentions": [],
            "forwardedFrom": None,
            "metadata": {},
            **given,
        }
        for number in range(start, start + ROWS)
    ]


@pytest.mark.parametrize("name", FILTERS)
async def test_a_page_reads_its_own_rows_only(
    person: People, database: Database, name: str
) -> None:
    """Neither all that the filter selects, nor what it leaves out, nor messages of others."""
    alice, eve = person("alice"), person("eve")
    own = [await alice.group("bob") for _ in range(4)]
    other = await eve.direct("bob")
    selected = {
        "senderId": "alice",
        "mentions": [{"userId": "alice", "createdAt": datetime(2020, 1, 1, tzinfo=UTC)}],
        "attachments": FILES,
    }
    await database["messages"].insert_many(rows([other], 10, **selected))
    await database["messages"].insert_many(rows(own, 10 + ROWS, **selected))
    # Newer ones, which a filter leaves out, except the one on times.
    await database["messages"].insert_many(rows(own, 10 + 2 * ROWS))
    asked = {**FILTERS[name], "limit": "10"}
    if name == "conversation_newest":
        asked["until"] = "2020-01-01T01:00:00Z"
    await database.command("profile", 2)
    try:
        first = (await alice.get("/search/messages", params=asked)).json
        asked["cursor"] = first["nextCursor"]
        second = (await alice.get("/search/messages", params=asked)).json
    finally:
        await database.command("profile", 0)
    shown = [message["id"] for page in (first, second) for message in page["messages"]]
    assert (len(shown), len(set(shown))) == (20, 20)
    profiled = (
        await database["system.profile"].find({"command.aggregate": "messages"}).to_list(None)
    )
    assert len(profiled) == 2
    for operation in profiled:
        assert operation["command"]["hint"] == name
        assert "COLLSCAN" not in operation["planSummary"]
        assert not operation.get("hasSortStage")
        assert operation["docsExamined"] <= 12  # With the last one of the page before.
        assert operation["keysExamined"] <= 11 + 3 * len(own)


async def test_a_rare_sender_of_files(person: People, database: Database) -> None:
    """Files of others are not read, only their keys."""
    alice = person("alice")
    group = await alice.group("bob")
    await database["messages"].insert_many(rows([group], 10, attachments=FILES))
    await database["messages"].update_many(
        {"_id": {"$in": ["row 11", "row 500"]}}, {"$set": {"senderId": "alice"}}
    )
    asked = {"senderId": "alice", "hasAttachments": "true", "conversationId": group}
    await database.command("profile", 2)
    try:
        page = (await alice.get("/search/messages", params=asked)).json
    finally:
        await database.command("profile", 0)
    assert [message["id"] for message in page["messages"]] == ["row 500", "row 11"]
    profiled = await database["system.profile"].find_one({"command.aggregate": "messages"})
    assert profiled is not None
    assert profiled["docsExamined"] == 2


async def test_words_with_filters_use_the_text_index(person: People, database: Database) -> None:
    alice = person("alice")
    group = await alice.group("bob")
    await alice.send(group, "unmistakable")
    for number in range(20):
        await alice.send(group, f"other {number}")
    await database.command("profile", 2)
    try:
        assert await found(alice, q="unmistakable", senderId="alice") == ["unmistakable"]
    finally:
        await database.command("profile", 0)
    profiled = await database["system.profile"].find_one({"command.aggregate": "messages"})
    assert profiled is not None
    assert "hint" not in profiled["command"]
    assert profiled["docsExamined"] <= 2


@pytest.mark.new_database
async def test_without_the_option(serve: MakePeople, database: Database) -> None:
    """A filter is refused: its answer would look as if it were applied. There are no indexes."""
    alice = (await serve())("alice")
    await alice.send(await alice.direct("bob"), "words")
    for params in FILTERS.values():
        for words in ({}, {"q": "words"}):
            answer = await alice.get("/search/messages", params={**params, **words})
            assert (answer.status, answer.code) == (501, "SEARCH_UNSUPPORTED")
    with pytest.raises(SearchUnsupported):
        await alice.chat.api.search_messages("alice", "words", sender_id="alice")
    assert await found(alice, q="words", hasAttachments="false", unknown="1") == ["words"]
    assert (await alice.get("/search/messages")).code == "INVALID_INPUT"
    standing = await database["messages"].index_information()
    assert not {*FILTERS} & {*standing}


@pytest.mark.new_database
async def test_it_finds_what_was_sent_before_it_was_switched_on(
    serve: MakePeople, make_chat: MakeChat
) -> None:
    before = (await serve())("alice")
    conversation_id = await before.direct("bob")
    await before.send(conversation_id, "before")
    alice = (await serve(search_filters=True))("alice")
    assert await found(alice, senderId="alice") == ["before"]
    names = {difference.index for difference in await indexes.differences(before.chat._database)}
    assert names == {*FILTERS}
    assert await indexes.differences(alice.chat._database) == []
    await make_chat()


async def test_an_installation_without_search(serve: MakePeople) -> None:
    people = await serve(disabled_capabilities={Capability.SEARCH}, search_filters=True)
    answer = await people("alice").get("/search/messages?senderId=alice")
    assert (answer.status, answer.code) == (501, "SEARCH_UNSUPPORTED")


@pytest.mark.parametrize("name", FILTERS)
async def test_a_search_without_its_index(person: People, database: Database, name: str) -> None:
    alice = person("alice")
    await alice.send(await alice.direct("bob"), "words", mentions=["alice"])
    await database["messages"].drop_index(name)
    answer = await alice.get("/search/messages", params=FILTERS[name])
    assert (answer.status, answer.code) == (503, "STORAGE_UNAVAILABLE")
    assert await found(alice, q="words", since=FILTERS["conversation_newest"]["since"]) == ["words"]
    await indexes.apply(alice.chat._database)
    assert (await alice.get("/search/messages", params=FILTERS[name])).status == 200


async def test_a_search_that_takes_too_long(make_chat: MakeChat) -> None:
    chat: Chat = await make_chat(search_filters=True)
    direct = await chat.api.get_or_create_conversation("alice", "bob")
    await chat.api.send_message("alice", direct.id, "words")
    slow = {"$expr": {"$function": SLEEP}}
    with (
        patch.object(search_index, "SECONDS", 0.3),
        patch.object(search_filters.SearchFilters, "conditions", lambda _: [slow]),
        pytest.raises(StorageUnavailable, match="too long"),
    ):
        await chat.api.search_messages("alice", sender_id="alice")
    assert len((await chat.api.search_messages("alice", sender_id="alice")).messages) == 1
