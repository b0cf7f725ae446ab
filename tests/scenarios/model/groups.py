"""The rules of groups: making and changing them, and who is in them."""

from tests.scenarios.model.conversations import enter, new_conversation, viewed
from tests.scenarios.model.world import (
    Json,
    Refused,
    Reply,
    World,
    admins,
    is_moderator,
    is_user_id,
    members,
    participant,
    require,
    role_of,
)

ABSENT = "(absent)"


def create_group_conversation(
    world: World,
    user_id: str,
    user_ids: list[str] | None = None,
    name: str | None = None,
    visibility: str | None = None,
    join_policy: str | None = None,
    metadata: Json | None = None,
) -> Reply:
    require(all(map(is_user_id, user_ids or ())))
    named = _named(name)
    _require_policies(visibility, join_policy)
    others = [other for other in dict.fromkeys(user_ids or ()) if other != user_id]
    world.require_known(others)
    roles = {user_id: "admin", **dict.fromkeys(others, "member")}
    made = new_conversation(world, roles, metadata, type="group", name=named)
    made["visibility"] = visibility or "private"
    made["joinPolicy"] = join_policy or "approval"
    if others:
        tell(world, "participant.added", made, user_id, others)
    return Reply({"conversation": viewed(world, made, user_id)}, 201)


def update_conversation(
    world: World,
    user_id: str,
    conversation_id: str,
    name: str | None = ABSENT,
    visibility: str | None = None,
    join_policy: str | None = None,
    history: str | None = None,
) -> Reply:
    changes: Json = {} if name == ABSENT else {"name": _named(name)}
    _require_policies(visibility, join_policy)
    require(history in (None, "all", "since_join"))
    changes |= {"history": history} if history else {}
    changes |= {"visibility": visibility} if visibility else {}
    changes |= {"joinPolicy": join_policy} if join_policy else {}
    require(changes)
    group = world.managed(user_id, conversation_id)
    if any(group[key] != value for key, value in changes.items()):
        group |= changes
        tell(world, "conversation.updated", group, user_id, [])
    return Reply({"conversation": viewed(world, group, user_id)})


def add_participants(
    world: World, user_id: str, conversation_id: str, user_ids: list[str]
) -> Reply:
    require(all(map(is_user_id, user_ids)))
    group = world.managed(user_id, conversation_id)
    world.require_known([other for other in user_ids if other != user_id])
    let_in(world, group, user_ids, actor_id=user_id)
    return Reply({"conversation": viewed(world, group, user_id)})


def remove_participant(
    world: World, user_id: str, conversation_id: str, target_user_id: str
) -> Reply:
    require(is_user_id(target_user_id))
    leaving = target_user_id == user_id
    group = world.group(conversation_id) if leaving else world.managed(user_id, conversation_id)
    if target_user_id not in members(group):
        require(not leaving, "NOT_CONVERSATION_ADMIN")
        return Reply({"conversation": viewed(world, group, user_id)})
    require(admins(group) != [target_user_id], "LAST_ADMIN_REMAINING")
    group["participants"].remove(participant(group, target_user_id))
    for kept in (world.hidden, world.unread_from, world.views):
        kept.pop((conversation_id, target_user_id), None)
    tell(world, "participant.removed", group, user_id, [target_user_id])
    return Reply({"conversation": viewed(world, group, user_id)})


def set_participant_role(
    world: World, user_id: str, conversation_id: str, target_user_id: str, role: str
) -> Reply:
    require(is_user_id(target_user_id))
    require(role in ("admin", "member"))
    group = world.managed(user_id, conversation_id)
    held = role_of(group, target_user_id)
    require(held)
    if held != role:
        require(role == "admin" or admins(group) != [target_user_id], "LAST_ADMIN_REMAINING")
        participant(group, target_user_id)["role"] = role
        tell(world, "conversation.updated", group, user_id, [target_user_id])
    return Reply({"conversation": viewed(world, group, user_id)})


def set_participants(
    world: World, user_id: str, conversation_id: str, participants: dict[str, str]
) -> Reply:
    """All at once: who leaves gets the first event, who joins the others."""
    require(all(map(is_user_id, participants)))
    require(all(role in ("admin", "member") for role in participants.values()))
    group = world.managed(user_id, conversation_id)
    require("admin" in participants.values(), "LAST_ADMIN_REMAINING")
    before = {member["userId"]: member["role"] for member in group["participants"]}
    new = [user for user in participants if user not in before]
    world.require_known([user for user in new if user != user_id])
    gone = [user for user in before if user not in participants]
    changed = [user for user in before if participants.get(user, before[user]) != before[user]]
    group["participants"] = [
        {**member, "role": participants[member["userId"]]}
        for member in group["participants"]
        if member["userId"] in participants
    ]
    for leaver in gone:
        for kept in (world.hidden, world.unread_from, world.views):
            kept.pop((conversation_id, leaver), None)
    for joiner in new:
        enter(world, group, joiner, participants[joiner])
        approve_pending(world, group, joiner, user_id)
    by = {"actorId": user_id, "conversation": group}
    for reader in before if gone else ():
        of = {**by, "affectedUserIds": sorted(gone)}
        world.tell_one(reader, group, "participant.removed", **of)
    for kind, affected in (("participant.added", new), ("conversation.updated", changed)):
        if affected:
            tell(world, kind, group, user_id, affected)
    return Reply({"conversation": viewed(world, group, user_id)})


def let_in(world: World, group: Json, user_ids: list[str], *, actor_id: str) -> None:
    """Who gets in has no pending request any more: it is approved."""
    new = [newcomer for newcomer in dict.fromkeys(user_ids) if newcomer not in members(group)]
    for user_id in new:
        enter(world, group, user_id, "member")
        approve_pending(world, group, user_id, actor_id)
    if new:
        tell(world, "participant.added", group, actor_id, new)


def approve_pending(world: World, group: Json, user_id: str, actor_id: str) -> None:
    request = world.requests.get((group["id"], user_id))
    if request and request["status"] == "pending":
        resolve(world, request, "approved", actor_id)


def resolve(world: World, request: Json, status: str, user_id: str) -> None:
    request |= {"status": status, "resolvedAt": world.now, "resolvedBy": user_id}


def delete_conversation(
    world: World, user_id: str, conversation_id: str, reason: str | None = None
) -> Reply:
    """Over HTTP, for users whom the host allows it: in these tests, moderators."""
    require(reason is None or len(reason.strip()) <= 1_000)
    gone = world.conversation(conversation_id)
    require(is_moderator(user_id), "NOT_CONVERSATION_ADMIN")
    empty = {**gone, "participants": []}
    by = {"actorId": user_id, "affectedUserIds": sorted(members(gone)), "conversation": empty}
    world.tell(gone, "participant.removed", **by)
    world.forget(conversation_id)
    return Reply({"ok": True})


def tell(world: World, kind: str, group: Json, user_id: str, affected: list[str]) -> None:
    by = {"actorId": user_id, "affectedUserIds": sorted(affected), "conversation": group}
    world.tell(group, kind, *affected, **by)


def _named(name: str | None) -> str | None:
    trimmed = None if name is None else name.strip()
    if trimmed is not None and not 1 <= len(trimmed) <= 200:
        raise Refused("INVALID_INPUT")
    return trimmed


def _require_policies(visibility: str | None, join_policy: str | None) -> None:
    require(visibility in (None, "private", "public"))
    require(join_policy in (None, "open", "approval"))
