"""Mutes: conversations that a user does not want to be bothered by; a hint, nothing more."""

from typing import cast

from chat_aio.store import keyset_query, shapes
from chat_aio.store.database import Database
from chat_aio.store.documents import MuteDocument


async def put(database: Database, mute: MuteDocument) -> MuteDocument:
    """Mute a conversation, or find that it is muted already; returns the mute that stands. One
    that cannot be read is written anew."""
    found = await database.write(
        lambda: database.mutes.find_one_and_update(
            {"_id": mute["_id"]},
            {"$setOnInsert": {name: value for name, value in mute.items() if name != "_id"}},
            upsert=True,
            return_document=True,
        )
    )
    if shapes.readable("mutes", [found]):
        return cast(MuteDocument, found)
    await database.write(lambda: database.mutes.replace_one({"_id": mute["_id"]}, mute))
    return mute


async def remove(database: Database, user_id: str, conversation_id: str) -> None:
    """Take a mute back, if there is one."""
    await database.write(
        lambda: database.mutes.delete_one({"_id": mute_id(user_id, conversation_id)})
    )


async def list_newest(
    database: Database, user_id: str, *, position: keyset_query.After | None, limit: int
) -> list[MuteDocument]:
    """What a user has muted, the latest first."""
    found = await database.read(
        lambda: keyset_query.page(
            database.mutes, {"userId": user_id}, position, limit=limit, key="conversationId"
        )
    )
    return cast(list[MuteDocument], found)


def mute_id(user_id: str, conversation_id: str) -> dict[str, str]:
    return {"userId": user_id, "conversationId": conversation_id}
