"""Search with `prefix`: the last word of a query also matches words that begin with it."""

import asyncio
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import strategies as st

from chat_aio import Chat, Hooks
from chat_aio.actions import search_index
from chat_aio.capabilities import Capability
from chat_aio.errors import SearchUnsupported, SetupError, StorageUnavailable
from chat_aio.hooks import PermissionContext
from chat_aio.store import indexes, search
from tests.actions.test_history import hide
from tests.actions.test_searching import SLEEP, generated
from tests.conftest import Database, MakeChat, MakePeople
from tests.support.membership import change
from tests.support.people import Person
from tests.support.terms import RUNS, TEXTS, WORDS, naive_prefix_score

People = Callable[[str], Person]


@pytest.fixture
async def person(serve: MakePeople) -> People:
    return await serve(prefix_search=True)


async def found(who: Person, query: str, **more: Any) -> list[str]:
    """The bodies that are found while `query` is typed."""
    asked = {"q": query, "prefix": "true", **more}
    answer = await who.get("/search/messages", params=asked)
    assert answer.status == 200, answer
    return [message["body"] for message in answer.json["messages"]]


async def test_the_last_word_may_go_on(person: People) -> None:
    alice = person("alice")
    conversation_id = await alice.direct("bob")
    for body in ("the compiler", "Compile it", "decompile", "compel", "a compiled compiler"):
        await alice.send(conversation_id, body)
    assert await found(alice, "compil") == ["a compiled compiler", "Compile it", "the compiler"]
    assert await found(alice, "COMPIL") == await found(alice, "compil")
    assert await found(alice, "the compil") == ["the compiler"]
    assert await found(alice, "compil the") == []
    assert await found(alice, "compil ") == []
    assert await found(alice, "compil, ") == []
    assert await found(alice, "compiler th") == []
    assert await found(alice, "compiler com") == ["a compiled compiler", "the compiler"]
    assert await found(alice, "compil", prefix="false") == []
    assert await found(alice, "?!") == []


async def test_whole_words_come_first(person: People) -> None:
    """However often others are there."""
    alice = person("alice")
    conversation_id = await alice.direct("bob")
    for body in ("word", "words wording wordy", "words", "word word", "wordless"):
        await alice.send(conversation_id, body)
    expected = ["word word", "word", "words wording wordy", "wordless", "words"]
    assert await found(alice, "word") == expected
    paged: list[str] = []
    cursor: dict[str, str] = {}
    while cursor is not None:
        params = {"q": "word", "prefix": "true", "limit": "2", **cursor}
        page = (await alice.get("/search/messages", params=params)).json
        paged += [message["body"] for message in page["messages"]]
        if page["nextCursor"] is None:
            break
        cursor = {"cursor": page["nextCursor"]}
        await alice.send(conversation_id, "word word word, before where we are")
    assert paged == expected


@pytest.mark.parametrize(
    ("query", "bodies"),
    [
        ("東", ["東京タワー", "東京"]),
        ("東京タ", ["東京タワー"]),
        ("cafe", ["cafes"]),
        ("caf", ["cafes", "cafés"]),
        ("CAFÉ", ["cafés"]),
        ("ﬁn", ["fines"]),
        ("прив", ["Приветствие"]),
        ("202", ["2024"]),
        ("20", []),
        ("東京 caf", []),
    ],
)
async def test_scripts_and_forms(person: People, query: str, bodies: list[str]) -> None:
    alice = person("alice")
    conversation_id = await alice.direct("bob")
    for body in ("東京", "東京タワー", "cafés", "cafes", "fines", "Приветствие", "2024"):
        await alice.send(conversation_id, body)
    assert await found(alice, query) == bodies


async def test_only_what_one_may_read_is_found(person: People) -> None:
    alice, bob, eve = person("alice"), person("bob"), person("eve")
    group = await bob.group("alice", "eve")
    await bob.send(group, "wording for all")
    await eve.send(await eve.direct("bob"), "wording for bob")
    assert await found(alice, "wordi") == ["wording for all"]
    await change(alice.chat, group, remove=("eve",))
    await bob.send(group, "wording without eve")
    assert await found(eve, "wordi") == ["wording for bob"]
    assert await found(bob, "wordi", conversationId=group) == [
        "wording without eve",
        "wording for all",
    ]
    asked = {"q": "wordi", "prefix": "true", "conversationId": group}
    refused = await eve.get("/search/messages", params=asked)
    assert (refused.status, refused.code) == (403, "FORBIDDEN_READ")


async def test_edits_and_deletions_are_found_as_they_are(person: People) -> None:
    alice = person("alice")
    message = await alice.send(await alice.direct("bob"), "before")
    await alice.edit(message["id"], "afterwards")
    assert (await found(alice, "bef"), await found(alice, "aft")) == ([], ["afterwards"])
    await alice.delete(message["id"])
    assert await found(alice, "aft") == []


async def test_hidden_history_is_not_found(serve: MakePeople) -> None:
    people = await serve(prefix_search=True, room_controls=True)
    alice, carol = people("alice"), people("carol")
    group = await alice.group("bob")
    await hide(alice, group)
    await alice.send(group, "wording of before")
    await alice.chat.api.add_participants("alice", group, ["carol"])
    await alice.send(group, "wording of after")
    assert await found(carol, "wordi") == ["wording of after"]
    assert await found(alice, "wordi") == ["wording of after", "wording of before"]


async def test_a_page_is_filled_with_what_may_be_read(serve: MakePeople) -> None:
    def can_read(asked: PermissionContext) -> bool:
        return asked.message is None or asked.message.body.endswith("even")

    hooks = Hooks(can_read=can_read, can_read_messages=True)
    alice = (await serve(hooks, prefix_search=True))("alice")
    conversation_id = await alice.direct("bob")
    for number in range(12):
        await alice.send(conversation_id, f"words {number} {'odd' if number % 2 else 'even'}")
    bodies = [f"words {number} even" for number in (10, 8, 6, 4)]
    assert await found(alice, "word", limit="4") == bodies


async def test_the_index_is_used_and_bounds_what_is_read(
    person: People, database: Database
) -> None:
    """Neither messages of others nor one's own without such a word are looked at."""
    alice, eve = person("alice"), person("eve")
    own = [await alice.direct("bob"), await alice.group("bob", "carol")]
    other = await eve.direct("bob")
    for number in range(20):
        await alice.send(own[number % 2], f"compiler compiled {number}")
        await alice.send(own[number % 2], f"nothing of it {number}")
        await eve.send(other, f"compiler {number}")
    await database.command("profile", 2)
    try:
        assert len(await found(alice, "compil", limit="50")) == 20
        assert len(await found(alice, "of compil", limit="50")) == 0
    finally:
        await database.command("profile", 0)
    profiled = database["system.profile"].find({"command.aggregate": "messages"}).sort("ts", 1)
    first, second = await profiled.to_list(None)
    for query in (first, second):
        assert query["command"]["hint"] == "conversation_terms"
        assert query["docsExamined"] <= 20
        assert query["keysExamined"] <= 45


async def test_a_rarer_word_is_looked_for_first(person: People, database: Database) -> None:
    alice = person("alice")
    conversation_id = await alice.direct("bob")
    for number in range(20):
        await alice.send(conversation_id, f"compilers {number}")
    await alice.send(conversation_id, "unmistakable compilers")
    await database.command("profile", 2)
    try:
        assert await found(alice, "unmistakable comp") == ["unmistakable compilers"]
    finally:
        await database.command("profile", 0)
    profiled = await database["system.profile"].find_one({"command.aggregate": "messages"})
    assert profiled is not None
    assert "hint" not in profiled["command"]
    assert profiled["docsExamined"] <= 2


@pytest.mark.new_database
async def test_without_the_option(serve: MakePeople, database: Database) -> None:
    """Searches are the contract's, and there is no such index."""
    alice = (await serve())("alice")
    await alice.send(await alice.direct("bob"), "words")
    answer = await alice.get("/search/messages?q=word&prefix=true")
    assert (answer.status, answer.code) == (501, "SEARCH_UNSUPPORTED")
    with pytest.raises(SearchUnsupported):
        await alice.chat.api.search_messages("alice", "word", prefix=True)
    assert (await alice.get("/search/messages?q=word&prefix=false")).json["messages"] == []
    assert (await alice.get("/search/messages?q=word&prefix=1")).code == "INVALID_INPUT"
    assert search.INDEX not in await database["messages"].index_information()


@pytest.mark.new_database
async def test_it_finds_what_was_sent_before_it_was_switched_on(
    serve: MakePeople, make_chat: MakeChat
) -> None:
    """And what others send who have not switched it on; they take no offence at its index."""
    before = (await serve())("alice")
    conversation_id = await before.direct("bob")
    await before.send(conversation_id, "words of before")
    with pytest.raises(SetupError, match=search.INDEX):
        await make_chat(prefix_search=True, manage_indexes=False)
    alice = (await serve(prefix_search=True))("alice")
    await before.send(conversation_id, "words beside it")
    assert await found(alice, "wor") == ["words beside it", "words of before"]
    (surplus,) = await indexes.differences(before.chat._database)
    assert (surplus.state, surplus.index) == ("surplus", "conversation_terms")
    assert await indexes.differences(alice.chat._database) == []
    await make_chat()


async def test_an_installation_without_search(serve: MakePeople) -> None:
    alice = (await serve(disabled_capabilities={Capability.SEARCH}, prefix_search=True))("alice")
    answer = await alice.get("/search/messages?q=word&prefix=true")
    assert (answer.status, answer.code) == (501, "SEARCH_UNSUPPORTED")


async def test_a_search_while_the_index_is_made_anew(person: People, database: Database) -> None:
    alice = person("alice")
    conversation_id = await alice.direct("bob")
    await alice.send(conversation_id, "words")
    await database["messages"].drop_index(search.INDEX)
    answer = await alice.get("/search/messages?q=word&prefix=true")
    assert (answer.status, answer.code) == (503, "STORAGE_UNAVAILABLE")
    assert await found(alice, "words", prefix="false") == ["words"]
    await indexes.apply(alice.chat._database)
    assert await found(alice, "word") == ["words"]


async def test_a_search_that_takes_too_long(make_chat: MakeChat) -> None:
    chat: Chat = await make_chat(prefix_search=True)
    direct = await chat.api.get_or_create_conversation("alice", "bob")
    await chat.api.send_message("alice", direct.id, "words")
    with (
        patch.object(search_index, "SECONDS", 0.3),
        patch.object(search, "_score", lambda _: {"$function": SLEEP}),
        pytest.raises(StorageUnavailable),
    ):
        await chat.api.search_messages("alice", "word", prefix=True)
    assert len((await chat.api.search_messages("alice", "word", prefix=True)).messages) == 1


CUT = st.tuples(
    st.lists(st.sampled_from(WORDS + RUNS), max_size=2).map(" ".join),
    st.sampled_from(WORDS + RUNS),
    st.integers(1, 6),
).map(lambda parts: f"{parts[0]} {parts[1][: parts[2]]}")
QUERIES = st.one_of(TEXTS, CUT)


async def test_search_finds_what_the_rule_says(make_chat: MakeChat) -> None:
    """Generated texts in many scripts, against the rule read plainly."""
    chat = await make_chat(prefix_search=True)
    ours = await chat.api.get_or_create_conversation("alice", "bob")
    theirs = await chat.api.get_or_create_conversation("carol", "bob")
    texts = [body for body in generated(TEXTS, 300) if body.strip()]
    sent = await asyncio.gather(
        *(chat.api.send_message("alice", ours.id, body) for body in texts),
        *(chat.api.send_message("carol", theirs.id, body) for body in texts[::8]),
    )
    mine = [message for message in sent if message.conversation_id == ours.id]
    for query in generated(QUERIES, 200):
        if not query.strip():
            continue
        page = await chat.api.search_messages("alice", query, prefix=True, limit=200)
        scores = {message.id: naive_prefix_score(query, message.body) for message in mine}
        expected = sorted(
            (message for message in mine if scores[message.id]),
            key=lambda message: (scores[message.id], message.created_at, message.id),
            reverse=True,
        )
        assert [message.id for message in page.messages] == [
            message.id for message in expected[:200]
        ], query
