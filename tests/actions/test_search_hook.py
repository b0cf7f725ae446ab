"""The hook `search_messages`: the host finds messages, and the chat shows the readable ones."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest

from chat_aio import Hooks
from chat_aio.capabilities import Capability
from chat_aio.errors import InternalError
from chat_aio.hooks import FoundMessages, MessageSearch, PermissionContext
from chat_aio.store import indexes, search
from tests.actions.test_history import hide
from tests.actions.test_search_filters import FILTERS
from tests.conftest import Database, MakePeople
from tests.support.membership import change
from tests.support.people import Person

People = Callable[[str], Person]


@dataclass
class Engine:
    """A host's engine, which answers with these ids, in pages of `size` if there is one."""

    ids: Sequence[Any] = ()
    size: int | None = None
    asked: list[MessageSearch] = field(default_factory=list)

    async def __call__(self, asked: MessageSearch) -> FoundMessages:
        self.asked.append(asked)
        start = int(asked.cursor or 0)
        end = start + self.size if self.size else len(self.ids)
        following = str(end) if end < len(self.ids) else None
        return FoundMessages(message_ids=list(self.ids[start:end]), next_cursor=following)


@pytest.fixture
def engine() -> Engine:
    return Engine()


@pytest.fixture
async def person(serve: MakePeople, engine: Engine) -> People:
    hooks = Hooks(search_messages=engine)
    return await serve(hooks, search_filters=True, prefix_search=True, room_controls=True)


async def pages(who: Person, **params: Any) -> list[list[str]]:
    """The bodies of all pages of a search."""
    found = []
    while True:
        answer = await who.get("/search/messages", params={"q": "tea", **params})
        assert answer.status == 200, answer
        found.append([message["body"] for message in answer.json["messages"]])
        assert len(found) < 20
        if answer.json["nextCursor"] is None:
            return found
        params["cursor"] = answer.json["nextCursor"]


async def test_the_host_gets_the_request_and_orders_the_answer(
    person: People, engine: Engine
) -> None:
    alice = person("alice")
    group, direct = await alice.group("bob"), await alice.direct("bob")
    engine.ids = [(await alice.send(group, body))["id"] for body in ("b", "c", "a")]
    asked = {
        "q": "téa?",
        "prefix": "true",
        "senderId": "bob",
        "since": "2026-01-01T00:00:00+01:00",
        "hasAttachments": "true",
        "mentions": "me",
        "limit": "7",
    }
    assert await pages(alice, **asked) == [["b", "c", "a"]]
    (given,) = engine.asked
    assert set(given.conversation_ids) == {group, direct}
    expected = MessageSearch(
        user_id="alice",
        conversation_ids=given.conversation_ids,
        query="téa?",
        prefix=True,
        sender_id="bob",
        since=datetime(2025, 12, 31, 23, tzinfo=UTC),
        until=None,
        has_attachments=True,
        mentions="alice",
        limit=7,
        cursor=None,
    )
    assert given == expected
    page = await alice.chat.api.search_messages("alice", "tea", conversation_id=group)
    assert [message.body for message in page.messages] == ["b", "c", "a"]
    assert engine.asked[-1].conversation_ids == (group,)
    by_filter = await alice.chat.api.search_messages("alice", sender_id="alice")
    assert len(by_filter.messages) == 3
    assert engine.asked[-1].query is None


async def test_only_what_one_may_read_is_shown(person: People, engine: Engine) -> None:
    """Whatever the host returns: messages of others, hidden ones, deleted ones, and no ids."""
    alice, bob, carol, eve = map(person, ("alice", "bob", "carol", "eve"))
    group, left = await alice.group("bob"), await alice.group("eve", "carol")
    await hide(alice, group)
    hidden = await alice.send(group, "before carol")
    await alice.chat.api.add_participants("alice", group, ["carol"])
    shown = await alice.send(group, "shown")
    deleted = await alice.send(group, "deleted")
    await alice.delete(deleted["id"])
    foreign = await bob.send(await bob.direct("eve"), "foreign")
    there = await alice.send(left, "there")
    gone_place = await alice.group("carol")
    gone = await alice.send(gone_place, "gone")
    await alice.chat.conversations.delete_conversation("alice", gone_place)
    messages = (hidden, shown, deleted, foreign, there, gone)
    ids = [message["id"] for message in messages]
    engine.ids = ["none", "", "x" * 300, "\0", "\ud800", 7, None, [], *ids, shown["id"]]
    assert await pages(carol) == [["shown", "there"]]
    assert await pages(alice) == [["before carol", "shown", "there"]]
    assert await pages(carol, conversationId=group) == [["shown"]]
    assert await pages(eve) == [["foreign", "there"]]
    await change(alice.chat, left, remove=("eve",))
    assert await pages(eve) == [["foreign"]]
    calls = len(engine.asked)
    assert await pages(person("stranger")) == [[]]
    refused = await eve.get(f"/search/messages?q=tea&conversationId={group}")
    assert (refused.status, refused.code) == (403, "FORBIDDEN_READ")
    assert len(engine.asked) == calls


async def test_a_host_that_may_refuse_messages(serve: MakePeople, engine: Engine) -> None:
    def can_read(asked: PermissionContext) -> bool:
        if asked.user_id == "supervisor":
            return True
        return asked.user_id in asked.conversation.roles and (
            asked.message is None or asked.message.body != "secret"
        )

    hooks = Hooks(search_messages=engine, can_read=can_read, can_read_messages=True)
    people = await serve(hooks)
    alice, supervisor = people("alice"), people("supervisor")
    group = await alice.group("bob")
    engine.ids = [(await alice.send(group, body))["id"] for body in ("seen", "secret")]
    assert await pages(alice) == [["seen"]]
    assert await pages(supervisor) == [[]]
    assert await pages(supervisor, conversationId=group) == [["seen", "secret"]]


async def test_pages_follow_the_hosts_cursor(person: People, engine: Engine) -> None:
    alice = person("alice")
    group = await alice.group("bob")
    engine.ids = [(await alice.send(group, str(number)))["id"] for number in range(7)]
    engine.size = 3
    assert await pages(alice) == [["0", "1", "2"], ["3", "4", "5"], ["6"]]
    assert [asked.cursor for asked in engine.asked] == [None, "3", "6"]
    # Smaller pages than the host's: the same answer is asked for again.
    assert await pages(alice, limit="2") == [["0", "1"], ["2"], ["3", "4"], ["5"], ["6"]]


async def test_a_host_without_pages(person: People, engine: Engine) -> None:
    """And messages that are written, deleted and found in the meantime."""
    alice = person("alice")
    group = await alice.group("bob")
    ids = [(await alice.send(group, str(number)))["id"] for number in range(6)]
    engine.ids = ids
    assert await pages(alice, limit="2") == [["0", "1"], ["2", "3"], ["4", "5"]]
    first = (await alice.get("/search/messages?q=tea&limit=2")).json
    engine.ids = [(await alice.send(group, "new"))["id"], *ids]
    await alice.delete(ids[1])
    assert await pages(alice, limit="2", cursor=first["nextCursor"]) == [["2", "3"], ["4", "5"]]
    # The last message that was shown is not in the answer any more: repeated, not left out.
    engine.ids = ids[2:]
    again = await pages(alice, limit="2", cursor=first["nextCursor"])
    assert again == [["2", "3"], ["4", "5"]]


async def test_a_page_without_readable_messages_has_a_cursor(
    person: People, engine: Engine
) -> None:
    alice, eve = person("alice"), person("eve")
    foreign = await eve.group("bob")
    theirs = [(await eve.send(foreign, "theirs"))["id"] for _ in range(3)]
    mine = await alice.send(await alice.group("bob"), "mine")
    engine.ids, engine.size = [*theirs, mine["id"]], 3
    assert await pages(alice) == [[], ["mine"]]


@pytest.mark.parametrize(
    "answer",
    [
        None,
        ["id"],
        FoundMessages(message_ids="id"),
        FoundMessages(message_ids=["id"] * 2_001),
        FoundMessages(message_ids=[], next_cursor=7),  # type: ignore[arg-type]
        FoundMessages(message_ids=[], next_cursor=""),
        FoundMessages(message_ids=[], next_cursor="x" * 1_001),
        FoundMessages(message_ids=[], next_cursor="\ud800"),
    ],
)
async def test_an_answer_that_is_none(
    serve: MakePeople, answer: object, caplog: pytest.LogCaptureFixture
) -> None:
    hooks = Hooks(search_messages=lambda _: answer)  # type: ignore[arg-type, return-value]
    alice = (await serve(hooks))("alice")
    await alice.direct("bob")
    with caplog.at_level(logging.ERROR):
        refused = await alice.get("/search/messages?q=tea")
    assert (refused.status, refused.code) == (500, "INTERNAL_ERROR")
    assert "search_messages must return FoundMessages" in caplog.text


async def test_a_hook_that_fails_or_is_late(serve: MakePeople) -> None:
    async def late(_: MessageSearch) -> FoundMessages:
        await asyncio.Event().wait()
        raise AssertionError

    def fails(_: MessageSearch) -> FoundMessages:
        raise RuntimeError

    for hook in (late, fails):
        alice = (await serve(Hooks(search_messages=hook), hook_timeout_seconds=0.2))("alice")
        await alice.direct("bob")
        refused = await alice.get("/search/messages?q=tea")
        assert (refused.status, refused.code) == (500, "INTERNAL_ERROR")
        with pytest.raises(InternalError):
            await alice.chat.api.search_messages("alice", "tea")


async def test_cursors_are_those_of_the_hook(
    serve: MakePeople, person: People, engine: Engine
) -> None:
    alice = person("alice")
    group = await alice.group("bob")
    engine.ids = [(await alice.send(group, "tea"))["id"] for _ in range(3)]
    ours = (await serve())("alice")
    theirs = (await alice.get("/search/messages?q=tea&limit=1")).json["nextCursor"]
    own = (await ours.get("/search/messages?q=tea&limit=1")).json["nextCursor"]
    for who, cursor in ((alice, own), (ours, theirs), (alice, "x")):
        refused = await who.get("/search/messages", params={"q": "tea", "cursor": cursor})
        assert (refused.status, refused.code) == (400, "INVALID_INPUT")


async def test_the_parameters_need_their_options(serve: MakePeople, engine: Engine) -> None:
    alice = (await serve(Hooks(search_messages=engine)))("alice")
    for params in ("senderId=alice", "q=tea&mentions=me", "q=tea&prefix=true"):
        answer = await alice.get(f"/search/messages?{params}")
        assert (answer.status, answer.code) == (501, "SEARCH_UNSUPPORTED")
    assert engine.asked == []


@pytest.mark.new_database
async def test_it_needs_no_index_of_the_chat(
    serve: MakePeople, engine: Engine, database: Database
) -> None:
    """With the capability off, messages have no search fields, and the host still searches."""
    people = await serve(
        Hooks(search_messages=engine),
        search_filters=True,
        prefix_search=True,
        disabled_capabilities={Capability.SEARCH},
    )
    alice = people("alice")
    sent = await alice.send(await alice.direct("bob"), "tea")
    engine.ids = [sent["id"]]
    assert await pages(alice) == [["tea"]]
    stored = await database["messages"].find_one({"_id": sent["id"]})
    assert stored is not None
    assert not {"terms", "search"} & {*stored}
    standing = {*await database["messages"].index_information()}
    assert not standing & {*FILTERS, search.INDEX}
    assert await indexes.differences(alice.chat._database) == []
