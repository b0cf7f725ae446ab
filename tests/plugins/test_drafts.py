"""Drafts: readers see a message while it is written, and at its end one message, whatever fails."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any
from unittest.mock import patch

import pytest

from chat_aio import Chat, Hooks, Quotas
from chat_aio.client import ChatClient
from chat_aio.drafting import DraftWriter
from chat_aio.errors import (
    ForbiddenWrite,
    MessageHeld,
    MessageRejected,
    SlowMode,
    StorageUnavailable,
    UserBanned,
)
from chat_aio.plugins import BlockedWords, Drafts, Filter
from chat_aio.plugins.drafts.outbox import Outbox
from chat_aio.plugins.drafts.rows import Rows
from chat_aio.schema.drafts import Drafted
from tests.conftest import Database, MakePeople
from tests.support.moderating import ban, is_mod
from tests.support.people import PATIENCE, Answer, Person, Tab
from tests.support.saboteurs import prove

People = Callable[[str], Person]


@pytest.fixture
def plugin() -> Drafts:
    return Drafts(["robot"], abandoned_seconds=60)


@pytest.fixture
async def people(serve: MakePeople, plugin: Drafts) -> People:
    rules = Filter(
        [BlockedWords(["bad"], action="hold", reason="x"), BlockedWords(["worse"], action="refuse")]
    )
    return await serve(Hooks(can_moderate=is_mod), plugins=[plugin, rules], max_message_length=5000)


async def ask(who: Person, group: str, act: str, **given: Any) -> Answer:
    return await who.post(f"/conversations/{group}/drafts{act}", given)


async def begin(robot: Person, group: str, **given: Any) -> str:
    answer = await ask(robot, group, "", **given)
    assert answer.status == 200, answer
    return str(answer.json["draft"]["id"])


async def append(robot: Person, group: str, draft: str, index: int, text: str) -> Answer:
    return await ask(robot, group, "/append", draftId=draft, index=index, text=text)


async def drafts_in(who: Person, group: str) -> list[dict[str, Any]]:
    answer = await who.get(f"/conversations/{group}/drafts")
    assert answer.status == 200, answer
    found: list[dict[str, Any]] = answer.json["drafts"]
    return found


async def shown_in(tab: Tab, draft: str, until: str) -> str:
    """The text that the events of a draft give, which must be without a gap."""
    text, parts = "", 0
    while until not in text:
        event = await tab.event("draft.updated")
        payload = event["payload"]
        assert payload["draftId"] == draft
        assert payload["first"] == parts
        text, parts = text + payload["text"], payload["last"] + 1
    return text


async def test_it_is_read_while_it_is_written(people: People) -> None:
    ada, robot = people("ada"), people("robot")
    group = await ada.group("robot", "eve")
    asked = await ada.send(group, "tell me")
    async with ada.tab() as tab:
        given = {"replyToMessageId": asked["id"], "askedByUserId": "ada"}
        draft = await begin(robot, group, **given)
        for index, text in enumerate(("Once", " upon", " a time")):
            assert (await append(robot, group, draft, index, text)).json == {"isStopped": False}
        assert await shown_in(tab, draft, "time") == "Once upon a time"
        (seen,) = await drafts_in(people("eve"), group)
        assert (seen["text"], seen["parts"], seen["isStopped"]) == ("Once upon a time", 3, False)
        assert {name: seen[name] for name in given} == given
        done = await ask(robot, group, "/finish", draftId=draft, metadata={"model": "x"})
        told = (await tab.event("message.created"))["message"]
    assert told == done.json["message"]
    assert (told["body"], told["role"]) == ("Once upon a time", "assistant")
    assert (told["clientMessageId"], told["seq"]) == (seen["clientMessageId"], asked["seq"] + 1)
    assert (told["replyToMessageId"], told["metadata"]) == (asked["id"], {"model": "x"})
    assert await drafts_in(ada, group) == []
    again = await ask(robot, group, "/finish", draftId=draft, metadata={"model": "x"})
    assert again.json["message"]["id"] == told["id"]


async def test_who_may_what(people: People) -> None:
    ada, robot, eve = people("ada"), people("robot"), people("eve")
    group = await ada.group("robot", "eve", "bob")
    assert (await ask(ada, group, "")).code == "FORBIDDEN_WRITE"
    draft = await begin(robot, group, askedByUserId="eve")
    for act in ("append", "finish", "cancel"):
        given = {"draftId": draft, "index": 0, "text": "x"}
        refused = "FORBIDDEN_WRITE" if act == "append" else "DRAFT_NOT_FOUND"
        assert (await ask(ada, group, f"/{act}", **given)).code == refused
    assert (await ask(people("bob"), group, "/stop", draftId=draft)).code == "FORBIDDEN_WRITE"
    for who in (people("stranger"), people("mod")):
        assert (await who.get(f"/conversations/{group}/drafts")).code == "FORBIDDEN_READ"
        assert (await ask(who, group, "/stop", draftId=draft)).code == "FORBIDDEN_WRITE"
    elsewhere = await ada.group("robot")
    assert (await append(robot, elsewhere, draft, 0, "x")).code == "DRAFT_NOT_FOUND"
    assert (await ask(robot, elsewhere, "/finish", draftId=draft)).code == "DRAFT_NOT_FOUND"
    assert (await ask(eve, group, "/stop", draftId=draft)).json == {"ok": True}
    assert (await ask(ada, group, "/stop", draftId=draft)).json == {"ok": True}
    assert (await append(robot, group, draft, 0, "x")).json == {"isStopped": True}


async def test_only_its_writer_adds_to_a_draft_and_ends_it(serve: MakePeople) -> None:
    """Another assistant gets the answer for a draft that does not exist."""
    people = await serve(plugins=[Drafts(["robot", "android"], abandoned_seconds=60)])
    robot, android = people("robot"), people("android")
    group = await people("ada").group("robot", "android")
    draft = await begin(robot, group)
    assert (await append(robot, group, draft, 0, "one")).json == {"isStopped": False}
    assert (await append(android, group, draft, 1, "two")).code == "DRAFT_NOT_FOUND"
    for act in ("finish", "cancel"):
        assert (await ask(android, group, f"/{act}", draftId=draft)).code == "DRAFT_NOT_FOUND"
    (kept,) = await drafts_in(android, group)
    assert kept["text"] == "one"
    done = await ask(robot, group, "/finish", draftId=draft)
    assert (done.json["message"]["body"], done.json["message"]["senderId"]) == ("one", "robot")


async def test_who_has_left_writes_no_more(people: People) -> None:
    ada, robot = people("ada"), people("robot")
    group = await ada.group("robot")
    draft = await begin(robot, group)
    await ada.call("DELETE", f"/conversations/{group}/participants", json={"userId": "robot"})
    await ada.told_all()
    assert (await append(robot, group, draft, 0, "x")).code == "FORBIDDEN_WRITE"


async def test_parts_come_in_their_order_once(people: People) -> None:
    ada, robot = people("ada"), people("robot")
    group = await ada.group("robot")
    draft = await begin(robot, group)
    assert (await append(robot, group, draft, 1, "b")).code == "DRAFT_CONFLICT"
    assert (await append(robot, group, draft, 0, "a")).status == 200
    assert (await append(robot, group, draft, 0, "a")).json == {"isStopped": False}
    assert (await append(robot, group, draft, 0, "other")).code == "DRAFT_CONFLICT"
    assert (await append(robot, group, draft, 1, "b")).status == 200
    assert [entry["text"] for entry in await drafts_in(ada, group)] == ["ab"]


async def test_a_part_that_is_added_by_many_is_added_once(people: People) -> None:
    ada, robot = people("ada"), people("robot")
    group = await ada.group("robot")

    async def all_at_once() -> None:
        draft = await begin(robot, group)
        texts = [f"<{n}>" for n in range(20)]
        answers = await asyncio.gather(*(append(robot, group, draft, 0, text) for text in texts))
        assert [answer.status for answer in answers].count(200) == 1
        assert {answer.code for answer in answers} == {None, "DRAFT_CONFLICT"}
        assert (await drafts_in(ada, group))[-1]["text"] in texts

    async def unguarded(self: Rows, place: str, user: str, given: Any, *, most: int) -> Any:
        change = {"$push": {"parts": given.text}, "$inc": {"count": 1, "length": len(given.text)}}
        return await self._rows.find_one_and_update({"_id": given.draft_id}, change)

    await prove(all_at_once, sabotage=patch.object(Rows, "append", unguarded))


async def test_the_longest(people: People) -> None:
    ada, robot = people("ada"), people("robot")
    group = await ada.group("robot")
    draft = await begin(robot, group)
    assert (await append(robot, group, draft, 0, "x" * 4097)).code == "INVALID_INPUT"
    assert (await append(robot, group, draft, 0, "x" * 4000)).status == 200
    assert (await append(robot, group, draft, 1, "x" * 1001)).code == "INVALID_INPUT"
    assert (await append(robot, group, draft, 1, "x" * 1000)).status == 200
    assert (await append(robot, group, draft, 2, "")).status == 200
    done = await ask(robot, group, "/finish", draftId=draft)
    assert len(done.json["message"]["body"]) == 5000


@pytest.mark.parametrize(
    ("text", "code"), [("bad", "MESSAGE_HELD"), ("worse", "MESSAGE_REJECTED"), (" ", None)]
)
async def test_a_message_that_is_refused_ends_the_draft(
    people: People, text: str, code: str | None
) -> None:
    ada, robot = people("ada"), people("robot")
    group = await ada.group("robot")
    draft = await begin(robot, group)
    async with ada.tab() as tab:
        await append(robot, group, draft, 0, text)
        await shown_in(tab, draft, text)
        done = await ask(robot, group, "/finish", draftId=draft)
        assert done.code == (code or "INVALID_INPUT")
        ended = await tab.event("draft.ended")
    assert ended["payload"] == {"draftId": draft, "reason": "cancelled"}
    assert await drafts_in(ada, group) == []


async def test_many_who_finish_it_send_one_message(people: People) -> None:
    ada, robot = people("ada"), people("robot")
    group = await ada.group("robot")
    draft = await begin(robot, group)
    await append(robot, group, draft, 0, "x")
    finishing = (ask(robot, group, "/finish", draftId=draft) for _ in range(20))
    answers = await asyncio.gather(*finishing)
    assert len({answer.json["message"]["id"] for answer in answers}) == 1
    assert len(await ada.listed(f"/conversations/{group}/messages")) == 1


async def test_an_abandoned_one_ends_once(serve: MakePeople, database: Database) -> None:
    """Several processes look for it; its readers are told by one."""
    people = await serve(plugins=[Drafts(["robot"])])
    others = [(await serve(plugins=[Drafts(["robot"])]))("x").chat for _ in range(3)]
    ada, robot = people("ada"), people("robot")
    group = await ada.group("robot")
    draft = await begin(robot, group)
    await begin(robot, group)
    past = {"$set": {"expiresAt": ada.chat._context.clock().replace(year=2020)}}
    # Each process looks every five seconds as well: the reader is there before it can be found.
    async with ada.tab() as tab:
        await database["drafts"].update_one({"_id": draft}, past)
        chats = [*others, ada.chat]
        sweeping = (_drafting(chat).end_abandoned() for chat in chats for _ in range(5))
        await asyncio.gather(*sweeping)
        assert (await append(robot, group, draft, 0, "x")).code == "DRAFT_NOT_FOUND"
        ended = await tab.event("draft.ended")
        assert ended["payload"] == {"draftId": draft, "reason": "abandoned"}
        await ada.send(group, "after it")
        assert (await tab.event("message.created"))["message"]["body"] == "after it"
    assert len(await drafts_in(ada, group)) == 1


def _drafting(chat: Chat) -> Any:
    (plugin,) = chat._context.plugins
    assert isinstance(plugin, Drafts)
    return plugin._drafting


def _drafted(name: str, number: int) -> Drafted:
    return Drafted(
        draft_id=name,
        first=number,
        last=number,
        text=f"{number},",
        reply_to_message_id=None,
        thread_root_message_id=None,
        client_message_id=name,
        asked_by_user_id=None,
    )


async def test_parts_that_come_together_go_out_together() -> None:
    told: list[tuple[str, str, str]] = []
    all_told = asyncio.Event()

    def publish(sender: str, place: str, drafted: Drafted) -> None:
        told.append((place, drafted.draft_id, drafted.text))
        if len(told) == 5:
            all_told.set()

    outbox = Outbox(publish)
    for number in range(100):
        for name in ("a", "b"):
            outbox.put("robot", "here", _drafted(name, number))
        outbox.put("robot", "there", _drafted("c", number))
    assert [part[:2] for part in told] == [("here", "a"), ("there", "c")]
    await asyncio.wait_for(all_told.wait(), 30)
    here = [part[1:] for part in told if part[0] == "here"]
    everything = "".join(f"{number}," for number in range(100))
    assert here == [("a", "0,"), ("b", everything), ("a", everything[2:])]
    outbox.close()


async def test_a_gap_between_parts_is_told_as_one() -> None:
    told: list[Drafted] = []
    outbox = Outbox(lambda *given: told.append(given[2]))
    for number in (0, 1, 3, 4):
        outbox.put("robot", "here", _drafted("a", number))
    async with asyncio.timeout(PATIENCE):
        while len(told) < 2:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    assert [(part.first, part.last, part.text) for part in told] == [
        (0, 0, "0,"),
        (3, 4, "3,4,"),
    ]
    outbox.close()


@pytest.fixture(params=["in process", "over HTTP"])
async def writing(
    request: pytest.FixtureRequest, people: People, plugin: Drafts
) -> AsyncIterator[Callable[..., DraftWriter]]:
    """Begins a draft of the robot, in either way."""
    if request.param == "in process":
        yield lambda *place, **given: plugin.writing("robot", *place, **given)
        return
    base = str(people("").client.make_url("/api/chat"))
    async with ChatClient(base, headers={"X-User": "robot"}) as client:
        yield lambda *place, **given: client.drafts.writing(*place, pause_seconds=0.01, **given)


async def test_a_writer(people: People, writing: Callable[..., DraftWriter]) -> None:
    ada = people("ada")
    group = await ada.group("robot")
    asked = await ada.send(group, "count")
    async with ada.tab() as tab:
        async with writing(group, reply_to_message_id=asked["id"]) as draft:
            for number in range(50):
                await draft.write(f"{number} ")
            await draft.write("x" * 4500)
            draft.mentions = ["ada"]
        frames = await tab.until(lambda frame: frame.event == "message.created")
    message = frames[-1].data["message"]
    assert draft.message is not None
    assert message["id"] == draft.message.id
    assert message["body"] == "".join(f"{number} " for number in range(50)) + "x" * 4500
    assert (message["mentions"], message["replyToMessageId"]) == (["ada"], asked["id"])
    assert message["role"] == "assistant"
    parts = [frame.data["payload"] for frame in frames[:-1] if frame.event]
    assert message["body"].startswith("".join(part["text"] for part in parts))


async def test_a_writer_is_stopped(people: People, writing: Callable[..., DraftWriter]) -> None:
    ada = people("ada")
    group = await ada.group("robot")
    async with ada.tab() as tab, writing(group, asked_by_user_id="ada") as draft:
        await draft.write("as far as this")
        part = await tab.event("draft.updated")
        stopped = await ask(ada, group, "/stop", draftId=part["payload"]["draftId"])
        assert stopped.status == 200
        async with asyncio.timeout(PATIENCE):
            while not draft.stopped:
                await draft.write(" and further")
                await asyncio.sleep(0)
    assert draft.message is not None
    assert draft.message.body.startswith("as far as this")
    assert await drafts_in(ada, group) == []


async def test_a_writer_that_fails(people: People, writing: Callable[..., DraftWriter]) -> None:
    ada = people("ada")
    group = await ada.group("robot")
    with pytest.raises(ZeroDivisionError):
        await _fail(writing(group))
    assert await drafts_in(ada, group) == []
    async with writing(group) as draft:
        await draft.write(" ")
    assert draft.message is None
    for text, refusal in (("bad", MessageHeld), ("worse", MessageRejected)):
        with pytest.raises(refusal):
            async with writing(group) as draft:
                await draft.write(text)
    assert await drafts_in(ada, group) == []
    assert await ada.listed(f"/conversations/{group}/messages") == []


async def _fail(writer: DraftWriter) -> None:
    async with writer as draft:
        await draft.write("x")
        raise ZeroDivisionError


async def test_a_writer_goes_on_after_an_outage(people: People, plugin: Drafts) -> None:
    ada = people("ada")
    group = await ada.group("robot")
    real, failures = Rows.append, iter([True, True, False])
    failed = asyncio.Event()

    async def failing(self: Rows, *place: Any, **given: Any) -> Any:
        if next(failures, False):
            failed.set()
            raise StorageUnavailable
        return await real(self, *place, **given)

    # The tab is open before: the part goes again at once, and is told only once.
    with patch.object(Rows, "append", failing):
        async with ada.tab() as tab, plugin.writing("robot", group) as draft:
            await draft.write("nothing is")
            await asyncio.wait_for(failed.wait(), PATIENCE)
            await draft.write(" lost")
            await tab.event("draft.updated")
    assert draft.message is not None
    assert draft.message.body == "nothing is lost"


@pytest.mark.parametrize("text", [" lost", ""], ids=["with more", "with nothing more"])
async def test_a_part_whose_answer_was_lost_is_there_once(
    people: People, plugin: Drafts, text: str
) -> None:
    """It is stored, and then the database is not heard any more: the same part goes again."""
    ada = people("ada")
    group = await ada.group("robot")
    real, failures = Rows.append, iter([True, False])
    failed = asyncio.Event()

    async def storing(self: Rows, *place: Any, **given: Any) -> Any:
        row = await real(self, *place, **given)
        if next(failures, False):
            failed.set()
            raise StorageUnavailable
        return row

    with patch.object(Rows, "append", storing):
        async with plugin.writing("robot", group) as draft:
            await draft.write("nothing is")
            await asyncio.wait_for(failed.wait(), PATIENCE)
            if text:
                await draft.write(text)
    assert draft.message is not None
    assert draft.message.body == f"nothing is{text}"


async def test_an_outage_at_the_end_loses_nothing(people: People, plugin: Drafts) -> None:
    """The message is sent, its answer is lost, and so is that of the last part before."""
    ada = people("ada")
    group = await ada.group("robot")
    drafting = plugin._drafting
    failing = {"append": 1, "finish": 2}

    def lossy(name: str) -> Any:
        real = getattr(drafting, name)

        async def call(*given: Any) -> Any:
            answer = await real(*given)
            if failing[name]:
                failing[name] -= 1
                raise StorageUnavailable
            return answer

        return patch.object(drafting, name, call)

    soon = patch.object(StorageUnavailable, "retry_after", 0.01)
    async with ada.tab() as tab:
        with soon, lossy("append"), lossy("finish"):
            async with plugin.writing("robot", group) as draft:
                await draft.write("all of it")
        frames = await tab.until(lambda frame: frame.event == "message.created")
        await ada.send(group, "next")
        assert (await tab.event("message.created"))["message"]["body"] == "next"
    assert draft.message is not None
    assert frames[-1].data["message"]["id"] == draft.message.id
    assert [
        message["body"] for message in await ada.listed(f"/conversations/{group}/messages")
    ] == [
        "next",
        "all of it",
    ]


async def be_slow(ada: Person, group: str, seconds: int) -> None:
    slow = {"slowModeSeconds": seconds}
    assert (await ada.call("PATCH", f"/conversations/{group}", json=slow)).status == 200
    await ada.told_all()


async def test_a_draft_outlives_slow_mode(serve: MakePeople, plugin: Drafts) -> None:
    people = await serve(plugins=[plugin], room_controls=True)
    ada, robot = people("ada"), people("robot")
    group = await ada.group("robot")
    await be_slow(ada, group, 3_600)
    await robot.send(group, "first")
    draft = await begin(robot, group)
    await append(robot, group, draft, 0, "second")
    assert (await ask(robot, group, "/finish", draftId=draft)).code == "SLOW_MODE"
    assert [entry["text"] for entry in await drafts_in(ada, group)] == ["second"]
    await be_slow(ada, group, 0)
    done = await ask(robot, group, "/finish", draftId=draft)
    assert done.json["message"]["body"] == "second"


async def test_a_writer_waits_for_slow_mode(serve: MakePeople, plugin: Drafts) -> None:
    people = await serve(plugins=[plugin], room_controls=True)
    ada, robot = people("ada"), people("robot")
    group = await ada.group("robot")
    await be_slow(ada, group, 3_600)
    await robot.send(group, "first")
    real, refused = plugin._drafting.finish, []

    async def noted(*given: Any) -> Any:
        try:
            return await real(*given)
        except SlowMode as refusal:
            refused.append(refusal)
            await be_slow(ada, group, 0)
            # Else it would wait for the hour that is over now.
            raise SlowMode(retry_after=1) from None

    with patch.object(plugin._drafting, "finish", noted):
        async with plugin.writing("robot", group) as writer:
            await writer.write("second")
    assert writer.message is not None
    assert len(refused) == 1


async def test_who_is_stopped_may_take_their_time(people: People, plugin: Drafts) -> None:
    ada = people("ada")
    group = await ada.group("robot")
    async with plugin.writing("robot", group) as draft:
        await draft.write("as far as this")
        # Begun is not enough: a draft that is stopped without a text ends without a message.
        async with asyncio.timeout(PATIENCE):
            while not any(found["parts"] for found in await drafts_in(ada, group)):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        (seen,) = await drafts_in(ada, group)
        await ask(ada, group, "/stop", draftId=seen["id"])
        rows = Rows(plugin.api, seconds=60)
        row = await rows.find(group, seen["id"])
        await append(people("robot"), group, seen["id"], seen["parts"], "")
        later = await rows.find(group, seen["id"])
        assert row is not None
        assert later is not None
        assert later["expiresAt"] > row["expiresAt"]
    assert draft.message is not None


async def test_drafts_use_the_quota_of_messages(serve: MakePeople, plugin: Drafts) -> None:
    people = await serve(plugins=[plugin], quotas=Quotas(messages_per_minute=2))
    ada, robot = people("ada"), people("robot")
    group = await ada.group("robot")
    for expected in (None, None, "RATE_LIMITED"):
        draft = await begin(robot, group)
        await append(robot, group, draft, 0, "x")
        assert (await ask(robot, group, "/finish", draftId=draft)).code == expected
    assert len(await drafts_in(ada, group)) == 1


async def test_the_banned_write_none(people: People, plugin: Drafts) -> None:
    ada = people("ada")
    group = await ada.group("robot")
    writing = plugin.writing("robot", group)
    await ban(people("mod"), "robot")
    await ada.told_all()
    with pytest.raises(UserBanned):
        await _fail(writing)


async def test_a_user_who_is_none_of_them_cannot(plugin: Drafts, people: People) -> None:
    ada = people("ada")
    group = await ada.group("robot")
    with pytest.raises(ForbiddenWrite):
        async with plugin.writing("ada", group):
            pass


async def test_rows_of_other_programs_are_left_out(people: People, database: Database) -> None:
    ada, robot = people("ada"), people("robot")
    group = await ada.group("robot")
    draft = await begin(robot, group)
    kept = await database["drafts"].find_one({"_id": draft})
    assert kept is not None
    wrongs: list[dict[str, Any]] = [{"parts": 5}, {"parts": [5]}, {"senderId": None}]
    for number, wrong in enumerate(wrongs):
        row = {**kept, "_id": f"x{number}", **wrong}
        await database["drafts"].insert_one(row, bypass_document_validation=True)
    assert [entry["id"] for entry in await drafts_in(ada, group)] == [draft]
    assert (await ask(ada, group, "/stop", draftId="x0")).code == "DRAFT_NOT_FOUND"


def test_settings() -> None:
    with pytest.raises(ValueError, match="abandoned_seconds"):
        Drafts([], abandoned_seconds=0)
