"""The rules of messages: sending and changing them, reacting, marking them read."""

from typing import Any

from tests.scenarios.model.showing import is_in_main, shown
from tests.scenarios.model.world import (
    Json,
    Reply,
    World,
    is_accepted,
    is_user_id,
    members,
    participant,
    require,
)

EMOJI_OF_A_MESSAGE = 3
EMOJI_OF_A_USER = 2
REACTIONS_OF_A_MESSAGE = 4


def send_message(
    world: World, user_id: str, conversation_id: str, body: str, **given: Any
) -> Reply:
    require(body.strip())
    _require_shape(given)
    root_id = given.get("thread_root_message_id")
    require(root_id or not given.get("also_send_to_main"))
    conversation = world.writable(user_id, conversation_id)
    request = {"body": body, **_request(given)}
    if again := _repeated(world, user_id, conversation_id, request, given):
        return again
    world.require_unblocked(conversation)
    if parent_id := given.get("reply_to_message_id"):
        world.require_shown(user_id, world.message_in(conversation_id, parent_id))
    if root_id:
        root = world.message_in(conversation_id, root_id)
        world.require_shown(user_id, root)
        require(is_in_main(root))
    return _write(world, user_id, conversation, body, given, request)


def forward_message(
    world: World, user_id: str, message_id: str, to_conversation_id: str, **given: Any
) -> Reply:
    _require_shape(given)
    require(is_user_id(to_conversation_id))
    source = world.shown_message(user_id, message_id)
    target = world.conversation(to_conversation_id)
    world.readable(user_id, source["conversationId"])
    world.writable(user_id, to_conversation_id)
    request = {"forwarded": message_id, **_request(given)}
    if again := _repeated(world, user_id, to_conversation_id, request, given):
        return again
    world.require_unblocked(target)
    require(source["deletedAt"] is None, "MESSAGE_DELETED")
    origin = {
        "messageId": message_id,
        "conversationId": source["conversationId"],
        "senderId": source["senderId"],
    }
    return _write(world, user_id, target, source["body"], given, request, origin)


def edit_message(
    world: World, user_id: str, message_id: str, body: str, mentions: list[str] | None = None
) -> Reply:
    require(body.strip())
    require(all(map(is_user_id, mentions or ())))
    message = world.shown_message(user_id, message_id)
    require(message["deletedAt"] is None, "MESSAGE_DELETED")
    conversation = _own(world, user_id, message)
    world.require_unblocked(conversation)
    kept = message["mentions"]
    new = [mention for mention in mentions or () if mention not in kept]
    _require_participants(conversation, new)
    require(is_accepted(body), "MESSAGE_REJECTED")
    if mentions is not None:
        stay = {user_id: at for user_id, at in kept.items() if user_id in mentions}
        message["mentions"] = {**stay, **dict.fromkeys(new, world.now)}
    message |= {"body": body, "editedAt": world.now}
    _tell(world, "message.updated", message)
    return Reply({"message": shown(world, message, user_id)})


def delete_message(world: World, user_id: str, message_id: str) -> Reply:
    message = world.message(message_id)
    if message["senderId"] != user_id:
        world.require_shown(user_id, message)
    conversation = _own(world, user_id, message)
    if message["deletedAt"] is None:
        world.require_unblocked(conversation)
        message |= {"body": "", "deletedAt": world.now}
        _tell(world, "message.deleted", message)
    return Reply({"message": shown(world, message, user_id)})


def add_reaction(world: World, user_id: str, message_id: str, emoji: str) -> Reply:
    message, mine = _reactable(world, user_id, message_id, emoji)
    reactions = message["reactions"]
    if mine not in reactions:
        distinct = {chosen for _, chosen in reactions} | {mine[1]}
        require(len(reactions) < REACTIONS_OF_A_MESSAGE, "REACTION_LIMIT_EXCEEDED")
        require(len(distinct) <= EMOJI_OF_A_MESSAGE, "REACTION_LIMIT_EXCEEDED")
        of_user = sum(user == user_id for user, _ in reactions)
        require(of_user < EMOJI_OF_A_USER, "REACTION_LIMIT_EXCEEDED")
        reactions.append(mine)
        _tell(world, "reaction.added", message, actorId=user_id, emoji=mine[1])
    return Reply({"message": shown(world, message, user_id)})


def remove_reaction(world: World, user_id: str, message_id: str, emoji: str) -> Reply:
    message, mine = _reactable(world, user_id, message_id, emoji)
    if mine in message["reactions"]:
        message["reactions"].remove(mine)
        _tell(world, "reaction.removed", message, actorId=user_id, emoji=mine[1])
    return Reply({"message": shown(world, message, user_id)})


def mark_read(world: World, user_id: str, conversation_id: str, message_id: str) -> Reply:
    require(is_user_id(message_id))
    mine = participant(world.readable(user_id, conversation_id), user_id)
    message = world.message_in(conversation_id, message_id)
    world.require_shown(user_id, message)
    last = mine["lastReadMessageId"]
    if last is None or world.messages[last]["seq"] < message["seq"]:
        mine["lastReadMessageId"] = message_id
    if world.unread_from.get((conversation_id, user_id), message["seq"]) <= message["seq"]:
        world.unread_from.pop((conversation_id, user_id), None)
    return Reply({"ok": True})


def mark_unread(world: World, user_id: str, conversation_id: str, message_id: str) -> Reply:
    require(is_user_id(message_id))
    world.readable(user_id, conversation_id)
    message = world.message_in(conversation_id, message_id)
    world.require_shown(user_id, message)
    here = conversation_id, user_id
    world.unread_from[here] = min(message["seq"], world.unread_from.get(here, message["seq"]))
    return Reply({"ok": True})


def _require_shape(given: Json) -> None:
    require(given.get("role") in (None, "user", "assistant", "system"))
    require(all(map(is_user_id, given.get("mentions") or ())))


def _require_participants(conversation: Json, user_ids: list[str]) -> None:
    require(set(user_ids) <= set(members(conversation)), "MENTION_NOT_PARTICIPANT")


def _request(given: Json) -> Json:
    """What is compared where an idempotency key comes again."""
    request = {key: value for key, value in given.items() if value is not None}
    request.pop("client_message_id", None)
    if "mentions" in request:
        request["mentions"] = list(dict.fromkeys(request["mentions"]))
    return request


def _repeated(
    world: World, user_id: str, conversation_id: str, request: Json, given: Json
) -> Reply | None:
    key = given.get("client_message_id")
    for message in world.messages.values():
        place = message["senderId"], message["conversationId"], message["clientMessageId"]
        if key is not None and place == (user_id, conversation_id, key):
            require(message["request"] == request, "MESSAGE_CONFLICT")
            return Reply({"message": shown(world, message, user_id)})
    return None


def _write(
    world: World,
    user_id: str,
    conversation: Json,
    body: str,
    given: Json,
    request: Json,
    origin: Json | None = None,
) -> Reply:
    """A new message behind all others of its conversation."""
    mentions = given.get("mentions") or []
    _require_participants(conversation, mentions)
    require(is_accepted(body), "MESSAGE_REJECTED")
    here = [e for e in world.messages.values() if e["conversationId"] == conversation["id"]]
    made = {
        "id": world.learned("message", "id"),
        "conversationId": conversation["id"],
        "senderId": user_id,
        "body": body,
        "role": given.get("role") or "user",
        "seq": len(here) + 1,
        "createdAt": world.now,
        "editedAt": None,
        "deletedAt": None,
        "replyToMessageId": given.get("reply_to_message_id"),
        "threadRootMessageId": given.get("thread_root_message_id"),
        "alsoSendToMain": given.get("also_send_to_main") or False,
        "clientMessageId": given.get("client_message_id"),
        "forwardedFrom": origin,
        "metadata": given.get("metadata") or {},
        "reactions": [],
        "mentions": dict.fromkeys(mentions, world.now),
        "request": request,
    }
    world.messages[made["id"]] = made
    world.activity[conversation["id"]] = world.now
    _tell(world, "message.created", made)
    return Reply({"message": shown(world, made, user_id)}, 201)


def _own(world: World, user_id: str, message: Json) -> Json:
    require(message["senderId"] == user_id, "NOT_MESSAGE_SENDER")
    return world.writable(user_id, message["conversationId"])


def _reactable(
    world: World, user_id: str, message_id: str, emoji: str
) -> tuple[Json, tuple[str, str]]:
    require(1 <= len(emoji.strip()) <= 32)
    message = world.shown_message(user_id, message_id)
    conversation = world.writable(user_id, message["conversationId"])
    world.require_unblocked(conversation)
    return message, (user_id, emoji.strip())


def _tell(world: World, kind: str, message: Json, **of: str) -> None:
    conversation = world.conversations[message["conversationId"]]
    position = f"{conversation['id']}:{message['seq']}" if kind.startswith("message.") else None
    for user_id in members(conversation):
        if not world.is_hidden(user_id, message):
            seen = shown(world, message, user_id)
            world.tell_one(user_id, conversation, kind, id=position, message=seen, **of)
