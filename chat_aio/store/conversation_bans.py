"""Bans from one conversation: one row per user and group, as long as the ban is in force.

Rows are written with the conversation locked, and every way of joining looks for them under the
same lock, so nobody joins past a ban (decision 0058).
"""

from collections.abc import Collection
from typing import cast

from chat_aio.store import keyset_query, shapes
from chat_aio.store.database import Database
from chat_aio.store.documents import ConversationBanDocument
from chat_aio.store.membership import Locked


async def list_newest(
    database: Database,
    conversation_id: str,
    *,
    position: keyset_query.After | None,
    limit: int,
) -> list[ConversationBanDocument]:
    """The bans from a conversation behind a position, newest first."""
    chosen = {"conversationId": conversation_id}
    found = await database.read(
        lambda: keyset_query.page(database.conversation_bans, chosen, position, limit=limit)
    )
    return cast(list[ConversationBanDocument], found)


async def find(locked: Locked, user_id: str) -> ConversationBanDocument | None:
    """The ban of a user; None also if it is malformed."""
    chosen = {"conversationId": locked.conversation["_id"], "userId": user_id}
    found = await locked.database.conversation_bans.find_one(chosen, session=locked.session)
    return shapes.one_readable("conversation_bans", cast(ConversationBanDocument | None, found))


async def banned_among(locked: Locked, user_ids: Collection[str]) -> set[str]:
    """The banned users among these. A malformed ban stays in force."""
    chosen = {
        "conversationId": locked.conversation["_id"],
        "userId": {"$in": list(user_ids)},
    }
    rows = locked.database.conversation_bans.find(chosen, {"userId": 1}, session=locked.session)
    return {ban["userId"] for ban in await rows.to_list(None)}


async def put(locked: Locked, ban: ConversationBanDocument) -> None:
    """Write a ban, replacing a malformed one of the user."""
    # Not by `replace_one`: a chat's role may insert and remove these bans, not update them.
    await lift(locked, ban["userId"])
    await locked.database.conversation_bans.insert_one(ban, session=locked.session)


async def lift(locked: Locked, user_id: str) -> ConversationBanDocument | None:
    """Remove the ban of a user and return it; None if there is none."""
    bans = locked.database.conversation_bans
    chosen = {"conversationId": locked.conversation["_id"], "userId": user_id}
    found = await bans.find_one_and_delete(chosen, session=locked.session)
    return cast(ConversationBanDocument | None, found)
