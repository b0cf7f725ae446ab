"""Search: exactly the messages of one's own that have every term, the most relevant first."""

import asyncio
from collections.abc import Callable, Iterable
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chat_aio import Chat, Hooks
from chat_aio.actions import search_index
from chat_aio.capabilities import Capability
from chat_aio.errors import StorageUnavailable
from chat_aio.hooks import PermissionContext
from chat_aio.store import indexes, search, tokenizer
from chat_aio.store.tokenizer import tokens_of
from tests.conftest import Database, MakeChat, MakePeople
from tests.support.membership import change
from tests.support.people import Person
from tests.support.terms import RUNS, TEXTS, WORDS, naive_score

People = Callable[[str], Person]


async def found(who: Person, query: str, **more: Any) -> list[str]:
    """The bodies that a search finds."""
    answer = await who.get("/search/messages", params={"q": query, **more})
    assert answer.status == 200, answer
    return [message["body"] for message in answer.json["messages"]]


async def test_every_term_must_be_there(person: People) -> None:
    alice = person("alice")
    conversation_id = await alice.direct("bob")
    for body in ("red apple", "Red, red APPLE!", "red pear", "apple", "redapple"):
        await alice.send(conversation_id, body)
    assert await found(alice, "RED apple") == ["Red, red APPLE!", "red apple"]
    assert await found(alice, "apple red red") == ["Red, red APPLE!", "red apple"]
    assert await found(alice, "apple -red") == ["Red, red APPLE!", "red apple"]
    assert await found(alice, '"apple red"') == ["Red, red APPLE!", "red apple"]
    assert await found(alice, "app") == []
    assert await found(alice, "the") == []


async def test_ties_go_to_the_newest(person: People) -> None:
    alice = person("alice")
    first, second = await alice.direct("bob"), await alice.direct("carol")
    for number in range(6):
        await alice.send([first, second][number % 2], f"word {number}")
    assert await found(alice, "word") == [f"word {number}" for number in reversed(range(6))]
    assert await found(alice, "word", conversationId=first) == ["word 4", "word 2", "word 0"]


@pytest.mark.parametrize(
    ("query", "bodies"),
    [
        ("東京", ["東京東京", "東京タワーへ", "私は東京にいる", "東京"]),
        ("京東", ["東京東京", "京東"]),
        ("ﾀﾜｰ", ["東京タワーへ"]),
        ("ทย", ["ภาษาไทย"]),
        ("fine", ["Ｆｉｎｅ", "ﬁne"]),
        ("CAFE\u0301", ["café"]),
        ("cafe", ["cafe"]),
        ("😀", []),
        ("👍🏽 ❤\ufe0f", []),
        ("?! …", []),
    ],
)
async def test_scripts_and_forms(person: People, query: str, bodies: list[str]) -> None:
    alice = person("alice")
    conversation_id = await alice.direct("bob")
    for body in (
        *(
            "東京",
            "京東",
            "私は東京にいる",
            "東京東京",
            "東京タワーへ",
            "ภาษาไทย",
            "ﬁne",
            "Ｆｉｎｅ",
        ),
        *("cafe", "café", "😀", "👍🏽 ❤\ufe0f", "?! …"),
    ):
        await alice.send(conversation_id, body)
    assert await found(alice, query) == bodies


async def test_only_ones_own_conversations_are_searched(person: People) -> None:
    alice, bob, eve = person("alice"), person("bob"), person("eve")
    group = await bob.group("alice", "eve")
    await bob.send(group, "word for all")
    await eve.send(await eve.direct("bob"), "word for bob")
    assert await found(alice, "word") == ["word for all"]
    await change(alice.chat, group, remove=("eve",))
    await bob.send(group, "word without eve")
    assert await found(eve, "word") == ["word for bob"]
    hidden = await eve.get(f"/search/messages?q=word&conversationId={group}")
    assert (hidden.status, hidden.code) == (403, "FORBIDDEN_READ")
    nothing = await eve.get("/search/messages?q=word&conversationId=none")
    assert (nothing.status, nothing.code) == (404, "CONVERSATION_NOT_FOUND")


async def test_edits_and_deletions_are_found_as_they_are(person: People) -> None:
    alice = person("alice")
    message = await alice.send(await alice.direct("bob"), "before")
    await alice.edit(message["id"], "after")
    assert (await found(alice, "before"), await found(alice, "after")) == ([], ["after"])
    await alice.delete(message["id"])
    assert await found(alice, "after") == []


@pytest.mark.parametrize(
    "query",
    [
        "",
        "q=",
        "q=%20%0a",
        "q=" + "x" * 2_049,
        "q=x&limit=0",
        "q=x&cursor=x",
        "q=x&conversationId=",
    ],
)
async def test_searches_that_are_refused(person: People, query: str) -> None:
    answer = await person("alice").get(f"/search/messages?{query}")
    assert (answer.status, answer.code) == (400, "INVALID_INPUT")


async def test_results_are_paged_by_rank(person: People, database: Database) -> None:
    alice = person("alice")
    conversation_id = await alice.direct("bob")
    for number in range(23):
        await alice.send(conversation_id, "word " * (number % 4 + 1) + str(number))
    once = await found(alice, "word", limit="200")
    assert len(once) == 23
    paged: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        params = {"q": "word", "limit": "5", **cursor}
        page = (await alice.get("/search/messages", params=params)).json
        paged += [message["body"] for message in page["messages"]]
        if page["nextCursor"] is None:
            break
        cursor = {"cursor": page["nextCursor"]}
        await alice.send(conversation_id, "word " * 9 + "a newer one, before where we are")
    assert paged == once


async def test_a_page_is_filled_with_what_may_be_read(serve: MakePeople) -> None:
    asked: list[PermissionContext] = []

    def can_read(context: PermissionContext) -> bool:
        asked.append(context)
        return context.message is None or context.message.body.endswith("even")

    person = await serve(Hooks(can_read=can_read, can_read_messages=True))
    alice = person("alice")
    conversation_id = await alice.direct("bob")
    for number in range(40):
        await alice.send(conversation_id, f"word {number} {'odd' if number % 2 else 'even'}")
    page = (await alice.get("/search/messages?q=word&limit=15")).json
    bodies = [message["body"] for message in page["messages"]]
    assert bodies == [f"word {number} even" for number in range(38, 8, -2)]
    params = {"q": "word", "limit": "15", "cursor": page["nextCursor"]}
    page = (await alice.get("/search/messages", params=params)).json
    assert (len(page["messages"]), page["nextCursor"]) == (5, None)
    assert any(context.message for context in asked)


async def test_in_a_conversation_that_the_hosts_rule_opens(serve: MakePeople) -> None:
    """A supervisor who is in no conversation searches the one that is named; without a name, only
    their own are searched."""
    person = await serve(Hooks(can_read=lambda asked: asked.user_id in ("alice", "super")))
    alice = person("alice")
    group = await alice.group("bob")
    await alice.send(group, "the moths")
    for query, who, bodies in (
        (f"q=moths&conversationId={group}", "super", ["the moths"]),
        ("q=moths", "super", []),
        ("q=moths", "alice", ["the moths"]),
    ):
        found = (await person(who).get(f"/search/messages?{query}")).json["messages"]
        assert [message["body"] for message in found] == bodies
    refused = await person("bob").get(f"/search/messages?q=moths&conversationId={group}")
    assert (refused.status, refused.code) == (403, "FORBIDDEN_READ")


async def test_a_query_of_a_hundred_terms(person: People) -> None:
    alice = person("alice")
    conversation_id = await alice.direct("bob")
    terms = [f"term{number}" for number in range(100)]
    await alice.send(conversation_id, " ".join(reversed(terms)))
    await alice.send(conversation_id, " ".join(terms[:99]))
    assert await found(alice, " ".join(terms)) == [" ".join(reversed(terms))]


async def test_a_body_of_many_different_characters(person: People, database: Database) -> None:
    """It neither stops nor slows down what others send beside it."""
    alice, bob = person("alice"), person("bob")
    conversation_id = await alice.direct("bob")
    body = "".join(map(chr, range(0x4E00, 0x4E00 + 16_384)))
    sent = await asyncio.gather(
        alice.send(conversation_id, body), *(bob.send(conversation_id, "hi") for _ in range(50))
    )
    assert sorted(message["seq"] for message in sent) == list(range(1, 52))
    assert await found(alice, body[100:103]) == [body]
    page = await alice.chat.api.search_messages("alice", body[:2_048])
    assert [message.body for message in page.messages] == [body]
    assert await found(alice, body[-3:]) == []
    stored = await database["messages"].find_one({"_id": sent[0]["id"]})
    assert stored is not None
    assert stored["search"].count(" ") == 4_095


def of_one_term(conversation_id: str, entries: Iterable[str]) -> list[str]:
    return [token[:6] + "aaaa" for token in tokens_of(conversation_id, entries)]


def of_one_conversation(conversation_id: str, entries: Iterable[str]) -> list[str]:
    return ["aaaaaa" + token[6:] for token in tokens_of("the same", entries)]


def of_anything(conversation_id: str, entries: Iterable[str]) -> list[str]:
    return ["aaaaaaaaaa" for _ in entries]


@pytest.mark.parametrize("colliding", [of_one_term, of_one_conversation, of_anything])
async def test_tokens_that_collide(person: People, colliding: Any) -> None:
    """Tokens are hashes: those of other terms or conversations must not show what has these."""
    with (
        patch.object(search, "tokens_of", colliding),
        patch.object(tokenizer, "tokens_of", colliding),
    ):
        alice, eve = person("alice"), person("eve")
        await alice.send(await alice.direct("bob"), "word of hers")
        own, other = await eve.direct("bob"), await eve.direct("carol")
        for body in ("word of eve's", "東京", "another", "京東"):
            await eve.send(own, body)
        await eve.send(other, "a word elsewhere")
        assert await found(eve, "word") == ["a word elsewhere", "word of eve's"]
        assert await found(eve, "word", conversationId=own) == ["word of eve's"]
        assert await found(eve, "another") == ["another"]
        assert await found(eve, "東京") == ["東京"]
        assert await found(eve, "missing") == []


async def test_a_search_while_the_index_is_made_anew(
    person: People, database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    """docs/operations/mongodb.md, Indexes: everything else works. The log names it once."""
    alice = person("alice")
    conversation_id = await alice.direct("bob")
    await alice.send(conversation_id, "a word")
    await database["messages"].drop_index("search")
    for _ in range(3):
        answer = await alice.get("/search/messages?q=word")
        assert (answer.status, answer.code) == (503, "STORAGE_UNAVAILABLE")
        assert "its index is missing" in answer.json["error"]["message"]
    assert caplog.text.count("the index search of messages is missing") == 1
    await alice.send(conversation_id, "word meanwhile")
    await indexes.apply(alice.chat._database)
    assert await found(alice, "word") == ["word meanwhile", "a word"]
    assert caplog.text.count("the index search of messages exists again") == 1


async def test_a_search_that_takes_too_long(chat: Chat) -> None:
    direct = await chat.api.get_or_create_conversation("alice", "bob")
    await chat.api.send_message("alice", direct.id, "word")
    with (
        patch.object(search_index, "SECONDS", 0.3),
        patch.object(search, "_score", lambda _: {"$function": SLEEP}),
        pytest.raises(StorageUnavailable),
    ):
        await chat.api.search_messages("alice", "word")
    assert len((await chat.api.search_messages("alice", "word")).messages) == 1


SLEEP = {"body": "function() { sleep(5000); return 1 }", "args": [], "lang": "js"}


async def test_an_installation_without_search(serve: MakePeople, database: Database) -> None:
    alice = (await serve(disabled_capabilities={Capability.SEARCH}))("alice")
    message = await alice.send(await alice.direct("bob"), "word")
    await alice.edit(message["id"], "other")
    answer = await alice.get("/search/messages?q=word")
    assert (answer.status, answer.code) == (501, "SEARCH_UNSUPPORTED")
    assert (await alice.get("/search/messages")).code == "INVALID_INPUT"
    assert await database["messages"].count_documents({"search": {"$exists": True}}) == 0
    bob = (await serve())("bob")
    old = await bob.send(await bob.direct("carol"), "hunter2")
    assert await found(bob, "hunter2") == ["hunter2"]
    hidden = (await serve(disabled_capabilities={Capability.SEARCH}))("bob")
    await hidden.edit(old["id"], "nothing here")
    assert await found(bob, "hunter2") == []


async def test_the_server_api_searches(chat: Chat) -> None:
    direct = await chat.api.get_or_create_conversation("alice", "bob")
    sent = [await chat.api.send_message("alice", direct.id, "word") for _ in range(3)]
    page = await chat.api.search_messages("alice", "word", limit=2)
    assert page.messages == (sent[2], sent[1])
    page = await chat.api.search_messages(
        "alice", "word", limit=2, cursor=page.next_cursor, conversation_id=direct.id
    )
    assert (page.messages, page.next_cursor) == ((sent[0],), None)


QUERIES = st.one_of(
    TEXTS, st.lists(st.sampled_from(WORDS + RUNS), min_size=1, max_size=3).map(" ".join)
)


async def test_search_finds_what_the_rule_says(make_chat: MakeChat) -> None:
    """Generated texts in many scripts, against the rule read plainly."""
    chat = await make_chat()
    ours = await chat.api.get_or_create_conversation("alice", "bob")
    theirs = await chat.api.get_or_create_conversation("carol", "bob")
    texts = [body for body in generated(TEXTS, 400) if body.strip()]
    sent = await asyncio.gather(
        *(chat.api.send_message("alice", ours.id, body) for body in texts),
        *(chat.api.send_message("carol", theirs.id, body) for body in texts[::8]),
    )
    mine = [message for message in sent if message.conversation_id == ours.id]
    for query in generated(QUERIES, 120):
        if not query.strip():
            continue
        hits = (await chat.api.search_messages("alice", query, limit=200)).messages
        scores = {message.id: naive_score(query, message.body) for message in mine}
        expected = sorted(
            (message for message in mine if scores[message.id]),
            key=lambda message: (scores[message.id], message.created_at, message.id),
            reverse=True,
        )
        assert [hit.id for hit in hits] == [message.id for message in expected[:200]], query


def generated(strategy: st.SearchStrategy[str], count: int) -> list[str]:
    """So many different examples, the same in every run."""
    examples: dict[str, None] = {}

    @settings(
        max_examples=count,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def collect(example: str) -> None:
        examples[example] = None

    collect()
    return list(examples)
