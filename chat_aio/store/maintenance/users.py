"""Whether the chat knows a user: it has no accounts of its own."""

from collections.abc import Callable
from contextlib import AbstractContextManager

from chat_aio.store.database import Database
from chat_aio.store.maintenance.personal_data import PLACES, naming
from chat_aio.store.maintenance.scanning import scan, size_of

Progress = Callable[[str, int], AbstractContextManager[Callable[[int], object]]]


async def is_known(database: Database, user_id: str) -> bool:
    """Whether a user has ever written, or is in a conversation."""
    return bool(
        await database.read(lambda: database.messages.find_one({"senderId": user_id}, {"_id": 1}))
        or await database.read(
            lambda: database.conversations.find_one({"participants.userId": user_id}, {"_id": 1})
        )
    )


async def has_traces(database: Database, user_id: str, progress: Progress) -> bool:
    """Whether any row names a user. Only the messages are many, so they are read last, and all of
    them if the user has none of their own and is in no conversation."""
    if await is_known(database, user_id):
        return True
    first = sorted(PLACES, key=lambda name: name == "messages")
    with progress("Looking for the user", await size_of(database, PLACES)) as advance:
        for name in first:
            rows = database.collection(name)
            async for passed, found in scan(database, rows, naming(name, user_id), {"_id": 1}):
                if found:
                    return True
                advance(passed)
    return False
