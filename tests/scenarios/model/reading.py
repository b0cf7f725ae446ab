"""The rules of lists of messages, and of search."""

from tests.scenarios.model.pages import Page
from tests.scenarios.model.showing import is_in_main, replies_of, shown
from tests.scenarios.model.world import Json, Reply, World, is_user_id, members, require
from tests.support.terms import naive_prefix_score, naive_score


def list_messages(
    world: World,
    user_id: str,
    conversation_id: str,
    limit: int | None = None,
    cursor: str | None = None,
) -> Reply:
    page = Page.of(world, "messages", limit, cursor)
    world.readable(user_id, conversation_id)
    here = _messages_of(world, user_id, conversation_id)
    main = [message for message in here if is_in_main(message)]
    return Reply(page.cut(main, _seq, lambda message: shown(world, message, user_id)))


def get_message(world: World, user_id: str, conversation_id: str, message_id: str) -> Reply:
    world.conversation(conversation_id)
    found = world.message_in(conversation_id, message_id)
    world.readable(user_id, conversation_id)
    world.require_shown(user_id, found)
    return Reply({"message": shown(world, found, user_id)})


def list_thread(
    world: World,
    user_id: str,
    conversation_id: str,
    root_id: str,
    limit: int | None = None,
    cursor: str | None = None,
) -> Reply:
    page = Page.of(world, "thread", limit, cursor)
    world.conversation(conversation_id)
    root = world.message_in(conversation_id, root_id)
    world.readable(user_id, conversation_id)
    replies = [reply for reply in replies_of(world, root_id) if not world.is_hidden(user_id, reply)]
    require(replies or not world.is_hidden(user_id, root), "MESSAGE_NOT_FOUND")
    return Reply(page.cut(replies, _seq, lambda reply: shown(world, reply, user_id)))


def list_messages_after(
    world: World, user_id: str, conversation_id: str, seq: int, limit: int | None = None
) -> Reply:
    require(limit is None or limit > 0)
    world.readable(user_id, conversation_id)
    here = _messages_of(world, user_id, conversation_id)
    after = [message for message in here if message["seq"] > seq]
    oldest = sorted(after, key=_seq)[: limit or 50]
    return Reply({"messages": [shown(world, message, user_id) for message in oldest]})


def search_messages(
    world: World,
    user_id: str,
    query: str | None = None,
    conversation_id: str | None = None,
    prefix: bool = False,
    sender_id: str | None = None,
    mentions: str | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> Reply:
    require(sender_id or mentions if query is None else query.strip())
    require(conversation_id is None or is_user_id(conversation_id))
    mentioned = user_id if mentions == "me" else mentions
    page = Page.of(world, "search", limit, cursor)
    if conversation_id is not None:
        world.readable(user_id, conversation_id)

    def score(message: Json) -> int:
        scored = naive_prefix_score if prefix else naive_score
        return 0 if query is None else scored(query, message["body"])

    found = [
        message
        for message in world.messages.values()
        if user_id in members(world.conversations[message["conversationId"]])
        and conversation_id in (None, message["conversationId"])
        and not world.is_hidden(user_id, message)
        and sender_id in (None, message["senderId"])
        and (mentioned is None or mentioned in message["mentions"])
        and (score(message) if query is not None else not message["deletedAt"])
    ]

    def rank(message: Json) -> tuple[int, str, str]:
        return score(message), message["createdAt"], message["id"]

    return Reply(page.cut(found, rank, lambda message: shown(world, message, user_id)))


def _messages_of(world: World, user_id: str, conversation_id: str) -> list[Json]:
    """The messages of a conversation that are not hidden from a user."""
    here = [
        message
        for message in world.messages.values()
        if message["conversationId"] == conversation_id
    ]
    return [message for message in here if not world.is_hidden(user_id, message)]


def _seq(message: Json) -> int:
    seq: int = message["seq"]
    return seq
