"""The rules of getting into a group: invites, join requests, channels."""

from tests.scenarios.model.conversations import viewed
from tests.scenarios.model.groups import let_in, resolve
from tests.scenarios.model.pages import Page
from tests.scenarios.model.world import Json, Refused, Reply, World, is_user_id, members, require

TEN_YEARS = 10 * 365 * 24 * 3600


def create_invite(
    world: World,
    user_id: str,
    conversation_id: str,
    expires_in_seconds: int | None = None,
    max_uses: int | None = None,
    requires_approval: bool | None = None,
    metadata: Json | None = None,
) -> Reply:
    world.managed(user_id, conversation_id)
    require(expires_in_seconds is None or 1 <= expires_in_seconds <= TEN_YEARS)
    require(max_uses is None or 1 <= max_uses <= 1_000_000)
    made: Json = {
        "code": world.learned("invite", "code"),
        "conversationId": conversation_id,
        "createdBy": user_id,
        "createdAt": world.now,
        "expiresAt": None if expires_in_seconds is None else world.later(expires_in_seconds),
        "maxUses": max_uses,
        "uses": 0,
        "requiresApproval": requires_approval or False,
        "metadata": metadata or {},
    }
    require(len(made["code"]) == 43, "(a code of 43 characters)")
    world.invites[made["code"]] = made
    return Reply({"invite": made}, 201)


def list_invites(world: World, user_id: str, conversation_id: str) -> Reply:
    world.managed(user_id, conversation_id)
    mine = [
        invite for invite in world.invites.values() if invite["conversationId"] == conversation_id
    ]
    newest = sorted(mine, key=lambda invite: (invite["createdAt"], invite["code"]), reverse=True)
    return Reply({"invites": newest})


def revoke_invite(world: World, user_id: str, code: str) -> Reply:
    if code in world.invites:
        revoke_invite_of(world, user_id, world.invites[code]["conversationId"], code)
    return Reply({"ok": True})


def revoke_invite_of(world: World, user_id: str, conversation_id: str, code: str) -> Reply:
    world.managed(user_id, conversation_id)
    if code in world.invites and world.invites[code]["conversationId"] == conversation_id:
        del world.invites[code]
    return Reply({"ok": True})


def get_invite_preview(world: World, user_id: str, code: str) -> Reply:
    invite, group = _invite(world, code)
    inside = user_id in members(group)
    require(inside or not _is_spent(world, invite), "INVITE_EXPIRED")
    preview = {
        "conversationId": group["id"],
        "name": group["name"],
        "participantCount": len(members(group)),
        "requiresApproval": invite["requiresApproval"],
        "invitedBy": invite["createdBy"],
        "alreadyParticipant": inside,
    }
    return Reply({"invite": preview})


def accept_invite(world: World, user_id: str, code: str, message: str | None = None) -> Reply:
    _require_note(message)
    invite, group = _invite(world, code)
    if user_id in members(group):
        return _joined(world, group, user_id)
    waiting = _pending(world, group, user_id)
    if waiting and invite["requiresApproval"]:
        return _waiting(waiting)
    require(not _is_spent(world, invite), "INVITE_EXPIRED")
    invite["uses"] += 1
    if invite["requiresApproval"]:
        return _waiting(_ask(world, group, user_id, message, code))
    let_in(world, group, [user_id], actor_id=invite["createdBy"])
    return _joined(world, group, user_id)


def request_to_join(
    world: World, user_id: str, conversation_id: str, message: str | None = None
) -> Reply:
    _require_note(message)
    group = world.group(conversation_id)
    require(user_id not in members(group), "ALREADY_PARTICIPANT")
    return Reply({"joinRequest": _ask(world, group, user_id, message, None)}, 201)


def list_join_requests(
    world: World,
    user_id: str,
    conversation_id: str,
    status: str | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> Reply:
    require(status in (None, "pending", "approved", "denied"))
    page = Page.of(world, "joinRequests", limit, cursor)
    world.managed(user_id, conversation_id)
    wanted = conversation_id, status or "pending"
    found = [
        request
        for request in world.requests.values()
        if (request["conversationId"], request["status"]) == wanted
    ]
    return Reply(page.cut(found, key=lambda request: (request["createdAt"], request["id"])))


def resolve_join_request(
    world: World, user_id: str, conversation_id: str, target_user_id: str, decision: str
) -> Reply:
    require(is_user_id(target_user_id))
    require(decision in ("approve", "deny"))
    group = world.managed(user_id, conversation_id)
    request = _pending(world, group, target_user_id)
    if request is None:
        raise Refused("JOIN_REQUEST_NOT_FOUND")
    if decision == "approve":
        let_in(world, group, [target_user_id], actor_id=user_id)
        return Reply({"joinRequest": request, "conversation": viewed(world, group, user_id)})
    resolve(world, request, "denied", user_id)
    return Reply({"joinRequest": request, "conversation": None})


SHOWN_OF_CHANNELS = ("name", "joinPolicy", "createdAt", "metadata", "topic")


def list_public_conversations(
    world: World, user_id: str, limit: int | None = None, cursor: str | None = None
) -> Reply:
    page = Page.of(world, "channels", limit, cursor)
    public = [
        conversation
        for conversation in world.conversations.values()
        if conversation["visibility"] == "public"
    ]

    def shown(group: Json) -> Json:
        return {
            "conversationId": group["id"],
            "participantCount": len(members(group)),
            "alreadyParticipant": user_id in members(group),
            "requestPending": _pending(world, group, user_id) is not None,
            **{key: group[key] for key in SHOWN_OF_CHANNELS},
        }

    return Reply(page.cut(public, lambda group: (world.activity[group["id"]], group["id"]), shown))


def join_conversation(
    world: World, user_id: str, conversation_id: str, message: str | None = None
) -> Reply:
    _require_note(message)
    group = world.group(conversation_id)
    require(group["visibility"] == "public", "NOT_PUBLIC_CONVERSATION")
    require(user_id not in members(group), "ALREADY_PARTICIPANT")
    if group["joinPolicy"] == "approval":
        return _waiting(_ask(world, group, user_id, message, None))
    let_in(world, group, [user_id], actor_id=user_id)
    return _joined(world, group, user_id)


def _invite(world: World, code: str) -> tuple[Json, Json]:
    require(code in world.invites, "INVITE_NOT_FOUND")
    invite = world.invites[code]
    return invite, world.conversations[invite["conversationId"]]


def _is_spent(world: World, invite: Json) -> bool:
    expired = invite["expiresAt"] is not None and invite["expiresAt"] <= world.now
    return expired or (invite["maxUses"] is not None and invite["uses"] >= invite["maxUses"])


def _pending(world: World, group: Json, user_id: str) -> Json | None:
    request = world.requests.get((group["id"], user_id))
    return request if request and request["status"] == "pending" else None


def _ask(world: World, group: Json, user_id: str, message: str | None, code: str | None) -> Json:
    """One's pending request, or a new one in the place of one that was decided."""
    if waiting := _pending(world, group, user_id):
        return waiting
    request = {
        "id": world.learned("joinRequest", "id"),
        "conversationId": group["id"],
        "userId": user_id,
        "status": "pending",
        "message": (message or "").strip() or None,
        "inviteCode": code,
        "createdAt": world.now,
        "resolvedAt": None,
        "resolvedBy": None,
        "metadata": {},
    }
    world.requests[group["id"], user_id] = request
    return request


def _joined(world: World, group: Json, user_id: str) -> Reply:
    shown = viewed(world, group, user_id)
    return Reply({"status": "joined", "conversation": shown, "joinRequest": None})


def _waiting(request: Json) -> Reply:
    return Reply({"status": "pending", "conversation": None, "joinRequest": request})


def _require_note(message: str | None) -> None:
    require(message is None or len(message.strip()) <= 500)
