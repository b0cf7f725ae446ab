"""A host's own `can_read`, and history since one has joined: every way by which content can be
seen, times what the host refuses or is hidden.

What is refused has the word `canary` in it, which must not stand in any byte that its reader gets.
Where all is allowed each way shows it, so that a way which shows nothing proves nothing.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import pytest

from chat_aio import ChatError, Hooks
from chat_aio.hooks import PermissionContext
from chat_aio.plugins import Attachments
from tests.conftest import MakePeople
from tests.plugins.attachments.uploading import attached, fetch
from tests.support.people import PATIENCE, Person, Tab

CANARY = "canary"
KINDS = ("conversation", "message", "nothing")
"""What the host refuses to bob."""

EVERY_WAY = {"inbox": True, "room_controls": True, "prefix_search": True, "search_filters": True}
"""The options with further ways."""

HISTORY, ASKED_HISTORY = "history", "history, and the host is asked"
"""Bob has come back, and what was said before is hidden from him."""


@dataclass
class Rule:
    """Participants read; bob not what is refused, from the moment that it is."""

    kind: str
    on: bool = False
    asked: list[PermissionContext] = field(default_factory=list)

    async def __call__(self, asked: PermissionContext) -> bool:
        self.asked.append(asked)
        if asked.user_id not in asked.conversation.roles:
            return False
        if asked.user_id != "bob" or not self.on:
            return True
        if self.kind == "conversation":
            return asked.conversation.name != CANARY
        if self.kind == "message":
            return asked.message is None or CANARY not in asked.message.body
        return True

    @property
    def hooks(self) -> Hooks | None:
        asks_for_messages = self.kind in ("message", ASKED_HISTORY)
        if self.kind == HISTORY:
            return None
        return Hooks(can_read=self, can_read_messages=asks_for_messages)

    @property
    def hides(self) -> bool:
        return self.kind in (HISTORY, ASKED_HISTORY)


@dataclass
class World:
    """A group, and what alice and bob have said there; `secret` is what may be refused."""

    rule: Rule
    alice: Person
    bob: Person
    group: str
    secret: str
    root: str
    mine: Sequence[str]
    file: str = ""

    @property
    def here(self) -> str:
        return f"/conversations/{self.group}"


async def make_world(person: Callable[[str], Person], rule: Rule) -> World:
    alice, bob = person("alice"), person("bob")
    group = await alice.group(
        "bob", name=CANARY if rule.kind in ("conversation", "nothing") else "tea"
    )
    has_files = bool(alice.chat._context.plugins)
    files = [await attached(alice, group, CANARY.encode())] if has_files else []
    words = {"mentions": ["bob"], "attachmentIds": files}
    secret = (await alice.send(group, f"{CANARY} hush", **words))["id"]
    root = (await alice.send(group, "a root"))["id"]
    for root_id in (root, secret):
        text = f"{CANARY} in a thread"
        await alice.send(group, text, threadRootMessageId=root_id, mentions=["bob"])
    assert (await alice.post(f"/conversations/{group}/pins", {"messageId": secret})).status == 200
    await alice.send(group, "quoting", replyToMessageId=secret)
    mine = [
        (await bob.send(group, f"mine {n}", replyToMessageId=secret, clientMessageId=f"k{n}"))["id"]
        for n in range(3)
    ]
    if rule.hides:
        mine[0] = await come_back(alice, bob, group, secret=secret, root=root)
    rule.on = True
    return World(rule, alice, bob, group, secret, root, mine, *files)


async def come_back(alice: Person, bob: Person, group: str, *, secret: str, root: str) -> str:
    """Bob leaves, and joins again when history is since one has joined; the id of a message of his
    that quotes what is hidden. None can be sent, so the row is changed."""
    here = f"/conversations/{group}"
    answers = [
        await bob.call("DELETE", f"{here}/participants", json={"userId": "bob"}),
        await alice.call("PATCH", here, json={"history": "since_join"}),
        await alice.post(f"{here}/participants", {"userIds": ["bob"]}),
    ]
    assert [answer.status for answer in answers] == [200, 200, 200]
    await alice.send(group, "in a thread", threadRootMessageId=root)
    await alice.send(group, "quoting again", replyToMessageId=secret)
    mine = (await bob.send(group, "mine again"))["id"]
    quoting = {"$set": {"replyToMessageId": secret}}
    await bob.chat._context.database.messages.update_one({"_id": mine}, quoting)
    return str(mine)


Way = Callable[[World], Awaitable[tuple[int, str]]]


def over_http(method: str, path: str, **given: Any) -> Way:
    """What an answer says, as text; names of the world stand in braces."""

    async def go(world: World) -> tuple[int, str]:
        names = {"group": world.group, "secret": world.secret, "root": world.root}
        names |= {f"mine{n}": message_id for n, message_id in enumerate(world.mine)}

        def filled(value: Any) -> Any:
            return value.format(**names) if isinstance(value, str) else value

        body = {key: filled(value) for key, value in given.items()}
        answer = await world.bob.call(
            method, filled(path), **({"json": body} if given or method == "POST" else {})
        )
        return answer.status, json.dumps(answer.json)

    return go


def in_process(method: str, *arguments: str | int) -> Way:
    async def go(world: World) -> tuple[int, str]:
        named = {"group": world.group, "secret": world.secret}
        given = [
            named.get(argument, argument) if isinstance(argument, str) else argument
            for argument in arguments
        ]
        try:
            return 200, repr(await getattr(world.bob.chat.api, method)("bob", *given))
        except ChatError as error:
            return error.status, repr(error)

    return go


async def get_file(world: World) -> tuple[int, str]:
    found = await fetch(world.bob, f"/attachments/{world.file}")
    return found.status, found.body.decode()


WAYS: dict[str, tuple[Way, int, int]] = {
    # What it is, and what is answered where the conversation, or the message, is refused. Where the
    # message is hidden, the answer is that to the message's refusal, with 404 in place of 403.
    "list": (over_http("GET", "/conversations"), 200, 200),
    "get": (over_http("GET", "/conversations/{group}"), 403, 200),
    "page": (over_http("GET", "/conversations/{group}/messages"), 403, 200),
    "one": (over_http("GET", "/conversations/{group}/messages/{secret}"), 403, 403),
    "quoting": (over_http("GET", "/conversations/{group}/messages/{mine0}"), 403, 200),
    "around": (over_http("GET", "/conversations/{group}/messages?around={mine0}"), 403, 200),
    "after": (over_http("GET", "/conversations/{group}/messages?after={mine0}"), 403, 200),
    "last messages": (over_http("GET", "/conversations?include=lastMessage,unread"), 200, 200),
    "mentions": (over_http("GET", "/mentions"), 200, 200),
    "threads": (over_http("GET", "/threads"), 200, 200),
    "pins": (over_http("GET", "/conversations/{group}/pins"), 403, 200),
    "thread": (over_http("GET", "/conversations/{group}/threads/{root}/messages"), 403, 200),
    "thread around": (
        over_http("GET", "/conversations/{group}/threads/{root}/messages?around={mine0}"),
        403,
        200,
    ),
    "search": (over_http("GET", f"/search/messages?q={CANARY}"), 200, 200),
    "search quoting": (over_http("GET", "/search/messages?q=mine"), 200, 200),
    "search here": (
        over_http("GET", f"/search/messages?q={CANARY}&conversationId={{group}}"),
        403,
        200,
    ),
    "search while typing": (
        over_http("GET", f"/search/messages?q={CANARY[:-1]}&prefix=true"),
        200,
        200,
    ),
    "search by sender": (over_http("GET", "/search/messages?senderId=alice"), 200, 200),
    "search by time": (over_http("GET", "/search/messages?since=2000-01-01T00:00:00Z"), 200, 200),
    "search by filter here": (
        over_http("GET", "/search/messages?senderId=alice&conversationId={group}"),
        403,
        200,
    ),
    "search of mentions": (over_http("GET", "/search/messages?mentions=me"), 200, 200),
    "search of files": (over_http("GET", "/search/messages?hasAttachments=true"), 200, 200),
    "react": (over_http("POST", "/messages/{secret}/reactions", emoji="+"), 403, 403),
    "unreact": (over_http("DELETE", "/messages/{secret}/reactions", emoji="+"), 403, 403),
    "react to a quote": (over_http("POST", "/messages/{mine0}/reactions", emoji="+"), 403, 200),
    "reply": (
        over_http("POST", "/conversations/{group}/messages", body="x", replyToMessageId="{secret}"),
        403,
        403,
    ),
    "repeat": (
        over_http(
            "POST",
            "/conversations/{group}/messages",
            body="mine 1",
            replyToMessageId="{secret}",
            clientMessageId="k1",
        ),
        200,
        200,
    ),
    "edit": (over_http("PATCH", "/messages/{mine0}", body="edited"), 403, 200),
    "delete": (over_http("DELETE", "/messages/{mine2}"), 200, 200),
    "forward": (
        over_http("POST", "/messages/{secret}/forward", conversationId="{group}"),
        403,
        403,
    ),
    "file": (get_file, 404, 404),
    "report it": (
        over_http(
            "POST", "/moderation/reports", targetType="message", targetId="{secret}", reason="x"
        ),
        403,
        403,
    ),
    "list in process": (in_process("list_conversations"), 200, 200),
    "page in process": (in_process("list_messages", "group"), 403, 200),
    "search in process": (in_process("search_messages", CANARY), 200, 200),
    "missed in process": (in_process("list_messages_after", "group", 0), 403, 200),
    "react in process": (in_process("add_reaction", "secret", "+"), 403, 403),
    "forward in process": (in_process("forward_message", "secret", "group"), 403, 403),
}


@pytest.mark.parametrize("kind", [*KINDS, HISTORY, ASKED_HISTORY])
async def test_what_is_refused_stands_in_no_answer(serve: MakePeople, kind: str) -> None:
    rule = Rule(kind)
    people = await serve(rule.hooks, plugins=[Attachments()], **EVERY_WAY)
    world = await make_world(people, rule)
    for name, (way, if_conversation, if_message) in WAYS.items():
        status, told = await way(world)
        if_hidden = 404 if if_message == 403 else if_message
        expected = {
            "conversation": if_conversation,
            "message": if_message,
            "nothing": None,
        }.get(kind, if_hidden)
        if expected is None:
            assert status in (200, 201), (name, status, told)
            assert CANARY in told, name
        else:
            assert status == expected, (name, status, told)
            assert CANARY not in told, (name, told)
    refusal = (404, "MESSAGE_NOT_FOUND") if rule.hides else (403, "FORBIDDEN_READ")
    named = {"messageId": world.secret}
    for answer in (
        await world.bob.post(f"{world.here}/read", named),
        await world.bob.post(f"{world.here}/unread", named),
        await world.bob.post(f"{world.here}/threads/{world.secret}/follow"),
        await world.bob.post(f"{world.here}/threads/{world.secret}/read", named),
        await world.bob.post(
            f"{world.here}/messages", {"body": "x", "threadRootMessageId": world.secret}
        ),
    ):
        if kind == "nothing":
            assert answer.status in (200, 201), answer
        else:
            assert (answer.status, answer.code) == refusal


async def test_who_was_there_sees_all_of_it(serve: MakePeople) -> None:
    """Beside who has joined later."""
    rule = Rule(HISTORY)
    world = await make_world(await serve(**EVERY_WAY), rule)
    for path in ("/messages", f"/messages/{world.secret}", "/pins", f"/messages/{world.mine[0]}"):
        answer = await world.alice.get(world.here + path)
        assert answer.status == 200
        assert CANARY in json.dumps(answer.json), path


async def test_a_stranger_gets_what_strangers_got(serve: MakePeople) -> None:
    """Permission to write is asked first."""
    rule = Rule("conversation")
    person = await serve(rule.hooks, **EVERY_WAY)
    world = await make_world(person, rule)
    answer = await person("eve").post(f"/messages/{world.secret}/reactions", {"emoji": "+"})
    assert answer.code == "FORBIDDEN_WRITE"
    answer = await person("eve").post(
        f"{world.here}/messages", {"body": "x", "replyToMessageId": world.secret}
    )
    assert answer.code == "FORBIDDEN_WRITE"


async def test_pages_are_filled_up_and_cursors_lead_on(serve: MakePeople) -> None:
    rule = Rule("message", on=True)
    person = await serve(rule.hooks)
    alice, bob = person("alice"), person("bob")
    group = await alice.group("bob")
    for n in range(30):
        await alice.send(group, f"{CANARY} {n}" if n % 3 else f"seen {n}")
    found: list[list[str]] = []
    cursor: str | None = ""
    while cursor is not None:
        more = f"&cursor={cursor}" if cursor else ""
        page = (await bob.get(f"/conversations/{group}/messages?limit=4{more}")).json
        found.append([message["body"] for message in page["messages"]])
        cursor = page["nextCursor"]
    assert [len(bodies) for bodies in found] == [4, 4, 2]
    assert [*chain(*found)] == [f"seen {n}" for n in range(27, -1, -3)]
    after = await bob.chat.api.list_messages_after("bob", group, 4, limit=3)
    assert [message.body for message in after] == ["seen 6", "seen 9", "seen 12"]


async def test_the_list_is_filled_up_with_what_may_be_read(serve: MakePeople) -> None:
    rule = Rule("conversation", on=True)
    person = await serve(rule.hooks)
    alice, bob = person("alice"), person("bob")
    seen = []
    for n in range(12):
        name = f"seen {n}" if n % 4 == 0 else CANARY
        group = await alice.group("bob", name=name)
        if name != CANARY:
            seen.append(group)
    found: list[list[str]] = []
    cursor: str | None = ""
    while cursor is not None:
        more = f"&cursor={cursor}" if cursor else ""
        page = (await bob.get(f"/conversations?limit=2{more}")).json
        found.append([conversation["id"] for conversation in page["conversations"]])
        cursor = page["nextCursor"]
    assert found == [seen[:0:-1], seen[:1]]


async def test_a_page_of_which_too_much_is_refused_says_where_to_go_on(
    serve: MakePeople, monkeypatch: pytest.MonkeyPatch
) -> None:
    rule = Rule("message", on=True)
    person = await serve(rule.hooks)
    alice, bob = person("alice"), person("bob")
    group = await alice.group("bob")
    await alice.send(group, "seen")
    for n in range(20):
        await alice.send(group, f"{CANARY} {n}")
    monkeypatch.setattr("chat_aio.actions.reading.MOST_AT_A_TIME", 4)
    monkeypatch.setattr("chat_aio.actions.reading.MOST_LOOKED_AT", 8)
    pages: list[list[str]] = []
    cursor: str | None = ""
    while cursor is not None:
        more = f"&cursor={cursor}" if cursor else ""
        page = (await bob.get(f"/conversations/{group}/messages?limit=1{more}")).json
        pages.append([message["body"] for message in page["messages"]])
        cursor = page["nextCursor"]
    assert len(pages) > 1
    assert [*chain(*pages)] == ["seen"]


async def test_by_default_nothing_is_asked_about_messages(serve: MakePeople) -> None:
    rule = Rule("conversation", on=True)
    world = await make_world(await serve(rule.hooks, **EVERY_WAY), Rule("message"))
    await world.bob.get(f"{world.here}/messages")
    await world.bob.get(f"{world.here}/messages/{world.secret}")
    await world.bob.get("/search/messages?q=hush")
    assert rule.asked
    assert all(context.message is None for context in rule.asked)


async def bytes_until(tab: Tab, mark: str) -> str:
    """Everything that the stream says, up to an event with this mark."""
    said = b""
    async with asyncio.timeout(PATIENCE):
        while mark.encode() not in said:
            part = await tab.response.content.readany()
            assert part, said
            said += part
    return said.decode()


async def talk(alice: Person, group: str, other: str) -> None:
    """Everything that a stream can tell of a message, and quotes of it."""
    secret = (await alice.send(group, f"{CANARY} one"))["id"]
    await alice.react(secret, "+")
    await alice.edit(secret, f"{CANARY} two")
    reply = (await alice.send(group, "a quote", replyToMessageId=secret))["id"]
    await alice.react(reply, "+")
    await alice.edit(reply, "a quote, edited")
    gone = (await alice.send(group, "soon gone", replyToMessageId=secret))["id"]
    await alice.delete(gone)
    await alice.send(group, f"{CANARY} three")
    await alice.send(other, "the end")


@pytest.mark.parametrize("kind", KINDS)
async def test_what_is_refused_is_in_no_byte_of_a_stream(serve: MakePeople, kind: str) -> None:
    rule = Rule(kind, on=True)
    person = await serve(rule.hooks)
    alice, bob = person("alice"), person("bob")
    other = await alice.group("bob", name="other")
    group = await alice.group("bob", name=CANARY if kind != "message" else "tea")
    await alice.send(other, "position")
    async with bob.tab() as tab:
        await talk(alice, group, other)
        live = await bytes_until(tab, "the end")
    async with bob.tab(f"{other}:1") as tab:
        buffer = await bytes_until(tab, "the end")
    elsewhere = await serve(rule.hooks, replay_buffer_seconds=0)
    async with elsewhere("bob").tab(f"{other}:1") as tab:
        stored = await bytes_until(tab, "the end")
    for said in (live, buffer, stored):
        assert (CANARY in said) == (kind == "nothing"), said
        assert ("a quote, edited" in said) == (kind != "conversation")
    if kind == "message":
        assert '"deleted":true' in live.replace(" ", "")


@pytest.mark.parametrize("kind", KINDS)
async def test_what_is_refused_is_in_no_byte_of_a_stream_that_follows(
    serve: MakePeople, kind: str
) -> None:
    rule = Rule(kind, on=True)
    person = await serve(rule.hooks, supervisors=True)
    alice, bob = person("alice"), person("bob")
    other = await alice.group("bob", name="other")
    group = await alice.group("bob", name=CANARY if kind != "message" else "tea")
    if kind == "conversation":
        refused = await bob.follow(f"{other},{group}")
        assert (refused.code, CANARY in str(refused)) == ("FORBIDDEN_READ", False)
        return
    async with bob.tab(following=[other, group]) as tab:
        await talk(alice, group, other)
        live = await bytes_until(tab, "the end")
    assert (CANARY in live) == (kind == "nothing"), live
    assert "a quote, edited" in live
    assert "id: " not in live


async def test_a_host_that_thinks_holds_up_one_stream_and_keeps_its_order(
    serve: MakePeople,
) -> None:
    """Carol hears at once while the host thinks about what bob may see; bob then hears in order."""
    may_answer, thinking = asyncio.Event(), asyncio.Event()

    async def rule(asked: PermissionContext) -> bool:
        if asked.user_id == "bob" and asked.message:
            thinking.set()
            await asyncio.wait_for(may_answer.wait(), PATIENCE)
            return asked.message.seq != 3
        return True

    person = await serve(
        Hooks(can_read=rule, can_read_messages=True), hook_timeout_seconds=PATIENCE
    )
    alice = person("alice")
    group = await alice.group("bob", "carol")
    async with person("bob").tab() as his, person("carol").tab() as hers:
        for n in range(1, 6):
            await alice.send(group, f"{n}")
        assert await hers.bodies(5) == ["1", "2", "3", "4", "5"]
        await asyncio.wait_for(thinking.wait(), PATIENCE)
        await alice.react((await alice.send(group, "6"))["id"], "+")
        await hers.until(lambda frame: frame.event == "reaction.added")
        may_answer.set()
        assert await his.bodies(5) == ["1", "2", "4", "5", "6"]
        assert (await his.event("reaction.added"))["emoji"] == "+"
