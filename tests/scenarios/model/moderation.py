"""The rules of blocks, mutes, reports and bans."""

from tests.scenarios.model.groups import ABSENT
from tests.scenarios.model.pages import Page
from tests.scenarios.model.world import (
    Json,
    Reply,
    World,
    is_moderator,
    is_user_id,
    members,
    require,
)

OPEN = ("open", "triaged")


def block_user(world: World, user_id: str, target_user_id: str) -> Reply:
    require(is_user_id(target_user_id))
    require(target_user_id != user_id)
    new = {
        "blockerUserId": user_id,
        "blockedUserId": target_user_id,
        "createdAt": world.now,
    }
    return Reply({"block": world.blocks.setdefault((user_id, target_user_id), new)})


def unblock_user(world: World, user_id: str, target_user_id: str) -> Reply:
    require(is_user_id(target_user_id))
    world.blocks.pop((user_id, target_user_id), None)
    return Reply({"ok": True})


def list_blocked_users(
    world: World, user_id: str, limit: int | None = None, cursor: str | None = None
) -> Reply:
    page = Page.of(world, "blocks", limit, cursor)
    mine = [block for block in world.blocks.values() if block["blockerUserId"] == user_id]
    return Reply(page.cut(mine, key=lambda block: (block["createdAt"], block["blockedUserId"])))


def mute_conversation(world: World, user_id: str, conversation_id: str) -> Reply:
    require(is_user_id(conversation_id))
    world.readable(user_id, conversation_id)
    new = {"userId": user_id, "conversationId": conversation_id, "createdAt": world.now}
    return Reply({"mute": world.mutes.setdefault((user_id, conversation_id), new)})


def unmute_conversation(world: World, user_id: str, conversation_id: str) -> Reply:
    require(is_user_id(conversation_id))
    world.mutes.pop((user_id, conversation_id), None)
    return Reply({"ok": True})


def list_muted_conversations(
    world: World, user_id: str, limit: int | None = None, cursor: str | None = None
) -> Reply:
    page = Page.of(world, "mutes", limit, cursor)
    mine = [mute for mute in world.mutes.values() if mute["userId"] == user_id]
    return Reply(page.cut(mine, key=lambda mute: (mute["createdAt"], mute["conversationId"])))


def report(world: World, user_id: str, target_type: str, target_id: str, reason: str) -> Reply:
    require(target_type in ("user", "message", "conversation"))
    require(is_user_id(target_id))
    require(1 <= len(reason.strip()) <= 1_000)
    evidence = {"targetType": target_type, **_evidence(world, user_id, target_type, target_id)}
    same = user_id, target_type, target_id
    waiting = [
        stored for stored in world.reports.values() if _about(stored) == same and _is_open(stored)
    ]
    for open_report in waiting:
        if open_report["id"] == world.answer.get("report", {}).get("id", open_report["id"]):
            note = open_report["moderatorNote"] if is_moderator(user_id) else None
            return Reply({"report": {**open_report, "moderatorNote": note}})
    made: Json = {
        "id": world.learned("report", "id"),
        "reporterUserId": user_id,
        "targetType": target_type,
        "targetId": target_id,
        "reason": reason.strip(),
        "status": "open",
        "moderatorNote": None,
        "evidence": evidence,
        "createdAt": world.now,
        "updatedAt": world.now,
        "resolvedBy": None,
    }
    require(not waiting, "(the report that is open)")
    world.reports[made["id"]] = made
    return Reply({"report": made})


def list_reports(
    world: World,
    user_id: str,
    status: str | None = None,
    target_type: str | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> Reply:
    require(status in (None, "open", "triaged", "resolved", "dismissed"))
    require(target_type in (None, "user", "message", "conversation"))
    page = Page.of(world, "reports", limit, cursor)
    world.require_moderator(user_id)
    found = [
        stored
        for stored in world.reports.values()
        if status in (None, stored["status"]) and target_type in (None, stored["targetType"])
    ]
    return Reply(page.cut(found, key=_newest))


def get_report(world: World, user_id: str, report_id: str) -> Reply:
    world.require_moderator(user_id)
    require(report_id in world.reports, "REPORT_NOT_FOUND")
    return Reply({"report": world.reports[report_id]})


def update_report(
    world: World, user_id: str, report_id: str, status: str, moderator_note: str | None = ABSENT
) -> Reply:
    require(status in ("triaged", "resolved", "dismissed"))
    world.require_moderator(user_id)
    require(report_id in world.reports, "REPORT_NOT_FOUND")
    found = world.reports[report_id]
    found |= {"status": status, "updatedAt": world.now}
    found["resolvedBy"] = None if _is_open(found) else user_id
    if moderator_note != ABSENT:
        found["moderatorNote"] = moderator_note
    return Reply({"report": found})


def ban_user(
    world: World,
    user_id: str,
    target_user_id: str,
    reason: str | None = None,
    expires_at: str | None = None,
) -> Reply:
    require(is_user_id(target_user_id))
    world.require_moderator(user_id)
    require(target_user_id != user_id)
    require(expires_at is None or expires_at > world.now)
    for ban in world.bans_of(target_user_id):
        if world.is_in_force(ban):
            return Reply({"ban": ban})
    made: Json = {
        "id": world.learned("ban", "id"),
        "userId": target_user_id,
        "createdByUserId": user_id,
        "reason": reason,
        "createdAt": world.now,
        "expiresAt": expires_at,
        "revokedAt": None,
        "revokedByUserId": None,
    }
    world.bans[made["id"]] = made
    return Reply({"ban": made})


def unban_user(world: World, user_id: str, ban_id: str) -> Reply:
    world.require_moderator(user_id)
    require(ban_id in world.bans, "BAN_NOT_FOUND")
    ban = world.bans[ban_id]
    if ban["revokedAt"] is None:
        ban |= {"revokedAt": world.now, "revokedByUserId": user_id}
    return Reply({"ban": ban})


def list_bans(
    world: World,
    user_id: str,
    active_only: bool = True,
    limit: int | None = None,
    cursor: str | None = None,
) -> Reply:
    page = Page.of(world, "bans", limit, cursor)
    world.require_moderator(user_id)
    found = [ban for ban in world.bans.values() if not active_only or world.is_in_force(ban)]
    return Reply(page.cut(found, key=_newest))


def _evidence(world: World, user_id: str, target_type: str, target_id: str) -> Json:
    if target_type == "user":
        require(target_id != user_id)
        return {}
    if target_type == "conversation":
        found = world.readable(user_id, target_id)
        of = {key: found[key] for key in ("type", "name")}
        return {"conversationId": target_id, "participantIds": members(found), **of}
    message = world.message(target_id)
    world.readable(user_id, message["conversationId"])
    world.require_shown(user_id, message)
    kept = ("conversationId", "senderId", "body", "createdAt", "deletedAt")
    return {"messageId": target_id, **{key: message[key] for key in kept}}


def _about(stored: Json) -> tuple[str, str, str]:
    return stored["reporterUserId"], stored["targetType"], stored["targetId"]


def _is_open(stored: Json) -> bool:
    return stored["status"] in OPEN


def _newest(stored: Json) -> tuple[str, str]:
    return stored["createdAt"], stored["id"]
