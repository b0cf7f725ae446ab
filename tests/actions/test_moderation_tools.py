"""the moderation tools: messages found, looked at, removed and restored."""

import asyncio
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from chat_aio import Chat, Hooks, Options
from chat_aio.actions.moderation_tools import guarding
from chat_aio.errors import InvalidInput, MessageNotRestorable, NotModerator
from chat_aio.hooks import ModerationContext
from chat_aio.schema.models import MessagePage
from chat_aio.schema.moderation_tools import Removed
from chat_aio.store.maintenance import find_messages
from chat_aio.store.time_slices import Slices
from tests.conftest import Database, MakePeople
from tests.support.moderating import People, is_mod
from tests.support.people import Answer, Person

DESK = "/moderation/tools"


@pytest.fixture
async def desk(serve: MakePeople) -> People:
    """People of whom `mod` sits at the desk."""
    return await serve(Hooks(can_moderate=is_mod), moderation_tools=True)


async def found(who: Person, query: str) -> Answer:
    return await who.get(f"{DESK}/messages?{query}")


async def bodies(who: Person, query: str) -> list[str]:
    answer = await found(who, query)
    assert answer.status == 200, answer
    return [message["body"] for message in answer.json["messages"]]


async def remove(who: Person, message_id: str, **given: Any) -> Answer:
    return await who.post(f"{DESK}/messages/{message_id}/remove", given or None)


async def restore(who: Person, message_id: str) -> Answer:
    return await who.post(f"{DESK}/messages/{message_id}/restore")


async def acts(database: Database) -> list[tuple[str, str, str]]:
    """Who did what to what, in order."""
    rows = await database["audit"].find().sort("at", 1).to_list(None)
    return [(row["actorUserId"], row["action"], row["targetId"]) for row in rows]


async def test_without_the_option_there_is_no_desk(moderated: People) -> None:
    mod = moderated("mod")
    assert (await found(mod, "userId=alice")).status == 404
    with pytest.raises(RuntimeError, match="moderation_tools"):
        _ = mod.chat.moderation_tools


async def test_only_moderators_sit_at_it(desk: People, database: Database) -> None:
    alice = desk("alice")
    message = await alice.send(await alice.group(), "mine")
    refused = (403, "NOT_MODERATOR")
    for answer in (
        await found(alice, "userId=alice"),
        await alice.get(f"{DESK}/messages/{message['id']}"),
        await alice.get(f"{DESK}/messages/unknown"),
        await alice.get(f"{DESK}/messages/{message['id']}/versions"),
        await remove(alice, message["id"]),
        await restore(alice, message["id"]),
        await alice.post(f"{DESK}/removals", {"userId": "alice", "dryRun": False}),
        await alice.get(f"{DESK}/users/alice"),
        await alice.get(f"{DESK}/reports"),
        await alice.get(f"{DESK}/report-groups"),
        await alice.post(
            f"{DESK}/report-groups/resolve",
            {"targetType": "user", "targetId": "bob", "status": "resolved"},
        ),
    ):
        assert (answer.status, answer.code) == refused
    with pytest.raises(NotModerator):
        await alice.chat.moderation_tools.find_messages("alice", sender_id="alice")
    assert await acts(database) == []
    assert (await alice.listed(f"/conversations/{message['conversationId']}/messages")) == [message]


async def test_messages_are_found_by_who_where_when_and_words(
    desk: People, database: Database
) -> None:
    alice, bob, mod = desk("alice"), desk("bob"), desk("mod")
    first, second = sorted([await alice.group("bob"), await alice.group("bob")])
    for group, who, body in (
        (first, alice, "Buy cheap moths"),
        (second, bob, "no moths here"),
        (first, bob, "moths are cheap"),
        (second, alice, "cheap MOTHS again"),
    ):
        last = await who.send(group, body)
    assert await bodies(mod, "userId=alice") == ["Buy cheap moths", "cheap MOTHS again"]
    assert await bodies(mod, f"conversationId={first}") == ["moths are cheap", "Buy cheap moths"]
    assert await bodies(mod, f"conversationId={second}&userId=bob") == ["no moths here"]
    assert await bodies(mod, "userId=alice&contains=moths again") == ["cheap MOTHS again"]
    span = f"since={last['createdAt']}&contains=cheap"
    assert await bodies(mod, span) == ["cheap MOTHS again"]
    assert await bodies(mod, "until=2020-01-01T00:00:00Z") == []
    assert await bodies(mod, "since=2020-01-01T00:00:00Z&contains=moths") == [
        "moths are cheap",
        "Buy cheap moths",
        "cheap MOTHS again",
        "no moths here",
    ]
    (row,) = await database["audit"].find({"details.terms": "cheap"}).to_list(None)
    assert (row["actorUserId"], row["action"], row["targetId"]) == ("mod", "find-messages", "*")


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("", "userId, conversationId, since and until are missing"),
        ("contains=cheap", "give at least one"),
        ("userId=alice&contains=%21", "a letter or a digit"),
        ("userId=%00", "userId must be an id"),
        ("userId=alice&since=yesterday", "since must"),
        ("userId=alice&cursor=abc", "cursor must be"),
    ],
)
async def test_searches_that_are_refused(desk: People, query: str, said: str) -> None:
    answer = await found(desk("mod"), query)
    assert (answer.status, answer.code) == (400, "INVALID_INPUT")
    assert said in answer.json["error"]["message"]


async def all_pages(who: Person, query: str) -> list[list[str]]:
    pages: list[list[str]] = []
    cursor: str | None = ""
    while cursor is not None:
        answer = await found(who, query + (f"&cursor={cursor}" if cursor else ""))
        pages.append([message["body"] for message in answer.json["messages"]])
        cursor = answer.json["nextCursor"]
    return pages


async def test_pages_leave_nothing_out(desk: People) -> None:
    alice, mod = desk("alice"), desk("mod")
    groups = sorted([await alice.group() for _ in range(3)])
    for number in range(5):
        for group in groups:
            await alice.send(group, f"{groups.index(group)}.{number}")
    wanted = [f"{group}.{number}" for group in range(3) for number in (4, 3, 2, 1, 0)]
    for query in ("userId=alice", "since=2020-01-01T00:00:00Z"):
        # Five to a page is all of a conversation.
        for limit in (1, 4, 5, 15):
            pages = await all_pages(mod, f"{query}&limit={limit}")
            assert [body for page in pages for body in page] == wanted
            assert {len(page) for page in pages[:-1]} <= {limit}


async def test_a_search_that_takes_long_is_cut_and_goes_on(
    desk: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nearly nothing matches, and each request has the time for one step."""
    alice, mod = desk("alice"), desk("mod")
    group = await alice.group()
    for number in range(6):
        await alice.send(group, "a needle" if number == 1 else "hay")
    monkeypatch.setattr(guarding, "SECONDS", 0)
    monkeypatch.setattr("chat_aio.actions.moderation_tools.find_messages.SECONDS", 0)
    monkeypatch.setattr(find_messages, "MESSAGES_AT_A_TIME", 2)
    pages = await all_pages(mod, "userId=alice&contains=needle")
    assert [len(page) for page in pages] == [0, 0, 1, 0]


def day(number: int) -> datetime:
    return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=number)


async def test_conversations_without_a_step_are_passed_within_the_time(
    desk: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the only message is younger than what is looked for."""
    alice, mod = desk("alice"), desk("mod")
    for _ in range(4):
        await alice.send(await alice.group(), "too young")
    monkeypatch.setattr("chat_aio.actions.moderation_tools.find_messages.SECONDS", 0)
    monkeypatch.setattr(find_messages, "MESSAGES_AT_A_TIME", 1)
    pages = await all_pages(mod, "userId=alice&until=2020-01-01T00:00:00Z")
    assert pages == [[]] * 5


async def test_others_are_served_while_long_messages_are_looked_through(
    desk: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Finding the words of a message is work: between a few of them, others have their turn."""
    alice, mod = desk("alice"), desk("mod")
    group = await alice.group()
    for number in range(12):
        await alice.send(group, f"a long message {number}")
    gave_way = Slices.give_way
    turns: list[Slices] = []

    async def counted(slices: Slices) -> None:
        turns.append(slices)
        await gave_way(slices)

    monkeypatch.setattr(Slices, "give_way", counted)
    assert await bodies(mod, "userId=alice&contains=nothing") == []
    assert len(turns) >= 12 / 4


async def test_the_host_is_told_whom_an_act_is_about(serve: MakePeople) -> None:
    asked: list[tuple[str, str | None]] = []

    def may(about: ModerationContext) -> bool:
        asked.append((about.action, about.target_user_id))
        return about.user_id == "mod"

    people = await serve(Hooks(can_moderate=may), moderation_tools=True, enforce_bans=False)
    alice, mod = people("alice"), people("mod")
    message = await alice.send(await alice.group(), "first")
    await alice.edit(message["id"], "second")
    here = f"{DESK}/messages/{message['id']}"
    for path in (here, f"{here}/versions", f"{DESK}/users/alice", f"{DESK}/messages?userId=alice"):
        assert (await mod.get(path)).status == 200
    await remove(mod, message["id"])
    await restore(mod, message["id"])
    assert (await mod.get(f"{here}/versions")).status == 200
    decision = {"targetType": "user", "targetId": "alice", "status": "resolved"}
    assert (await mod.post(f"{DESK}/report-groups/resolve", decision)).status == 200
    assert {target for _, target in asked} == {"alice"}, asked
    assert [action for action, _ in asked].count("update_report") == 0


async def test_old_messages_are_reached_without_reading_the_newer_ones(
    desk: People, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice, mod = desk("alice"), desk("mod")
    group = await alice.group()
    sent = [await alice.send(group, f"m{number}") for number in range(60)]
    for number, message in enumerate(sent):
        moved = {"$set": {"createdAt": day(number)}}
        await database["messages"].update_one({"_id": message["id"]}, moved)
    monkeypatch.setattr(find_messages, "MESSAGES_AT_A_TIME", 4)
    step, steps = find_messages._page, list[Any]()

    async def counted(*given: Any) -> Any:
        steps.append(given)
        return await step(*given)

    monkeypatch.setattr(find_messages, "_page", counted)
    query = f"conversationId={group}&until={day(5):%Y-%m-%dT%H:%M:%SZ}"
    assert await bodies(mod, query) == [f"m{number}" for number in (5, 4, 3, 2, 1, 0)]
    assert len(steps) <= 3


async def test_a_message_in_its_context(desk: People, database: Database) -> None:
    alice, mod = desk("alice"), desk("mod")
    group = await alice.group()
    sent = [await alice.send(group, f"m{number}") for number in range(8)]
    reply = await alice.send(group, "in a thread", threadRootMessageId=sent[3]["id"])
    here = f"{DESK}/messages/{sent[6]['id']}"
    answer = await mod.get(f"{here}?before=2&after=5")
    assert answer.json["message"]["body"] == "m6"
    assert [message["body"] for message in answer.json["messages"]] == [
        *("m4", "m5", "m6", "m7"),
        "in a thread",
    ]
    assert len((await mod.get(here)).json["messages"]) == 8
    assert (await mod.get(f"{DESK}/messages/{reply['id']}?before=0&after=0")).json["messages"] == [
        reply
    ]
    for query in ("before=51", "after=-1", "before=x"):
        assert (await mod.get(f"{here}?{query}")).code == "INVALID_INPUT"
    assert (await mod.get(f"{DESK}/messages/unknown")).code == "MESSAGE_NOT_FOUND"
    assert ("mod", "look-at-message", sent[6]["id"]) in await acts(database)


async def test_a_message_is_removed_and_restored(desk: People, database: Database) -> None:
    alice, mod = desk("alice"), desk("mod")
    group = await alice.group("bob")
    message = await alice.send(group, "@bob look", mentions=["bob"], metadata={"x": 1})
    await desk("bob").react(message["id"], "👍")
    before = (await alice.listed(f"/conversations/{group}/messages"))[0]
    removed = (await remove(mod, message["id"], reason="rude")).json["message"]
    assert (removed["body"], removed["deletedAt"] is None) == ("", False)
    assert (await remove(mod, message["id"])).json["message"] == removed
    (row,) = await database["audit"].find({"action": "remove-message"}).to_list(None)
    assert (row["details"]["reason"], row["details"]["senderId"]) == ("rude", "alice")
    assert await alice.listed("/search/messages?q=look") == []

    restored = (await restore(mod, message["id"])).json["message"]
    assert restored == before
    assert (await restore(mod, message["id"])).json["message"] == restored
    assert await alice.listed("/search/messages?q=look") == [before]
    assert [row for row in await acts(database) if row[1] == "restore-message"] == [
        ("mod", "restore-message", message["id"])
    ]
    edited = await alice.edit(message["id"], "as before")
    assert edited["body"] == "as before"


async def test_a_restored_message_comes_as_an_event(desk: People) -> None:
    alice, mod = desk("alice"), desk("mod")
    group = await alice.group("bob")
    message = await alice.send(group, "told again")
    async with desk("bob").tab() as tab:
        await remove(mod, message["id"])
        assert (await tab.event("message.deleted"))["message"]["body"] == ""
        await restore(mod, message["id"])
        assert (await tab.event("message.updated"))["message"] == message
        position = tab.last_event_id
    await remove(mod, message["id"])
    await restore(mod, message["id"])
    async with desk("bob").tab(position) as tab:
        frames = await tab.until(lambda frame: frame.event == "message.updated")
    assert frames[-1].data["message"] == message


async def test_what_cannot_be_restored(desk: People, database: Database) -> None:
    alice, mod = desk("alice"), desk("mod")
    group = await alice.group()
    own, expired, old = [await alice.send(group, body) for body in ("own", "expired", "old")]
    await alice.delete(own["id"])
    for message in (expired, old):
        await remove(mod, message["id"])
    await database["message_versions"].delete_many({"messageId": expired["id"]})
    for message in (own, expired):
        answer = await restore(mod, message["id"])
        assert (answer.status, answer.code) == (409, "MESSAGE_NOT_RESTORABLE")
    # Retention does not look again at what it has passed.
    await database["counters"].update_one({"_id": group}, {"$set": {"emptiedSeq": old["seq"]}})
    with pytest.raises(MessageNotRestorable):
        await mod.chat.moderation_tools.restore_message("mod", old["id"])
    assert (await restore(mod, "unknown")).code == "MESSAGE_NOT_FOUND"


async def test_many_removals_and_restorals_at_once(desk: People, database: Database) -> None:
    """Each change has one row in the audit log, and the text is there or gone as a whole."""
    alice, mod = desk("alice"), desk("mod")
    message = await alice.send(await alice.group(), "to and fro")
    for _ in range(3):
        await asyncio.gather(*(remove(mod, message["id"]) for _ in range(6)))
        answers = await asyncio.gather(*(restore(mod, message["id"]) for _ in range(6)))
        assert {answer.json["message"]["body"] for answer in answers} == {"to and fro"}
    rows = [action for _, action, _ in await acts(database)]
    assert (rows.count("remove-message"), rows.count("restore-message")) == (3, 3)


async def removals(mod: Person, **given: Any) -> tuple[int, int]:
    """Run a removal to its end; returns how many messages, and in how many portions."""
    done, portions, cursor = 0, 0, None
    while portions == 0 or cursor is not None:
        answer = await mod.post(f"{DESK}/removals", {**given, "cursor": cursor})
        assert answer.status == 200, answer
        done, portions = done + answer.json["messages"], portions + 1
        cursor = answer.json["nextCursor"]
    return done, portions


async def test_many_messages_are_counted_and_removed(desk: People, database: Database) -> None:
    mallory, bob, mod = desk("mallory"), desk("bob"), desk("mod")
    first, second = await bob.group("mallory"), await bob.group("mallory")
    for number in range(4):
        await mallory.send(first, f"spam {number}")
        await bob.send(first, f"spam? {number}")
    await mallory.send(second, "hello")
    await mallory.delete((await mallory.send(second, "regretted"))["id"])
    assert await removals(mod, userId="mallory", contains="spam") == (4, 1)
    assert await removals(mod, userId="mallory", conversationId=second, dryRun=True) == (1, 1)
    assert len([body for body in await bodies(mod, "userId=mallory") if body]) == 5
    assert await removals(mod, userId="mallory", contains="spam", dryRun=False) == (4, 1)
    assert [body for body in await bodies(mod, "userId=mallory") if body] == ["hello"]
    assert len([body for body in await bodies(mod, "userId=bob") if body]) == 4
    rows = [action for _, action, _ in await acts(database)]
    assert (rows.count("remove-message"), rows.count("remove-messages")) == (4, 3)
    restorable = await database["message_versions"].count_documents({"how": "removed"})
    assert restorable == 4


async def test_a_removal_of_many_goes_on_behind_its_cursor(
    desk: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if it is interrupted; what is sent after its beginning stays."""
    mallory, mod = desk("mallory"), desk("mod")
    group = await mallory.group()
    for number in range(7):
        await mallory.send(group, f"m{number}")
    monkeypatch.setattr("chat_aio.actions.moderation_tools.remove_messages.SECONDS", 0)
    monkeypatch.setattr("chat_aio.actions.moderation_tools.remove_messages.AT_A_TIME", 2)
    begun = await mod.post(f"{DESK}/removals", {"userId": "mallory", "dryRun": False})
    assert (begun.json["messages"], begun.json["dryRun"]) == (2, False)
    await mallory.send(group, "later")
    given = {"userId": "mallory", "dryRun": False, "cursor": begun.json["nextCursor"]}
    rest = await removals_from(mod, given)
    assert rest == [2, 2, 1]
    assert [body for body in await bodies(mod, "userId=mallory") if body] == ["later"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", begun.json["until"])
    again = await mod.post(f"{DESK}/removals", given)
    assert (again.json["messages"], again.json["until"]) == (0, begun.json["until"])


async def removals_from(mod: Person, given: dict[str, Any]) -> list[int]:
    counts = []
    while given["cursor"] is not None:
        answer = (await mod.post(f"{DESK}/removals", given)).json
        counts.append(answer["messages"])
        given = {**given, "cursor": answer["nextCursor"]}
    return [count for count in counts if count]


async def test_removals_that_are_refused(desk: People) -> None:
    mod = desk("mod")
    for given in (
        {},
        {"userId": "mallory", "cursor": "abc"},
        {"userId": "mallory", "dryRun": "no"},
        {"userId": "mallory", "contains": "!"},
        {"conversationId": "c"},
    ):
        assert (await mod.post(f"{DESK}/removals", given)).code == "INVALID_INPUT"


async def test_the_same_in_process(database: Database) -> None:
    options = Options(moderation_tools=True, replay_buffer_seconds=5)
    hooks = Hooks(can_moderate=is_mod)
    async with Chat(database, hooks=hooks, options=options) as chat:
        group = await chat.api.create_group_conversation("alice")
        sent = await chat.api.send_message("alice", group.id, "a word")
        page = await chat.moderation_tools.find_messages("mod", sender_id="alice", contains="word")
        assert page == MessagePage(messages=(sent,), next_cursor=None)
        counted = await chat.moderation_tools.remove_messages("mod", "alice")
        assert counted == Removed(messages=1, dry_run=True, until=counted.until, next_cursor=None)
        await chat.moderation_tools.remove_message("mod", sent.id)
        assert (await chat.moderation_tools.restore_message("mod", sent.id)).body == "a word"
        with pytest.raises(InvalidInput):
            await chat.moderation_tools.find_messages("mod", contains="word")
