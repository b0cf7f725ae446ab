"""Whether the chat knows a user: it has no accounts of its own."""

from chat_aio.store.database import Database


async def is_known(database: Database, user_id: str) -> bool:
    """Whether a user has ever written, or is in a conversation."""
    return bool(
        await database.read(lambda: database.messages.find_one({"senderId": user_id}, {"_id": 1}))
        or await database.read(
            lambda: database.conversations.find_one({"participants.userId": user_id}, {"_id": 1})
        )
    )
