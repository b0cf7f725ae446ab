"""The membership transaction: the head is locked first, its new epoch fences every send."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

from chat_aio.store.database import Database
from chat_aio.store.documents import Change, ConversationDocument, ParticipantDocument
from chat_aio.store.sequencer import Sequencer
from chat_aio.store.snapshots import Snapshots
from chat_aio.store.transactions import Session, Unchanged, transact


@dataclass(frozen=True, slots=True, kw_only=True)
class Membership:
    """A change of who is in a conversation: who comes, who goes, and its stamp."""

    added: tuple[ParticipantDocument, ...] = ()
    removed: tuple[str, ...] = ()
    change: Change = field()


Decide = Callable[[ConversationDocument], Membership | None]


async def change_membership(
    database: Database,
    sequencer: Sequencer,
    snapshots: Snapshots,
    conversation_id: str,
    decide: Decide,
) -> ConversationDocument | None:
    """Change participants in one transaction; returns the conversation, None if there is none.

    `decide` sees the conversation behind the lock and returns the change, or None for no change;
    what it raises aborts. It may be asked several times.
    """

    async def body(session: Session) -> ConversationDocument | None:
        head = await database.counters.find_one_and_update(
            {"_id": conversation_id, "seq": {"$exists": True}},
            {"$inc": {"epoch": 1}},
            return_document=True,
            session=session,
        )
        if head is None:
            raise Unchanged(None)
        found = await database.conversations.find_one({"_id": conversation_id}, session=session)
        if found is None:
            raise Unchanged(None)
        membership = decide(found)
        if membership is None:
            raise Unchanged(found)
        return await _write(database, conversation_id, membership, head["epoch"], session)

    async with sequencer.hold(conversation_id):
        try:
            return await transact(database, body)
        finally:
            snapshots.forget(conversation_id)


async def _write(
    database: Database,
    conversation_id: str,
    membership: Membership,
    epoch: int,
    session: Session,
) -> ConversationDocument:
    """Those who go first, then those who come: an update cannot do both to one array."""
    stamp: dict[str, Any] = {"$set": {"epoch": epoch, "change": membership.change}}
    here = {"_id": conversation_id}
    if membership.removed:
        pull = {"$pull": {"participants": {"userId": {"$in": list(membership.removed)}}}}
        if membership.added:
            await database.conversations.update_one(here, pull, session=session)
        else:
            stamp |= pull
    if membership.added:
        stamp["$push"] = {
            "participants": {
                "$each": list(membership.added),
                "$sort": {"joinedAt": 1, "userId": 1},
            }
        }
    written = await database.conversations.find_one_and_update(
        here, stamp, return_document=True, session=session
    )
    return cast(ConversationDocument, written)
