"""The rules of opening, listing and reading conversations."""

from tests.scenarios.model.pages import Page
from tests.scenarios.model.world import (
    Json,
    Reply,
    World,
    is_user_id,
    members,
    participant,
    require,
)


def get_or_create_conversation(
    world: World, user_id: str, other_user_id: str, metadata: Json | None = None
) -> Reply:
    require(is_user_id(other_user_id))
    require(other_user_id != user_id)
    pair = sorted((user_id, other_user_id))
    for each in world.conversations.values():
        if each["type"] == "direct" and members(each) == pair:
            return Reply({"conversation": viewed(world, each, user_id)})
    world.require_known([other_user_id])
    require(not world.are_blocked(*pair), "DIRECT_INTERACTION_BLOCKED")
    made = new_conversation(world, dict.fromkeys(pair, "admin"), metadata, type="direct")
    made["pairKey"] = ":".join(pair)
    return Reply({"conversation": viewed(world, made, user_id)})


def list_conversations(
    world: World, user_id: str, limit: int | None = None, cursor: str | None = None
) -> Reply:
    page = Page.of(world, "conversations", limit, cursor)
    mine = [each for each in world.conversations.values() if user_id in members(each)]
    return Reply(
        page.cut(
            mine,
            key=lambda each: (world.activity[each["id"]], each["id"]),
            show=lambda each: viewed(world, each, user_id),
        )
    )


def get_conversation(world: World, user_id: str, conversation_id: str) -> Reply:
    found = world.readable(user_id, conversation_id)
    return Reply({"conversation": viewed(world, found, user_id)})


def new_conversation(
    world: World, roles: dict[str, str], metadata: Json | None, **given: str | None
) -> Json:
    made: Json = {
        "id": world.learned("conversation", "id"),
        "pairKey": None,
        "name": None,
        "createdAt": world.now,
        "metadata": metadata or {},
        "participants": [],
        "visibility": "private",
        "joinPolicy": "approval",
        "frozen": False,
        "slowModeSeconds": 0,
        "topic": "",
        "pinnedMessageIds": [],
        "history": "all",
        **given,
    }
    for user_id, role in roles.items():
        enter(world, made, user_id, role)
    world.conversations[made["id"]] = made
    world.activity[made["id"]] = world.now
    return made


def enter(world: World, conversation: Json, user_id: str, role: str) -> None:
    """In the order of joining, ties by id. What was said before may be hidden from then on."""
    if conversation["history"] == "since_join":
        said = [
            e["seq"] for e in world.messages.values() if e["conversationId"] == conversation["id"]
        ]
        world.hidden[conversation["id"], user_id] = max(said, default=0)
    new = {
        "conversationId": conversation["id"],
        "userId": user_id,
        "role": role,
        "joinedAt": world.now,
        "lastReadMessageId": None,
    }
    conversation["participants"].append(new)
    conversation["participants"].sort(key=lambda each: (each["joinedAt"], each["userId"]))


def viewed(world: World, conversation: Json, user_id: str) -> Json:
    return {**conversation, "unreadCount": unread(world, conversation, user_id)}


def unread(world: World, conversation: Json, user_id: str) -> int:
    if user_id not in members(conversation):
        return 0
    last = participant(conversation, user_id)["lastReadMessageId"]
    seen = world.messages[last]["seq"] if last else 0
    seen = max(seen, world.hidden_from(user_id, conversation["id"]))
    return sum(
        each["conversationId"] == conversation["id"]
        and each["seq"] > seen
        and each["senderId"] != user_id
        for each in world.messages.values()
    )
