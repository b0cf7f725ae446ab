"""Mutes: conversations for which a user wants no notifications; a hint for clients only."""

from collections.abc import Sequence
from functools import partial
from typing import cast

from chat_aio.store import keyset_query, shapes
from chat_aio.store.database import Database
from chat_aio.store.documents import MuteDocument

PAIRS_AT_A_TIME = 1_000


async def put(database: Database, mute: MuteDocument) -> MuteDocument:
    """Insert a mute unless there is one; returns the stored mute. A malformed one is replaced."""
    # `$setOnInsert`: the first mute stays, and so does its place in the list.
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
    # Lists leave a malformed row out: the user would mute, and see no mute.
    await database.write(lambda: database.mutes.replace_one({"_id": mute["_id"]}, mute))
    return mute


async def remove(database: Database, user_id: str, conversation_id: str) -> None:
    """Remove a mute, if there is one."""
    await database.write(
        lambda: database.mutes.delete_one({"_id": mute_id(user_id, conversation_id)})
    )


async def list_newest(
    database: Database, user_id: str, *, position: keyset_query.After | None, limit: int
) -> list[MuteDocument]:
    """The mutes of a user, newest first."""
    found = await database.read(
        lambda: keyset_query.page(
            database.mutes, {"userId": user_id}, position, limit=limit, key="conversationId"
        )
    )
    return cast(list[MuteDocument], found)


async def muted_among(database: Database, pairs: Sequence[tuple[str, str]]) -> set[tuple[str, str]]:
    """The pairs of user and conversation, among these, in which the user has muted it. An
    unreadable mute stays in force."""
    found: set[tuple[str, str]] = set()
    for start in range(0, len(pairs), PAIRS_AT_A_TIME):
        ids = [mute_id(*pair) for pair in pairs[start : start + PAIRS_AT_A_TIME]]
        rows = database.mutes.find({"_id": {"$in": ids}}, {"_id": 1})
        muted = await database.read(partial(rows.to_list, None))
        found |= {(mute["_id"]["userId"], mute["_id"]["conversationId"]) for mute in muted}
    return found


def mute_id(user_id: str, conversation_id: str) -> dict[str, str]:
    return {"userId": user_id, "conversationId": conversation_id}
