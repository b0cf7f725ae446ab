"""What is common to moderation: who may, the trail, the host's hook, the server API."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest.mock import patch

import pytest
from bson import DatetimeMS, Int64

from chat_aio import Chat, Hooks
from chat_aio.capabilities import Capability
from chat_aio.errors import DirectInteractionBlocked, StorageUnavailable, UserBanned
from chat_aio.hooks import ModerationContext
from chat_aio.store import audit
from tests.conftest import Database, MakeChat, MakePeople
from tests.support.moderating import People, ban, is_mod, report, settle


async def test_the_trail_is_in_order_when_moderators_are_quick(
    moderated: People, database: Database
) -> None:
    mod = moderated("mod")
    made = (await report(moderated("alice"), "user", "bob")).json["report"]
    statuses = ["triaged", "resolved", "dismissed"] * 8
    await asyncio.gather(*(settle(mod, made["id"], status=status) for status in statuses))
    trail = await database["audit"].find({"targetId": made["id"]}).sort("at").to_list()
    assert [row["from"] for row in trail] == ["open", *(row["to"] for row in trail[:-1])]
    stored = await database["reports"].find_one({"_id": made["id"]})
    assert stored is not None
    assert (stored["status"], stored["updatedAt"]) == (trail[-1]["to"], trail[-1]["at"])


async def test_every_decision_is_in_the_audit_trail(moderated: People, database: Database) -> None:
    mod = moderated("mod")
    made = (await report(moderated("alice"), "user", "bob")).json["report"]
    await settle(mod, made["id"], status="resolved")
    banned = (await ban(mod, "bob")).json["ban"]
    await mod.call("DELETE", f"/moderation/bans/{banned['id']}")
    # Those that change nothing are no decisions.
    await mod.call("DELETE", f"/moderation/bans/{banned['id']}")
    trail = await database["audit"].find().to_list()
    assert sorted((row["action"], row["actorUserId"], row["targetId"]) for row in trail) == [
        ("ban", "mod", banned["id"]),
        ("report", "mod", made["id"]),
        ("unban", "mod", banned["id"]),
    ]


async def test_a_decision_and_its_audit_entry_are_written_together(
    moderated: People, database: Database
) -> None:
    """If the transaction ends after both, neither is there."""
    mod = moderated("mod")
    made = (await report(moderated("alice"), "user", "bob")).json["report"]
    banned = (await ban(mod, "carol")).json["ban"]
    before = await state(database)
    add = audit.add

    async def last(*given: Any) -> None:
        await add(*given)
        raise StorageUnavailable

    with patch.object(audit, "add", last):
        for answer in (
            await ban(mod, "bob"),
            await mod.call("DELETE", f"/moderation/bans/{banned['id']}"),
            await settle(mod, made["id"], status="resolved"),
        ):
            assert answer.status == 503
    assert await state(database) == before


async def state(database: Database) -> list[dict[str, Any]]:
    """What moderators have decided, and the trail of it."""
    names = ("bans", "reports", "audit")
    return [row for name in names for row in await database[name].find().sort("_id", 1).to_list()]


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
    assert sorted(row["userId"] for row in listed) == ["one", "two"]
    assert (await ban(mod, "one")).json["ban"]["id"] == "b1"
    revoked = await mod.call("DELETE", "/moderation/bans/b1")
    assert revoked.json["ban"]["revokedByUserId"] == "mod"
    assert (await moderated("one").get("/conversations")).status == 200


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
    assert [(context.user_id, context.action, context.target_user_id) for context in asked] == [
        ("mod", "ban_user", "mallory"),
        ("mod", "unban_user", None),
        ("mod", "list_bans", None),
    ]


async def test_an_installation_without_moderation(serve: MakePeople) -> None:
    hooks = Hooks(can_moderate=is_mod)
    person = await serve(hooks, disabled_capabilities={Capability.MODERATION})
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
