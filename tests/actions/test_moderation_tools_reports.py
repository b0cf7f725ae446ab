"""Reports at the desk: who made them, groups by target, resolved together, told to moderators."""

import asyncio
from typing import Any

import pytest

from chat_aio import Hooks
from chat_aio.actions.moderation_tools import report_groups
from chat_aio.hooks import ModerationContext
from tests.actions.test_moderation_tools import DESK
from tests.conftest import MakePeople
from tests.support.moderating import People, ban, later, report, settle
from tests.support.people import PATIENCE, Answer, Person


@pytest.fixture
async def desk(serve: MakePeople) -> People:
    """People of whom `mod` and `mod2` sit at the desk."""
    return await serve(Hooks(can_moderate=is_moderator), moderation_tools=True)


def is_moderator(asked: ModerationContext) -> bool:
    return asked.user_id.startswith("mod")


async def groups(mod: Person, query: str = "") -> list[tuple[str, int, str]]:
    """Target, count and latest reason of each group."""
    answer = await mod.get(f"{DESK}/report-groups{query}")
    assert answer.status == 200, answer
    return [
        (report_group["targetId"], report_group["count"], report_group["latest"]["reason"])
        for report_group in answer.json["reportGroups"]
    ]


async def resolve(mod: Person, target: str, status: str = "resolved", **given: Any) -> Answer:
    body = {"targetType": "user", "targetId": target, "status": status, **given}
    return await mod.post(f"{DESK}/report-groups/resolve", body)


async def test_reports_are_grouped_by_their_target(desk: People) -> None:
    mod = desk("mod")
    for reporter, target, reason in (
        ("alice", "mallory", "spam"),
        ("bob", "eve", "rude"),
        ("carol", "mallory", "more spam"),
    ):
        made = (await report(desk(reporter), "user", target, reason)).json["report"]
    assert await groups(mod) == [("mallory", 2, "more spam"), ("eve", 1, "rude")]
    (first,) = (await mod.get(f"{DESK}/report-groups?limit=1")).json["reportGroups"]
    assert (first["latest"], first["lastAt"]) == (made, made["createdAt"])
    assert first["firstAt"] < first["lastAt"]
    await settle(mod, made["id"], status="triaged")
    assert await groups(mod, "?status=open") == [("eve", 1, "rude"), ("mallory", 1, "spam")]
    assert await groups(mod, "?targetType=message") == []
    assert (await mod.get(f"{DESK}/report-groups?status=new")).code == "INVALID_INPUT"


async def test_pages_of_groups_leave_nothing_out(desk: People) -> None:
    mod = desk("mod")
    for number in range(7):
        await report(desk("alice"), "user", f"user{number}")
        await report(desk("bob"), "user", "user0")
    seen: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        query = "?limit=3" + (f"&cursor={cursor}" if cursor else "")
        page = (await mod.get(f"{DESK}/report-groups{query}")).json
        seen += [report_group["targetId"] for report_group in page["reportGroups"]]
        cursor = page["nextCursor"]
    assert seen == ["user6", "user5", "user4", "user3", "user2", "user1", "user0"]


async def test_a_malformed_report_does_not_end_the_list_of_groups(desk: People) -> None:
    mod = desk("mod")
    made = [
        (await report(desk("alice"), "user", f"user{number}")).json["report"] for number in range(4)
    ]
    rows = mod.chat._context.database.reports
    await rows.update_one(
        {"_id": made[2]["id"]}, {"$set": {"reason": 7}}, bypass_document_validation=True
    )
    first = (await mod.get(f"{DESK}/report-groups?limit=2")).json
    assert [report_group["targetId"] for report_group in first["reportGroups"]] == ["user3"]
    rest = (await mod.get(f"{DESK}/report-groups?limit=2&cursor={first['nextCursor']}")).json
    assert [report_group["targetId"] for report_group in rest["reportGroups"]] == ["user1", "user0"]


async def test_moderators_are_asked_for_once_for_events_that_come_together(
    serve: MakePeople,
) -> None:
    asked: list[str] = []
    settled, begun = asyncio.Event(), asyncio.Event()

    async def may(about: ModerationContext) -> bool:
        if about.action == "receive_reports":
            asked.append(about.user_id)
            begun.set()
            await asyncio.wait_for(settled.wait(), PATIENCE)
        return about.user_id == "mod"

    people = await serve(Hooks(can_moderate=may), moderation_tools=True, enforce_bans=False)
    mod = people("mod")
    settled.set()
    async with mod.tab() as tab:
        settled.clear()
        begun.clear()
        opened = len(asked)
        await report(people("alice"), "user", "first")
        await asyncio.wait_for(begun.wait(), PATIENCE)
        for number in range(6):  # They wait behind the first one.
            await report(people("alice"), "user", f"user{number}")
        await mod.chat._context.signals.close(seconds=PATIENCE)  # Now they are written.
        await mod.told_all()
        settled.set()
        for _ in range(7):
            await tab.event("report.created")
    assert len(asked) == opened + 2


async def test_reports_on_a_target_are_resolved_together(desk: People) -> None:
    mod, alice = desk("mod"), desk("alice")
    made = [(await report(desk(who), "user", "mallory")).json["report"] for who in ("alice", "bob")]
    seen = made[-1]["createdAt"]
    late = (await report(desk("carol"), "user", "mallory")).json["report"]
    other = (await report(alice, "user", "eve")).json["report"]
    answer = await resolve(mod, "mallory", until=seen, moderatorNote="banned")
    assert answer.json == {"reports": 2, "more": False}
    stand = {
        row["id"]: (row["status"], row["resolvedBy"], row["moderatorNote"])
        for row in (await mod.get(f"{DESK}/reports")).json["reports"]
    }
    done, open_ = ("resolved", "mod", "banned"), ("open", None, None)
    assert stand == {
        made[0]["id"]: done,
        made[1]["id"]: done,
        late["id"]: open_,
        other["id"]: open_,
    }
    assert (await resolve(mod, "mallory", "triaged")).json["reports"] == 1
    assert (await resolve(mod, "mallory", "triaged")).json["reports"] == 0
    assert (await resolve(mod, "mallory", "dismissed")).json["reports"] == 1
    assert (await resolve(mod, "mallory", "open")).code == "INVALID_INPUT"
    # They may report it anew.
    assert (await report(alice, "user", "mallory")).json["report"]["id"] not in stand


async def test_a_hundred_at_a_time(desk: People, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        await report(desk(f"user{number}"), "user", "mallory")
    monkeypatch.setattr(report_groups, "AT_A_TIME", 2)
    answers = [(await resolve(desk("mod"), "mallory")).json for _ in range(3)]
    assert [(answer["reports"], answer["more"]) for answer in answers] == [
        (2, True),
        (2, True),
        (1, False),
    ]


async def test_two_moderators_at_once_do_not_undo_each_other(desk: People) -> None:
    """Each report is moved once, and stays as the faster one has left it."""
    for number in range(12):
        await report(desk(f"user{number}"), "user", "mallory")
    first, second = await asyncio.gather(
        resolve(desk("mod"), "mallory", "resolved"), resolve(desk("mod2"), "mallory", "dismissed")
    )
    assert first.json["reports"] + second.json["reports"] == 12
    rows = await desk("mod").chat._context.database.audit.count_documents({"action": "report"})
    assert rows == 12
    kept = (await desk("mod").get(f"{DESK}/reports")).json["reports"]
    by = {(row["status"], row["resolvedBy"]) for row in kept}
    assert by <= {("resolved", "mod"), ("dismissed", "mod2")}


async def test_reports_are_found_by_who_made_or_resolved_them(desk: People) -> None:
    alice, mod = desk("alice"), desk("mod")
    group = await alice.group("bob")
    message = await desk("bob").send(group, "rude")
    of_message = (await report(alice, "message", message["id"])).json["report"]["id"]
    of_user = (await report(alice, "user", "bob")).json["report"]["id"]
    of_bob = (await report(desk("bob"), "user", "alice")).json["report"]["id"]
    await settle(desk("mod2"), of_user, status="dismissed")

    async def ids(query: str) -> list[str]:
        found = (await mod.get(f"{DESK}/reports?{query}")).json["reports"]
        return [row["id"] for row in found]

    assert await ids("") == [of_bob, of_user, of_message]
    assert await ids("reporterUserId=alice") == [of_user, of_message]
    assert await ids("reporterUserId=alice&status=open") == [of_message]
    assert await ids("moderatorUserId=mod2") == [of_user]
    assert await ids("targetType=user&targetId=alice") == [of_bob]
    assert len(await ids("limit=2")) == 2


async def test_the_standing_of_a_user(desk: People) -> None:
    alice, bob, mod = desk("alice"), desk("bob"), desk("mod")
    group = await alice.group("bob", name="Tea")
    await alice.group("carol")
    message = await bob.send(group, "rude")
    await report(alice, "message", message["id"], "rude")
    of_user = (await report(alice, "user", "bob")).json["report"]
    await report(bob, "user", "alice")
    await settle(mod, of_user["id"], status="resolved")
    await ban(mod, "bob", expiresAt=later(days=1))
    shown = (await mod.get(f"{DESK}/users/bob?sharedWith=alice")).json["standing"]
    assert (shown["userId"], shown["activeBan"]) == ("bob", shown["bans"][0])
    counts = ("reportsMade", "reportsReceived", "unresolvedReportsReceived", "conversationCount")
    assert [shown[count] for count in counts] == [1, 2, 1, 1]
    assert [row["targetType"] for row in shown["latestReportsReceived"]] == ["user", "message"]
    assert shown["conversations"] == [
        {
            "conversationId": group,
            "type": "group",
            "name": "Tea",
            "participantCount": 2,
            "role": "member",
        }
    ]
    of_alice = (await mod.get(f"{DESK}/users/alice")).json["standing"]
    assert (of_alice["activeBan"], of_alice["conversationCount"]) == (None, 2)
    unknown = (await mod.get(f"{DESK}/users/nobody")).json["standing"]
    assert (unknown["bans"], unknown["conversations"]) == ([], [])
    assert (await mod.get(f"{DESK}/users/{'x' * 300}")).code == "INVALID_INPUT"


async def test_moderators_hear_of_reports_at_once(desk: People) -> None:
    alice, mod = desk("alice"), desk("mod")
    async with mod.tab() as moderator, alice.tab() as reporter:
        made = (await report(alice, "user", "mallory")).json["report"]
        assert (await moderator.event("report.created"))["report"] == made
        await report(alice, "user", "mallory")  # The same one again.
        moved = (await settle(mod, made["id"], status="triaged")).json["report"]
        assert (await moderator.event("report.updated"))["report"] == moved
        await resolve(mod, "mallory")
        assert (await moderator.event("report.updated"))["report"]["status"] == "resolved"
        # The reporter's own stream shows what comes after it, and nothing of it.
        message = await alice.send(await alice.group(), "done")
        assert (await reporter.event("message.created"))["message"] == message


async def test_who_is_no_moderator_any_more_hears_nothing(serve: MakePeople) -> None:
    """Whoever was one when the stream opened is asked about again."""
    moderators = {"mod", "mod2"}
    hooks = Hooks(can_moderate=lambda asked: asked.user_id in moderators)
    people = await serve(hooks, moderation_tools=True)
    alice, mod, mod2 = people("alice"), people("mod"), people("mod2")
    group = await mod2.group("mod")
    async with mod.tab() as tab, mod2.tab() as other:
        moderators.discard("mod2")
        await report(alice, "user", "mallory")
        await tab.event("report.created")
        message = await mod.send(group, "after it")
        assert (await other.event("message.created"))["message"] == message


async def test_without_the_desk_nobody_hears_of_reports(moderated: People) -> None:
    alice, mod = moderated("alice"), moderated("mod")
    group = await mod.group("alice")
    async with mod.tab() as tab:
        await report(alice, "user", "mallory")
        await alice.send(group, "nothing before this")
        await tab.event("message.created")


async def test_a_hook_that_fails_does_not_keep_a_stream_from_opening(serve: MakePeople) -> None:
    def fails(_: ModerationContext) -> bool:
        raise ValueError

    people = await serve(Hooks(can_moderate=fails), moderation_tools=True, enforce_bans=False)
    group = await people("alice").group("bob")
    async with people("bob").tab() as tab:
        await people("alice").send(group, "still told")
        await tab.event("message.created")
