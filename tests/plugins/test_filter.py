"""Filters: each rule, each action, both doors, a classifier that fails, and a host's own plugin."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest.mock import patch

import pytest

from chat_aio import Changed, Chat, ChatError, Hooks
from chat_aio.actions import filed_reports
from chat_aio.errors import InternalError, MessageHeld, MessageRejected, StorageUnavailable
from chat_aio.hooks import BeforeMessageSend
from chat_aio.plugins import (
    AttachmentRule,
    BlockedWords,
    Checked,
    Filter,
    Hold,
    LinkRule,
    Plugin,
    Refuse,
    RepeatLimit,
    Report,
    Rule,
    Verdict,
)
from chat_aio.plugins.folding import FoldedText
from chat_aio.store import reports
from tests.conftest import Database, MakePeople
from tests.support.moderating import is_mod
from tests.support.people import PATIENCE, Answer, Person
from tests.support.processes import until

MODERATED = Hooks(can_moderate=is_mod)


async def outcome(call: Awaitable[Any]) -> str | None:
    """The code of the error, None for success."""
    try:
        await call
    except ChatError as error:
        return error.code
    return None


async def say(person: Person, conversation_id: str, body: str, **given: Any) -> Answer:
    return await person.post(f"/conversations/{conversation_id}/messages", {"body": body, **given})


async def test_a_refused_message_is_refused_through_both_doors(
    serve: MakePeople, database: Database
) -> None:
    person = await serve(plugins=[Filter([BlockedWords(["bad"], reason="no such words")])])
    alice = person("alice")
    group, elsewhere = await alice.group("bob"), await alice.group()
    answer = await say(alice, group, "so b.a.d")
    assert (answer.status, answer.code) == (422, "MESSAGE_REJECTED")
    assert answer.json["error"]["message"] == "no such words"
    with pytest.raises(MessageRejected, match="no such words"):
        await alice.chat.api.send_message("alice", group, "so b4d")
    sent = await alice.send(group, "fine")
    answer = await alice.call("PATCH", f"/messages/{sent['id']}", json={"body": "now bad"})
    assert (answer.status, answer.code) == (422, "MESSAGE_REJECTED")
    edit = alice.chat.api.edit_message("alice", sent["id"], "now bad")
    assert await outcome(edit) == "MESSAGE_REJECTED"
    await database["messages"].update_one({"_id": sent["id"]}, {"$set": {"body": "bad"}})
    forward = {"conversationId": elsewhere}
    answer = await alice.post(f"/messages/{sent['id']}/forward", forward)
    assert (answer.status, answer.code) == (422, "MESSAGE_REJECTED")
    assert await database["messages"].count_documents({}) == 1
    assert await database["held_messages"].count_documents({}) == 0


async def test_plugins_see_what_would_be_stored(serve: MakePeople) -> None:
    """They are asked after the host's hook, and what they do to the message does not reach it."""
    hooks = Hooks(before_message_send=lambda asked: Changed(body=asked.body.replace("x", "bad")))

    class Meddles(Plugin):
        async def check_message(self, message: BeforeMessageSend) -> Verdict | None:
            message.metadata["mine"] = True
            return None

    person = await serve(hooks, plugins=[Meddles(), Filter([BlockedWords(["bad"])])])
    alice = person("alice")
    group = await alice.group()
    assert (await say(alice, group, "x")).code == "MESSAGE_REJECTED"
    assert (await alice.send(group, "y", metadata={"a": 1}))["metadata"] == {"a": 1}


async def test_only_sends_are_held(serve: MakePeople, database: Database) -> None:
    person = await serve(MODERATED, plugins=[Filter([BlockedWords(["bad"], action="hold")])])
    alice, bob = person("alice"), person("bob")
    group = await alice.group("bob")
    await alice.told_all()
    async with bob.tab() as tab:
        answer = await say(alice, group, "bad", clientMessageId="key")
        assert (answer.status, answer.code) == (403, "MESSAGE_HELD")
        again = await say(alice, group, "bad", clientMessageId="key")
        assert again.code == "MESSAGE_HELD"
        other = await say(alice, group, "bad too", clientMessageId="key")
        assert (other.status, other.code) == (409, "MESSAGE_CONFLICT")
        with pytest.raises(MessageHeld):
            await alice.chat.api.send_message("alice", group, "bad")
        sent = await alice.send(group, "fine")
        assert await tab.bodies(1) == ["fine"]
    answer = await alice.call("PATCH", f"/messages/{sent['id']}", json={"body": "bad"})
    assert answer.code == "MESSAGE_REJECTED"
    await database["messages"].update_one({"_id": sent["id"]}, {"$set": {"body": "bad"}})
    answer = await alice.post(f"/messages/{sent['id']}/forward", {"conversationId": group})
    assert answer.code == "MESSAGE_REJECTED"
    assert await database["messages"].count_documents({}) == 1
    assert await database["held_messages"].count_documents({}) == 2


async def test_a_reported_message_goes_out_with_its_report(serve: MakePeople) -> None:
    rule = BlockedWords(["bad"], action="report", reason="a listed word")
    person = await serve(MODERATED, plugins=[Filter([rule], reporter_id="the filter")])
    alice, mod = person("alice"), person("mod")
    group = await alice.group()
    sent = await alice.send(group, "bad", clientMessageId="key")
    again = await say(alice, group, "bad", clientMessageId="key")
    assert (again.status, again.json["message"]) == (200, sent)
    fine = await alice.send(group, "fine")
    await alice.edit(fine["id"], "bad now")
    await alice.edit(fine["id"], "bad again")
    found = (await mod.get("/moderation/reports")).json["reports"]
    assert [(report["targetId"], report["evidence"]["body"]) for report in found] == [
        (fine["id"], "bad now"),
        (sent["id"], "bad"),
    ]
    of_sent = found[1]
    assert (of_sent["reporterUserId"], of_sent["reason"]) == ("the filter", "a listed word")
    made_by_alice = await alice.post(
        "/moderation/reports", {"targetType": "message", "targetId": sent["id"], "reason": "x"}
    )
    assert made_by_alice.json["report"]["evidence"] == of_sent["evidence"]


async def test_moderators_hear_once_of_what_a_plugin_reports(serve: MakePeople) -> None:
    """At once, and also when the report was written only by a later try."""
    rule = BlockedWords(["bad"], action="report")
    people = await serve(MODERATED, plugins=[Filter([rule])], moderation_tools=True)
    alice, mod = people("alice"), people("mod")
    group = await alice.group()
    put = reports.put

    async def says_too_late_that_it_is_written(*given: Any) -> None:
        await put(*given)
        failing.stop()
        raise StorageUnavailable

    failing = patch.object(reports, "put", says_too_late_that_it_is_written)
    async with mod.tab() as tab:
        sent = await alice.send(group, "bad", clientMessageId="key")
        first = (await tab.event("report.created"))["report"]
        assert (first["targetId"], first["evidence"]["body"]) == (sent["id"], "bad")
        await say(alice, group, "bad", clientMessageId="key")
        await alice.edit(sent["id"], "bad again")  # Its report is still open.
        with patch.object(filed_reports, "AGAIN_SECONDS", (0.0, 0.0)):
            failing.start()
            late = await alice.send(group, "bad, late")
            second = (await tab.event("report.created"))["report"]
        assert second["targetId"] == late["id"]
        fine = await alice.send(group, "fine")
        await alice.edit(fine["id"], "bad by now")
        third = (await tab.event("report.created"))["report"]
        assert third["targetId"] == fine["id"]


async def test_a_failing_report_never_fails_the_send_and_is_tried_again(
    serve: MakePeople, database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    person = await serve(MODERATED, plugins=[Filter([BlockedWords(["bad"], action="report")])])
    alice = person("alice")
    group = await alice.group()
    tries: list[str] = []
    put = reports.put

    async def fails_twice(*given: Any) -> Any:
        tries.append("")
        if len(tries) < 3:
            raise RuntimeError("a bug")
        return await put(*given)

    with (
        patch.object(filed_reports, "AGAIN_SECONDS", (0.0, 0.0, 0.0)),
        patch.object(reports, "put", fails_twice),
    ):
        sent = await alice.send(group, "bad")
        async with asyncio.timeout(PATIENCE):
            while not await database["reports"].count_documents({}):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
    assert f"the report of message {sent['id']} could not be written" in caplog.text
    assert len(tries) == 3


async def test_a_report_that_is_lost_is_named(
    serve: MakePeople, caplog: pytest.LogCaptureFixture
) -> None:
    person = await serve(MODERATED, plugins=[Filter([BlockedWords(["bad"], action="report")])])
    alice = person("alice")
    group = await alice.group()

    async def fails(*_: Any) -> None:
        raise RuntimeError("a bug")

    with patch.object(reports, "put", fails):
        sent = await alice.send(group, "bad")
        await alice.chat.close()
    assert f"the report of message {sent['id']} is lost" in caplog.text


async def test_rules_of_some_conversations(serve: MakePeople) -> None:
    chosen: set[str] = set()
    rules = [
        BlockedWords(["one"], conversations=chosen),
        BlockedWords(["two"], conversations=lambda conversation: conversation.type == "direct"),
    ]
    person = await serve(plugins=[Filter(rules)])
    alice = person("alice")
    group, direct = await alice.group("bob"), await alice.direct("bob")
    chosen.add(group)
    said = {
        (place, body): (await say(alice, place, body)).code
        for place in (group, direct)
        for body in ("one", "two")
    }
    assert {place for place, code in said.items() if code} == {(group, "one"), (direct, "two")}


def checked(body: str, at: datetime | None = None, **given: Any) -> Checked:
    """A message that a rule looks at."""
    message = BeforeMessageSend(
        user_id=given.pop("user_id", "alice"),
        kind=given.pop("kind", "send"),
        conversation=given.pop("conversation", None),
        body=body,
        role="user",
        metadata=given.pop("metadata", {}),
        mentions=(),
    )
    return Checked(message, FoldedText(body), at or datetime(2026, 1, 1, tzinfo=UTC))


@pytest.mark.parametrize(
    ("rule", "broken", "kept"),
    [
        (
            LinkRule(),
            [
                "see https://a.example",
                "HTTP://A.EXAMPLE",
                "www.a.example",
                "a.example/x",
                "ｗｗｗ.a.b",
            ],
            ["nothing", "end.Start", "a.example", "me@a.example", "1.5/2x", "www", "and/or"],
        ),
        (
            LinkRule(allowed_hosts=["example.org", "bücher.example"]),
            [
                *("https://example.com", "https://notexample.org", "https://example.org.evil.test"),
                *(
                    "https://example.org@evil.test",
                    "https://evil.test\\@example.org/x",
                    "https://[",
                ),
                "https://ex\u200bample.com",
            ],
            [
                *(
                    "https://example.org",
                    "https://EXAMPLE.org:8080/x?y#z",
                    "https://a.example.org.",
                ),
                *("www.example.org", "(https://example.org)", "https://xn--bcher-kva.example/"),
                "https://BÜCHER.example",
            ],
        ),
        (
            LinkRule(denied_hosts=["evil.test"]),
            [
                *("https://evil.test", "[x](https://evil.test)", "https://a.b.evil.test/x"),
                *(
                    "https://evil。test",
                    "https://me:pw@evil.test",
                    "evil.test/x",
                    "//www.evil.test",
                ),
            ],
            ["https://devil.test", "https://evil.test.example", "evil.test"],
        ),
        (
            LinkRule(max_count=1),
            ["https://a.example https://b.example", "https://a.example https://a.example"],
            ["https://a.example", "nothing"],
        ),
    ],
)
def test_links(rule: Rule, broken: list[str], kept: list[str]) -> None:
    assert {text: rule.is_broken_by(checked(text)) for text in (*broken, *kept)} == {
        **dict.fromkeys(broken, True),
        **dict.fromkeys(kept, False),
    }


@pytest.mark.parametrize(
    ("rule", "broken", "kept"),
    [
        (AttachmentRule(), [["x"], {}, "x"], [None, []]),
        (AttachmentRule(max_count=1), [[1, 2]], [None, [], [1], "x"]),
        (
            AttachmentRule(allowed_kinds=["image/*", "text/plain"]),
            [
                ["x"],
                [{"contentType": "Image/PNG"}, {}],
                [{"contentType": 7}],
                [{"contentType": "text/html"}],
            ],
            [None, [{"contentType": "Image/PNG"}, {"contentType": " text/plain "}]],
        ),
        (
            AttachmentRule(denied_kinds=["image/svg*"]),
            [[{"contentType": "image/svg+xml"}]],
            [[{"contentType": "image/png"}], [{}]],
        ),
        (
            AttachmentRule(key="files", kind_key="kind", allowed_kinds=["a"]),
            [],
            [["only in another key"]],
        ),
    ],
)
def test_attachments(rule: Rule, broken: list[Any], kept: list[Any]) -> None:
    for expected, found in ((True, broken), (False, kept)):
        for attachments in found:
            metadata = {} if attachments is None else {"attachments": attachments}
            assert rule.is_broken_by(checked("x", metadata=metadata)) is expected, attachments


def test_repeats() -> None:
    rule = RepeatLimit(max_count=2, within_seconds=60)
    start = datetime(2026, 1, 1, tzinfo=UTC)

    def said(body: str, seconds: float, **given: Any) -> bool:
        return rule.is_broken_by(checked(body, start + timedelta(seconds=seconds), **given))

    assert [said("Buy now", value) for value in (0, 1)] == [False, False]
    assert said("buy  NÓW", 2)
    assert said("buy now", 59, kind="forward")
    assert not said("buy now", 3, kind="edit")
    assert not said("buy now", 4, user_id="bob")
    assert not said("buy later", 5)
    # What was refused did not count: the first one is a minute old.
    assert [said("buy now", value) for value in (60, 60.5, 61)] == [False, True, False]


def test_repeats_are_bounded() -> None:
    rule = RepeatLimit(max_count=1)
    with patch("chat_aio.plugins.rules.MOST_REMEMBERED", 3):
        assert [rule.is_broken_by(checked(text)) for text in "abcd"] == [False] * 4
        assert [rule.is_broken_by(checked(text)) for text in "dcb"] == [True] * 3
        assert not rule.is_broken_by(checked("a"))


@pytest.mark.parametrize(
    "make",
    [
        lambda: BlockedWords("bad"),
        lambda: BlockedWords(["bad"], action="kill"),  # type: ignore[arg-type]
        lambda: BlockedWords(["bad"], conversations="one"),
        lambda: LinkRule(allowed_hosts="a.example"),
        lambda: LinkRule(denied_hosts=["https://a.example"]),
        lambda: LinkRule(denied_hosts=["a.example/x"]),
        lambda: AttachmentRule(allowed_kinds="image/*"),
        lambda: RepeatLimit(max_count=0),
        lambda: LinkRule(max_count=-1),
        lambda: AttachmentRule(max_count=-1),
        lambda: Filter(on_failure="half"),  # type: ignore[arg-type]
        lambda: Filter(classifier_timeout=0),
    ],
)
def test_what_cannot_be_a_rule(make: Callable[[], object]) -> None:
    with pytest.raises(ValueError):
        make()


async def test_the_strictest_verdict_counts(serve: MakePeople, database: Database) -> None:
    asked: list[str] = []

    async def classify(message: BeforeMessageSend) -> Verdict | None:
        asked.append(message.body)
        return Refuse("the classifier") if "three" in message.body else None

    rules = [
        BlockedWords(["one"], action="report"),
        BlockedWords(["two"], action="hold"),
        BlockedWords(["no"]),
    ]
    person = await serve(MODERATED, plugins=[Filter(rules, classifier=classify)])
    alice = person("alice")
    group = await alice.group()
    bodies = ("one", "one two", "two one three", "no", "fine")
    codes = [(await say(alice, group, body)).code for body in bodies]
    assert codes == [None, "MESSAGE_HELD", "MESSAGE_REJECTED", "MESSAGE_REJECTED", None]
    assert asked == ["one", "one two", "two one three", "fine"]
    assert await database["reports"].count_documents({}) == 1


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize(("on_failure", "code"), [("open", None), ("closed", "MESSAGE_REJECTED")])
@pytest.mark.parametrize("way", ["raises", "late", "nonsense"])
async def test_a_classifier_that_fails(
    serve: MakePeople, caplog: pytest.LogCaptureFixture, on_failure: Any, code: Any, way: str
) -> None:
    """Five failures open the breaker; then one call in 30 seconds is tried, until one succeeds."""
    clock, calls, works = Clock(), [""] * 0, False
    may_end, ended = asyncio.Event(), [""] * 0

    async def classify(message: BeforeMessageSend) -> Any:
        calls.append(message.body)
        if works:
            return Refuse("as it says") if message.body == "bad" else None
        if way == "raises":
            raise RuntimeError("a bug in the classifier")
        if way == "late":
            await asyncio.wait_for(may_end.wait(), PATIENCE)
            ended.append(message.body)
        return "bad"

    plugin = Filter(classifier=classify, classifier_timeout=0.2, on_failure=on_failure, clock=clock)
    person = await serve(plugins=[plugin])
    alice = person("alice")
    group = await alice.group()
    codes = [(await say(alice, group, f"{number}")).code for number in range(7)]
    assert codes == [code] * 7
    assert calls == ["0", "1", "2", "3", "4"]
    assert "the classifier of messages failed" in caplog.text
    clock.now = 29.9
    assert (await say(alice, group, "7")).code == code
    clock.now = 30
    assert [(await say(alice, group, body)).code for body in ("8", "9")] == [code] * 2
    assert calls[5:] == ["8"]
    works, clock.now = True, 60
    codes = [(await say(alice, group, body)).code for body in ("10", "bad", "11")]
    assert codes == [None, "MESSAGE_REJECTED", None]
    assert calls[6:] == ["10", "bad", "11"]
    may_end.set()
    # It was never cancelled.
    await until(lambda: len(ended) == (6 if way == "late" else 0))


async def test_a_classifier_must_be_quicker_than_the_chat(database: Database) -> None:
    async def classify(_: BeforeMessageSend) -> None:
        return None

    chat = Chat(database, plugins=[Filter(classifier=classify, classifier_timeout=5)])
    with pytest.raises(ValueError, match="hook_timeout_seconds"):
        await chat.open()


class Own(Plugin):
    """A host's own plugin on the seam."""

    def __init__(self, answer: Callable[[BeforeMessageSend], Any]) -> None:
        self._answer = answer

    async def check_message(self, message: BeforeMessageSend) -> Verdict | None:
        answer: Verdict | None = self._answer(message)
        return answer


async def test_a_plugin_of_the_hosts_judges(serve: MakePeople, database: Database) -> None:
    """A Filter without rules has the routes for what it holds."""
    verdicts = {"1": Refuse("r"), "2": Hold("h"), "3": Report("p", "own"), "4": None}
    person = await serve(MODERATED, plugins=[Own(lambda asked: verdicts[asked.body]), Filter()])
    alice = person("alice")
    group = await alice.group()
    codes = [(await say(alice, group, verdict)).code for verdict in verdicts]
    assert codes == ["MESSAGE_REJECTED", "MESSAGE_HELD", None, None]
    held = (await person("mod").get("/moderation/held")).json["heldMessages"]
    assert [(message["body"], message["reason"]) for message in held] == [("2", "h")]
    report = await database["reports"].find_one({})
    assert report is not None
    assert (report["reporterUserId"], report["reason"]) == ("own", "p")


async def test_a_plugin_that_fails_lets_nothing_pass(
    serve: MakePeople, database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    def answer(message: BeforeMessageSend) -> Any:
        if message.body == "raise":
            raise RuntimeError("a bug in the plugin")
        return "no verdict" if message.body == "odd" else None

    person = await serve(plugins=[Own(answer)])
    alice = person("alice")
    group = await alice.group()
    assert [(await say(alice, group, body)).status for body in ("raise", "odd", "x")] == [
        *(500, 500, 201)
    ]
    assert await outcome(alice.chat.api.send_message("alice", group, "odd")) == InternalError.code
    assert "a bug in the plugin" in caplog.text
    assert await database["messages"].count_documents({}) == 1


async def test_rules_of_the_hosts(serve: MakePeople) -> None:
    class Shouting(Rule):
        usual_reason = "Do not shout."

        def is_broken_by(self, checked: Checked) -> bool:
            return checked.message.body.isupper()

    person = await serve(plugins=[Filter([Shouting()])])
    alice = person("alice")
    group = await alice.group()
    answer = await say(alice, group, "HEY")
    assert answer.json["error"]["message"] == "Do not shout."
    assert (await say(alice, group, "hey")).status == 201


async def test_a_long_message_is_checked_as_a_whole(serve: MakePeople) -> None:
    person = await serve(plugins=[Filter([BlockedWords(["bad"])])])
    alice = person("alice")
    group = await alice.group()
    assert (await say(alice, group, "word " * 3_000 + "bad")).code == "MESSAGE_REJECTED"
    assert (await say(alice, group, "word " * 3_000 + "good")).status == 201


def test_a_rule_may_be_copied() -> None:
    """With its list, and not with what another one has counted."""
    assert replace(BlockedWords(["bad"]), reason="x") == BlockedWords(["bad"], reason="x")
