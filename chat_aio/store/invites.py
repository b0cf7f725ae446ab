"""Invites: links into a group. They are created and used in membership transactions."""

from typing import cast

from chat_aio.store import shapes
from chat_aio.store.database import Database
from chat_aio.store.documents import InviteDocument
from chat_aio.store.membership import Locked


async def find(database: Database, code: str) -> InviteDocument | None:
    found = await database.read(lambda: database.invites.find_one({"_id": code}))
    return shapes.one_readable("invites", cast(InviteDocument | None, found))


async def list_newest(database: Database, conversation_id: str) -> list[InviteDocument]:
    """All invites of a group, newest first."""
    found = await database.read(
        lambda: (
            database.invites.find({"conversationId": conversation_id})
            .sort([("createdAt", -1), ("_id", -1)])
            .to_list(None)
        )
    )
    return shapes.readable("invites", cast(list[InviteDocument], found))


async def insert(locked: Locked, invite: InviteDocument) -> None:
    await locked.database.invites.insert_one(invite, session=locked.session)


async def count(locked: Locked) -> int:
    """The number of invites of the group, spent ones included."""
    # Under the lock: two creations at once could otherwise both be below the limit.
    chosen = {"conversationId": locked.conversation["_id"]}
    found = await locked.database.invites.count_documents(chosen, session=locked.session)
    return int(found)


async def count_use(locked: Locked, code: str) -> InviteDocument | None:
    """Count one use of an invite; returns it as it was before, or None if there is none. If the
    caller then refuses the use, its error undoes the count."""
    before = await locked.database.invites.find_one_and_update(
        {"_id": code}, {"$inc": {"uses": 1}}, return_document=False, session=locked.session
    )
    return shapes.one_readable("invites", cast(InviteDocument | None, before))


async def delete(database: Database, conversation_id: str, code: str) -> None:
    """Remove an invite of this group, if it exists."""
    await database.write(
        lambda: database.invites.delete_one({"_id": code, "conversationId": conversation_id})
    )
