"""Which users have exchanged messages: both have written in the same conversation."""

from collections.abc import Collection

from chat_aio.store.database import Database


async def who_wrote_with(
    database: Database, user_id: str, conversation_ids: Collection[str], others: Collection[str]
) -> set[str]:
    """The users among `others` who have written in one of these conversations in which `user_id`
    has written too. Messages that retention has removed do not count.
    """
    # `distinct` reads one index entry for each sender and conversation, not one for each message.
    if not conversation_ids or not others:
        return set()
    # First the conversations in which the user wrote: in the others, nobody's messages count.
    theirs = {"senderId": user_id, "conversationId": {"$in": list(conversation_ids)}}
    written = await database.read(lambda: database.messages.distinct("conversationId", theirs))
    if not written:
        return set()
    answered = {"senderId": {"$in": list(others)}, "conversationId": {"$in": written}}
    return set(await database.read(lambda: database.messages.distinct("senderId", answered)))
