"""The rules of opening, listing and reading conversations."""

from tests.scenarios.model.pages import Page
from tests.scenarios.model.showing import is_in_main, shown
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
    for conversation in world.conversations.values():
        if conversation["type"] == "direct" and members(conversation) == pair:
            return Reply({"conversation": viewed(world, conversation, user_id)})
    world.require_known([other_user_id])
    require(not world.are_blocked(*pair), "DIRECT_INTERACTION_BLOCKED")
    made = new_conversation(world, dict.fromkeys(pair, "admin"), metadata, type="direct")
    made["pairKey"] = ":".join(pair)
    return Reply({"conversation": viewed(world, made, user_id)})


def list_conversations(
    world: World,
    user_id: str,
    limit: int | None = None,
    cursor: str | None = None,
    include: list[str] | None = None,
    query: str | None = None,
    unread: bool = False,
    archived: bool | None = None,
    favourite: bool | None = None,
) -> Reply:
    page = Page.of(world, "conversations", limit, cursor)
    require(set(include or ()) <= {"lastMessage", "unread"})
    require(query is None or query.strip())
    mine = [
        conversation
        for conversation in world.conversations.values()
        if user_id in members(conversation)
    ]
    chosen = [
        conversation
        for conversation in mine
        if _matches(conversation, query, user_id)
        and (not unread or unread_of(world, conversation, user_id))
        and _is_wanted(view_of(world, conversation, user_id), archived, favourite)
    ]
    found = page.cut(
        chosen,
        key=lambda row: (world.activity[row["id"]], row["id"]),
        show=lambda row: viewed(world, row, user_id),
    )
    here = [conversation["id"] for conversation in found["conversations"]]
    if "lastMessage" in (include or ()):
        last = {key: _last_message(world, key, user_id) for key in here}
        found["lastMessages"] = {key: value for key, value in last.items() if value}
    if "unread" in (include or ()):
        found["unreadSummaries"] = {key: _head(world, key, user_id) for key in here}
    return Reply(found)


def _matches(conversation: Json, query: str | None, user_id: str) -> bool:
    others = [member for member in members(conversation) if member != user_id]
    texts = [conversation["name"] or "", *others]
    return query is None or any(query.lower() in text.lower() for text in texts)


def _is_wanted(view: Json, archived: bool | None, favourite: bool | None) -> bool:
    """Hidden ones are not listed."""
    return (
        not view["hidden"]
        and archived in (None, view["archived"])
        and favourite in (None, view["favourite"])
    )


def _last_message(world: World, conversation_id: str, user_id: str) -> Json | None:
    """The newest of the main list, if it is not hidden."""
    main = [message for message in said_in(world, conversation_id) if is_in_main(message)]
    newest = max(main, key=lambda message: int(message["seq"]), default=None)
    if newest is None or world.is_hidden(user_id, newest):
        return None
    return shown(world, newest, user_id)


def _head(world: World, conversation_id: str, user_id: str) -> Json:
    waiting = unread_in(world, world.conversations[conversation_id], user_id)
    there = [message for message in waiting if message["deletedAt"] is None]
    return {
        "seq": len(said_in(world, conversation_id)),
        "firstUnreadSeq": min((message["seq"] for message in waiting), default=None),
        "unreadMentionCount": sum(user_id in message["mentions"] for message in there),
    }


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
        world.hidden[conversation["id"], user_id] = len(said_in(world, conversation["id"]))
    new = {
        "conversationId": conversation["id"],
        "userId": user_id,
        "role": role,
        "joinedAt": world.now,
        "lastReadMessageId": None,
    }
    conversation["participants"].append(new)
    conversation["participants"].sort(key=lambda member: (member["joinedAt"], member["userId"]))


def viewed(world: World, conversation: Json, user_id: str) -> Json:
    return {
        **conversation,
        "unreadCount": unread_of(world, conversation, user_id),
        "view": view_of(world, conversation, user_id),
    }


def view_of(world: World, conversation: Json, user_id: str) -> Json:
    here = conversation["id"], user_id
    kept = world.views.get(here, {})
    return {
        "archived": kept.get("archived", False),
        "favourite": kept.get("favourite", False),
        "hidden": len(said_in(world, conversation["id"])) <= kept.get("unlisted", -1),
        "clearedUpToSeq": world.hidden.get(here, 0),
    }


def change_view(
    world: World,
    user_id: str,
    conversation_id: str,
    archived: bool | None = None,
    favourite: bool | None = None,
    hidden: bool | None = None,
    clear: bool | None = None,
) -> Reply:
    require(clear or (archived, favourite, hidden) != (None,) * 3)
    found = world.readable(user_id, conversation_id)
    here, last = (conversation_id, user_id), len(said_in(world, conversation_id))
    view = world.views.setdefault(here, {})
    given = {"archived": archived, "favourite": favourite}
    view |= {name: value for name, value in given.items() if value is not None}
    if hidden is not None:
        view["unlisted"] = last if hidden else -1
    if clear:
        world.hidden[here] = last
    return Reply({"conversation": viewed(world, found, user_id)})


def count_unread(world: World, user_id: str) -> Reply:
    """Of what is neither archived nor hidden: all, and what is not muted."""
    found = {
        conversation["id"]: unread_in(world, conversation, user_id)
        for conversation in world.conversations.values()
        if _is_wanted(view_of(world, conversation, user_id), False, None)
    }
    unmuted = {name: value for name, value in found.items() if (user_id, name) not in world.mutes}

    def numbers(of: dict[str, list[Json]]) -> Json:
        messages = [message for messages_here in of.values() for message in messages_here]
        there = [message for message in messages if not message["deletedAt"]]
        return {
            "messages": len(messages),
            "mentions": sum(user_id in message["mentions"] for message in there),
            "conversations": sum(bool(messages_here) for messages_here in of.values()),
        }

    return Reply({"all": numbers(found), "unmuted": numbers(unmuted)})


def unread_of(world: World, conversation: Json, user_id: str) -> int:
    return len(unread_in(world, conversation, user_id))


def unread_in(world: World, conversation: Json, user_id: str) -> list[Json]:
    """The messages of others behind what somebody has read, or from where they marked as unread."""
    if user_id not in members(conversation):
        return []
    last = participant(conversation, user_id)["lastReadMessageId"]
    seen = world.messages[last]["seq"] if last else 0
    if marked := world.unread_from.get((conversation["id"], user_id)):
        seen = min(seen, marked - 1)
    return [
        message
        for message in said_in(world, conversation["id"])
        if message["seq"] > seen
        and message["senderId"] != user_id
        and not world.is_hidden(user_id, message)
    ]


def said_in(world: World, conversation_id: str) -> list[Json]:
    return [
        message
        for message in world.messages.values()
        if message["conversationId"] == conversation_id
    ]
