"""Blocks, mutes, reports and bans: every row of the tables, over HTTP and in process."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from bson import DatetimeMS, Int64

from chat_aio import Chat, Hooks
from chat_aio.capabilities import Capability
from chat_aio.errors import DirectInteractionBlocked, UserBanned
from chat_aio.hooks import ModerationContext
from chat_aio.web.routes import ROUTES
from tests.conftest import Database, MakeChat, MakePeople
from tests.support.people import Answer, Person

People = Callable[[str], Person]


def is_mod(asked: ModerationContext) -> bool:
    return asked.user_id == "mod"


@pytest.fixture
async def moderated(serve: MakePeople) -> People:
    """People of whom `mod` is a moderator."""
    return await serve(Hooks(can_moderate=is_mod))


async def block(who: Person, user_id: Any) -> Answer:
    return await who.post("/moderation/blocks", {"targetUserId": user_id})


async def unblock(who: Person, user_id: Any) -> Answer:
    return await who.call("DELETE", "/moderation/blocks", json={"targetUserId": user_id})


async def ban(who: Person, user_id: Any, **given: Any) -> Answer:
    return await who.post("/moderation/bans", {"targetUserId": user_id, **given})


async def report(who: Person, kind: Any, target: Any, reason: Any = "spam") -> Answer:
    body = {"targetType": kind, "targetId": target, "reason": reason}
    return await who.post("/moderation/reports", body)


async def settle(who: Person, report_id: str, **given: Any) -> Answer:
    return await who.call("PATCH", f"/moderation/reports/{report_id}", json=given)


def later(**span: int) -> str:
    return (datetime.now(UTC) + timedelta(**span)).isoformat()


async def test_a_block_stops_everything_direct(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    direct, group = await alice.direct("bob"), await alice.group("bob")
    hers, his = await alice.send(direct, "hers"), await bob.send(direct, "his")
    elsewhere = await bob.send(group, "elsewhere")
    made = await block(alice, "bob")
    assert made.status == 200
    assert set(made.json["block"]) == {"blockerUserId", "blockedUserId", "createdAt"}
    assert (await block(alice, "bob")).json == made.json
    here = f"/conversations/{direct}/messages"
    for who, own, other in ((alice, hers, his), (bob, his, hers)):
        for answer in (
            await who.post(here, {"body": "x"}),
            await who.post(here, {"body": "x", "replyToMessageId": "none"}),
            await who.call("PATCH", f"/messages/{own['id']}", json={"body": "x"}),
            await who.call("DELETE", f"/messages/{own['id']}"),
            await who.post(f"/messages/{other['id']}/reactions", {"emoji": "x"}),
            await who.call("DELETE", f"/messages/{other['id']}/reactions", json={"emoji": "x"}),
            await who.post(f"/messages/{elsewhere['id']}/forward", {"conversationId": direct}),
        ):
            assert (answer.status, answer.code) == (403, "DIRECT_INTERACTION_BLOCKED")
        assert await who.direct("bob" if who is alice else "alice") == direct
        assert len(await who.listed(here)) == 2
        assert await who.listed("/search/messages?q=hers")
        await who.read(direct, other["id"])
        out = {"conversationId": group}
        assert (await who.post(f"/messages/{own['id']}/forward", out)).status == 201
    await alice.send(group, "groups go on")
    for _ in range(2):
        assert (await unblock(alice, "bob")).json == {"ok": True}
    await bob.send(direct, "again")


async def test_a_block_stops_a_new_direct_conversation(person: People) -> None:
    alice, bob, carol = person("alice"), person("bob"), person("carol")
    await block(alice, "bob")
    for who, whom in ((alice, "bob"), (bob, "alice")):
        answer = await who.post("/conversations", {"otherUserId": whom})
        assert (answer.status, answer.code) == (403, "DIRECT_INTERACTION_BLOCKED")
    await carol.direct("alice")
    await block(bob, "alice")
    await unblock(alice, "bob")
    assert (await alice.post("/conversations", {"otherUserId": "bob"})).status == 403
    await unblock(bob, "alice")
    direct = await bob.direct("alice")
    assert (await bob.send(direct, "hi"))["seq"] == 1


async def test_a_deleted_message_can_be_deleted_under_a_block(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    message = await alice.send(await alice.direct("bob"), "hi")
    await alice.delete(message["id"])
    await block(bob, "alice")
    assert (await alice.call("DELETE", f"/messages/{message['id']}")).status == 200


async def test_blocks_of_a_user_are_listed(person: People) -> None:
    alice = person("alice")
    for user_id in ("bob", "carol", "dave"):
        await block(alice, user_id)
    await block(person("bob"), "alice")
    page = (await alice.get("/moderation/blocks?limit=2")).json
    assert [each["blockedUserId"] for each in page["blocks"]] == ["dave", "carol"]
    rest = await alice.get(f"/moderation/blocks?cursor={page['nextCursor']}")
    assert [each["blockedUserId"] for each in rest.json["blocks"]] == ["bob"]
    assert rest.json["nextCursor"] is None


@pytest.mark.parametrize("user_id", [None, "", " ", 7, ["bob"], {"$ne": ""}, "x" * 257, "alice"])
async def test_blocks_that_are_refused(person: People, user_id: Any) -> None:
    answer = await block(person("alice"), user_id)
    assert (answer.status, answer.code) == (400, "INVALID_INPUT")
    if user_id != "alice":
        assert (await unblock(person("alice"), user_id)).code == "INVALID_INPUT"


async def test_mutes_are_a_hint(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    direct, group = await alice.direct("bob"), await bob.group("alice")
    made = await alice.post("/moderation/mutes", {"conversationId": direct})
    assert made.json["mute"] == {
        "userId": "alice",
        "conversationId": direct,
        "createdAt": made.json["mute"]["createdAt"],
    }
    again = await alice.post("/moderation/mutes", {"conversationId": direct})
    assert again.json == made.json
    await alice.post("/moderation/mutes", {"conversationId": group})
    page = (await alice.get("/moderation/mutes?limit=1")).json
    assert [each["conversationId"] for each in page["mutes"]] == [group]
    async with alice.tab() as tab:
        await bob.send(direct, "hi")
        assert await tab.bodies(1) == ["hi"]
    assert await alice.unread(direct) == 1
    body = {"conversationId": group}
    await bob.call("DELETE", f"/conversations/{group}/participants", json={"userId": "alice"})
    for _ in range(2):
        answer = await alice.call("DELETE", "/moderation/mutes", json=body)
        assert answer.json == {"ok": True}
    for where, status, code in (
        (group, 403, "FORBIDDEN_READ"),
        ("none", 404, "CONVERSATION_NOT_FOUND"),
        ("", 400, "INVALID_INPUT"),
    ):
        answer = await alice.post("/moderation/mutes", {"conversationId": where})
        assert (answer.status, answer.code) == (status, code)


async def test_a_report_keeps_its_evidence(moderated: People) -> None:
    alice, bob, mod = moderated("alice"), moderated("bob"), moderated("mod")
    group = await alice.group("bob", name="Tea")
    message = await bob.send(group, "an insult")
    of_message = await report(alice, "message", message["id"], "  rude ")
    assert of_message.status == 200
    made = of_message.json["report"]
    assert made == {
        "id": made["id"],
        "reporterUserId": "alice",
        "targetType": "message",
        "targetId": message["id"],
        "reason": "rude",
        "status": "open",
        "moderatorNote": None,
        "evidence": {
            "targetType": "message",
            "messageId": message["id"],
            "conversationId": group,
            "senderId": "bob",
            "body": "an insult",
            "createdAt": message["createdAt"],
            "deletedAt": None,
        },
        "createdAt": made["createdAt"],
        "updatedAt": made["createdAt"],
        "resolvedBy": None,
    }
    await bob.edit(message["id"], "nothing")
    await bob.delete(message["id"])
    assert (await report(alice, "message", message["id"], "again")).json == of_message.json
    assert (await mod.get(f"/moderation/reports/{made['id']}")).json == of_message.json
    late = (await report(bob, "message", message["id"])).json["report"]["evidence"]
    assert (late["body"], late["deletedAt"] is None) == ("", False)
    of_group = (await report(alice, "conversation", group)).json["report"]["evidence"]
    assert of_group == {
        "targetType": "conversation",
        "conversationId": group,
        "type": "group",
        "name": "Tea",
        "participantIds": ["alice", "bob"],
    }
    of_user = (await report(alice, "user", "bob")).json["report"]["evidence"]
    assert of_user == {"targetType": "user"}


async def test_reports_that_are_refused(moderated: People) -> None:
    alice, eve = moderated("alice"), moderated("eve")
    group = await alice.group()
    message = await alice.send(group, "hi")
    for who, kind, target, reason, code in (
        (alice, "user", "alice", "x", "INVALID_INPUT"),
        (alice, "user", "bob", " ", "INVALID_INPUT"),
        (alice, "user", "bob", "x" * 1_001, "INVALID_INPUT"),
        (alice, "user", "bob", None, "INVALID_INPUT"),
        (alice, "room", "bob", "x", "INVALID_INPUT"),
        (alice, "user", "", "x", "INVALID_INPUT"),
        (alice, "message", "none", "x", "MESSAGE_NOT_FOUND"),
        (alice, "conversation", "none", "x", "CONVERSATION_NOT_FOUND"),
        (eve, "message", message["id"], "x", "FORBIDDEN_READ"),
        (eve, "conversation", group, "x", "FORBIDDEN_READ"),
    ):
        assert (await report(who, kind, target, reason)).code == code


async def test_a_note_is_shown_to_moderators_only(moderated: People, database: Database) -> None:
    """Who reports again reads their own report, not what moderators have noted; one who may
    moderate reads that too."""
    for who, seen in (("alice", None), ("mod", "careful")):
        made = (await report(moderated(who), "user", "bob")).json["report"]
        await settle(moderated("mod"), made["id"], status="triaged", moderatorNote="careful")
        again = (await report(moderated(who), "user", "bob")).json["report"]
        assert (again["id"], again["moderatorNote"]) == (made["id"], seen)
        in_process = await moderated(who).chat.api.moderation.report(who, "user", "bob", "x")
        assert in_process.moderator_note == seen
        row = await database["reports"].find_one({"_id": made["id"]})
        assert row is not None
        assert row["moderatorNote"] == "careful"


async def test_moderators_work_on_reports(moderated: People, database: Database) -> None:
    alice, mod = moderated("alice"), moderated("mod")
    made = (await report(alice, "user", "bob")).json["report"]
    for given in (
        {},
        {"status": "open"},
        {"status": "closed"},
        {"status": "triaged", "moderatorNote": 7},
        {"status": "triaged", "moderatorNote": "x" * 2_001},
    ):
        answer = await settle(mod, made["id"], **given)
        assert (answer.status, answer.code) == (400, "INVALID_INPUT")
    triaged = (await settle(mod, made["id"], status="triaged", moderatorNote=" look ")).json
    assert triaged["report"]["moderatorNote"] == "look"
    hidden = {"report": {**triaged["report"], "moderatorNote": None}}
    assert (await report(alice, "user", "bob")).json == hidden
    resolved = (await settle(mod, made["id"], status="resolved")).json["report"]
    assert (resolved["status"], resolved["moderatorNote"], resolved["resolvedBy"]) == (
        "resolved",
        "look",
        "mod",
    )
    assert resolved["evidence"] == made["evidence"]
    second = (await report(alice, "user", "bob")).json["report"]
    assert second["id"] != made["id"]
    back = (await settle(mod, made["id"], status="triaged", moderatorNote=None)).json["report"]
    assert (back["status"], back["moderatorNote"], back["resolvedBy"]) == ("triaged", None, None)
    assert (await report(alice, "user", "bob")).json["report"]["id"] == second["id"]
    await settle(mod, second["id"], status="dismissed")
    await settle(mod, made["id"], status="triaged")
    assert (await report(alice, "user", "bob")).json["report"]["id"] == made["id"]
    trail = await database["audit"].find({"targetId": made["id"]}).sort("at").to_list()
    assert [(each["from"], each["to"]) for each in trail] == [
        ("open", "triaged"),
        ("triaged", "resolved"),
        ("resolved", "triaged"),
        ("triaged", "triaged"),
    ]
    assert {each["actorUserId"] for each in trail} == {"mod"}
    assert (await settle(mod, "none", status="resolved")).code == "REPORT_NOT_FOUND"
    assert (await mod.get("/moderation/reports/" + "x" * 300)).code == "REPORT_NOT_FOUND"


async def test_an_open_report_keeps_or_gets_its_place(moderated: People) -> None:
    alice, mod = moderated("alice"), moderated("mod")
    first = (await report(alice, "user", "bob")).json["report"]["id"]
    await settle(mod, first, status="resolved")
    second = (await report(alice, "user", "bob")).json["report"]["id"]
    await settle(mod, first, status="triaged")
    await settle(mod, second, status="resolved")
    assert (await report(alice, "user", "bob")).json["report"]["id"] == first


async def test_the_trail_is_in_order_when_moderators_are_quick(
    moderated: People, database: Database
) -> None:
    mod = moderated("mod")
    made = (await report(moderated("alice"), "user", "bob")).json["report"]
    statuses = ["triaged", "resolved", "dismissed"] * 8
    await asyncio.gather(*(settle(mod, made["id"], status=each) for each in statuses))
    trail = await database["audit"].find({"targetId": made["id"]}).sort("at").to_list()
    assert [each["from"] for each in trail] == ["open", *(each["to"] for each in trail[:-1])]
    stored = await database["reports"].find_one({"_id": made["id"]})
    assert stored is not None
    assert (stored["status"], stored["updatedAt"]) == (trail[-1]["to"], trail[-1]["at"])


async def test_the_queue_is_filtered_and_paged(moderated: People) -> None:
    alice, mod = moderated("alice"), moderated("mod")
    group = await alice.group()
    for number in range(5):
        await report(alice, "user", f"user {number}")
    of_group = (await report(alice, "conversation", group)).json["report"]
    await settle(mod, of_group["id"], status="dismissed")

    async def listed(query: str) -> list[str]:
        answer = await mod.get(f"/moderation/reports{query}")
        assert answer.status == 200, answer
        return [each["targetId"] for each in answer.json["reports"]]

    assert await listed("?status=dismissed") == [group]
    assert await listed("?targetType=conversation&status=open") == []
    users = [f"user {number}" for number in reversed(range(5))]
    assert await listed("?targetType=user&status=open") == users
    page = (await mod.get("/moderation/reports?limit=4")).json
    assert await listed(f"?cursor={page['nextCursor']}") == users[3:]
    for query in ("?status=x", "?targetType=x", "?limit=0", "?cursor=x", "?status="):
        assert (await mod.get(f"/moderation/reports{query}")).code == "INVALID_INPUT"


async def test_a_ban_keeps_out_of_everything(moderated: People) -> None:
    mod, mallory = moderated("mod"), moderated("mallory")
    direct = await mallory.direct("bob")
    async with mallory.tab() as tab, moderated("bob").tab() as other:
        made = await ban(mod, "mallory", reason=" spam ")
        assert made.status == 200
        assert made.json["ban"] == {
            "id": made.json["ban"]["id"],
            "userId": "mallory",
            "createdByUserId": "mod",
            "reason": "spam",
            "createdAt": made.json["ban"]["createdAt"],
            "expiresAt": None,
            "revokedAt": None,
            "revokedByUserId": None,
        }
        assert (await ban(mod, "mallory", reason="other")).json == made.json
        await tab.end()
        await moderated("bob").send(direct, "for bob")
        assert await other.bodies(1) == ["for bob"]
    for method, path in [*((each.method, each.path) for each in ROUTES), ("GET", "/nowhere")]:
        answer = await mallory.call(method, path.replace("{", "").replace("}", ""))
        assert (answer.status, answer.code) == (403, "USER_BANNED"), path
    path = f"/moderation/bans/{made.json['ban']['id']}"
    revoked = await mod.call("DELETE", path)
    assert revoked.json["ban"]["revokedByUserId"] == "mod"
    assert revoked.json["ban"]["revokedAt"] is not None
    assert (await mod.call("DELETE", path)).json == revoked.json
    await mallory.send(direct, "back")
    again = await ban(mod, "mallory")
    assert again.json["ban"]["id"] != made.json["ban"]["id"]


async def test_a_ban_ends_by_itself(moderated: People, database: Database) -> None:
    mod, mallory = moderated("mod"), moderated("mallory")
    made = (await ban(mod, "mallory", expiresAt=later(hours=1))).json["ban"]
    assert made["expiresAt"].endswith("Z")
    assert (await mallory.get("/conversations")).code == "USER_BANNED"
    past = {"$set": {"expiresAt": datetime.now(UTC) - timedelta(seconds=1)}}
    await database["bans"].update_one({"_id": made["id"]}, past)
    await mod.told_all()
    assert (await mallory.get("/conversations")).status == 200
    assert (await mod.get("/moderation/bans")).json["bans"] == []
    second = (await ban(mod, "mallory")).json["ban"]
    assert second["id"] != made["id"]
    everything = (await mod.get("/moderation/bans?activeOnly=false&limit=1")).json
    assert [each["id"] for each in everything["bans"]] == [second["id"]]
    rest = await mod.get(f"/moderation/bans?activeOnly=false&cursor={everything['nextCursor']}")
    assert [each["id"] for each in rest.json["bans"]] == [made["id"]]
    active = (await mod.get("/moderation/bans?activeOnly=true")).json["bans"]
    assert [each["id"] for each in active] == [second["id"]]


@pytest.mark.parametrize(
    "given",
    [
        {"targetUserId": None},
        {"targetUserId": ""},
        {"targetUserId": "mod"},
        {"targetUserId": "x", "reason": "x" * 1_001},
        {"targetUserId": "x", "reason": 7},
        {"targetUserId": "x", "expiresAt": "tomorrow"},
        {"targetUserId": "x", "expiresAt": "2020-01-01T00:00:00Z"},
        {"targetUserId": "x", "expiresAt": "2099-01-01T00:00:00"},
        {"targetUserId": "x", "expiresAt": "2099-01-01"},
        {"targetUserId": "x", "expiresAt": 4_102_444_800},
        {"targetUserId": "x", "expiresAt": "0001-01-01T00:00:00+23:59"},
    ],
)
async def test_bans_that_are_refused(
    moderated: People, database: Database, given: dict[str, Any]
) -> None:
    answer = await moderated("mod").post("/moderation/bans", given)
    assert (answer.status, answer.code) == (400, "INVALID_INPUT")
    assert await database["bans"].count_documents({}) == 0


async def test_rows_of_other_programs(moderated: People, database: Database) -> None:
    """With no more than they need, or with what a program writes for "never"."""
    mod = moderated("mod")
    await database["bans"].insert_one({"_id": "b1", "userId": "one", "revokedAt": None})
    far = Int64(8_640_000_000_000_000)
    row = {"_id": "b2", "userId": "two", "revokedAt": None, "expiresAt": DatetimeMS(int(far))}
    await database["bans"].insert_one(row)
    await mod.told_all()
    for user_id in ("one", "two"):
        assert (await moderated(user_id).get("/conversations")).code == "USER_BANNED"
    listed = (await mod.get("/moderation/bans")).json["bans"]
    assert sorted(each["userId"] for each in listed) == ["one", "two"]
    assert (await ban(mod, "one")).json["ban"]["id"] == "b1"
    revoked = await mod.call("DELETE", "/moderation/bans/b1")
    assert revoked.json["ban"]["revokedByUserId"] == "mod"
    assert (await moderated("one").get("/conversations")).status == 200


async def test_a_block_is_whole_again_after_another_program(
    moderated: People, database: Database
) -> None:
    """The row and the fence in the conversation; blocking and taking back mend both."""
    alice, bob = moderated("alice"), moderated("bob")
    direct = await alice.direct("bob")
    await block(alice, "bob")
    await database["conversations"].update_one({"_id": direct}, {"$set": {"blockedBy": []}})
    await block(alice, "bob")
    answer = await bob.post(f"/conversations/{direct}/messages", {"body": "x"})
    assert answer.code == "DIRECT_INTERACTION_BLOCKED"
    await database["blocks"].delete_many({})
    await unblock(alice, "bob")
    await bob.send(direct, "again")


async def test_what_is_for_moderators_only(moderated: People, person: People) -> None:
    for who in (moderated("alice"), person("mod")):
        for method, path, body in (
            ("GET", "/moderation/reports", None),
            ("GET", "/moderation/reports/none", None),
            ("PATCH", "/moderation/reports/none", {"status": "resolved"}),
            ("GET", "/moderation/bans", None),
            ("POST", "/moderation/bans", {"targetUserId": "bob"}),
            ("DELETE", "/moderation/bans/none", None),
        ):
            answer = await who.call(method, path, **({"json": body} if body else {}))
            assert (answer.status, answer.code) == (403, "NOT_MODERATOR"), path
    assert (await moderated("mod").call("DELETE", "/moderation/bans/none")).code == "BAN_NOT_FOUND"
    answer = await moderated("alice").get("/moderation/bans?activeOnly=yes")
    assert answer.code == "INVALID_INPUT"


async def test_the_host_is_told_what_is_asked(serve: MakePeople) -> None:
    asked: list[ModerationContext] = []

    async def can_moderate(context: ModerationContext) -> bool:
        asked.append(context)
        return True

    mod = (await serve(Hooks(can_moderate=can_moderate)))("mod")
    made = (await ban(mod, "mallory")).json["ban"]
    await mod.call("DELETE", f"/moderation/bans/{made['id']}")
    await mod.get("/moderation/bans")
    assert [(each.user_id, each.action, each.target_user_id) for each in asked] == [
        ("mod", "ban_user", "mallory"),
        ("mod", "unban_user", None),
        ("mod", "list_bans", None),
    ]


async def test_an_installation_without_moderation(serve: MakePeople) -> None:
    hooks = Hooks(can_moderate=is_mod)
    person = await serve(hooks, without={Capability.MODERATION})
    alice, mod = person("alice"), person("mod")
    for who, method, path, body in (
        (alice, "POST", "/moderation/blocks", {"targetUserId": "bob"}),
        (alice, "DELETE", "/moderation/blocks", {"targetUserId": "bob"}),
        (alice, "GET", "/moderation/blocks", None),
        (alice, "POST", "/moderation/mutes", {"conversationId": "none"}),
        (alice, "DELETE", "/moderation/mutes", {"conversationId": "none"}),
        (alice, "GET", "/moderation/mutes", None),
        (
            alice,
            "POST",
            "/moderation/reports",
            {"targetType": "user", "targetId": "b", "reason": "x"},
        ),
        (mod, "GET", "/moderation/reports", None),
        (mod, "GET", "/moderation/reports/none", None),
        (mod, "PATCH", "/moderation/reports/none", {"status": "resolved"}),
        (mod, "GET", "/moderation/bans", None),
        (mod, "POST", "/moderation/bans", {"targetUserId": "bob"}),
        (mod, "DELETE", "/moderation/bans/none", None),
    ):
        answer = await who.call(method, path, **({"json": body} if body else {}))
        assert (answer.status, answer.code) == (501, "MODERATION_UNSUPPORTED"), path
    assert (await alice.get("/moderation/bans")).code == "NOT_MODERATOR"


@pytest.mark.parametrize(
    ("hooks", "enforce", "refused"),
    [
        (Hooks(can_moderate=is_mod), None, True),
        (Hooks(can_moderate=is_mod), False, False),
        (Hooks(), None, False),
        (Hooks(), True, True),
    ],
)
async def test_where_bans_are_enforced(
    serve: MakePeople, database: Database, hooks: Hooks, enforce: bool | None, refused: bool
) -> None:
    """The row is another program's."""
    mallory = (await serve(hooks, enforce_bans=enforce))("mallory")
    assert (await mallory.get("/conversations")).status == 200
    await database["bans"].insert_one({"_id": "b", "userId": "mallory", "revokedAt": None})
    await mallory.told_all()
    assert (await mallory.get("/conversations")).status == (403 if refused else 200)


async def test_the_server_api_moderates(make_chat: MakeChat) -> None:
    chat: Chat = await make_chat(Hooks(can_moderate=is_mod))
    moderation = chat.api.moderation
    direct = await chat.api.get_or_create_conversation("alice", "bob")
    await moderation.block_user("alice", "bob")
    with pytest.raises(DirectInteractionBlocked):
        await chat.api.send_message("bob", direct.id, "hi")
    assert len((await moderation.list_blocked_users("alice")).blocks) == 1
    await moderation.unblock_user("alice", "bob")
    await moderation.mute_conversation("alice", direct.id)
    assert len((await moderation.list_muted_conversations("alice")).mutes) == 1
    await moderation.unmute_conversation("alice", direct.id)
    made = await moderation.report("alice", "user", "bob", "spam")
    assert (await moderation.list_reports("mod", status="open")).reports == (made,)
    assert await moderation.get_report("mod", made.id) == made
    settled = await moderation.update_report("mod", made.id, "resolved", moderator_note="ok")
    assert settled.moderator_note == "ok"
    until = datetime.now(UTC) + timedelta(days=1)
    banned = await moderation.ban_user("mod", target_user_id="bob", expires_at=until)
    with pytest.raises(UserBanned):
        await chat.api.list_conversations("bob")
    with pytest.raises(UserBanned):
        await moderation.list_blocked_users("bob")
    assert (await moderation.list_bans("mod")).bans == (banned,)
    await moderation.unban_user("mod", banned.id)
    assert (await moderation.list_bans("mod", active_only=False)).bans[0].revoked_at is not None
    await chat.api.list_conversations("bob")
