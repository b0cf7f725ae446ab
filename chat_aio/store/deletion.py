"""Deletes a conversation: one transaction hides it from everybody. `store/removals.py` then removes
its rows (decision 0079)."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Any, NamedTuple, cast

from chat_aio.store import audit, departures, direct_conversations
from chat_aio.store.database import Database
from chat_aio.store.documents import (
    AuditEntry,
    ConversationDocument,
    CounterDocument,
    DeletedConversationDocument,
    PositionDocument,
)
from chat_aio.store.maintenance.legal_holds import pass_fence
from chat_aio.store.membership import Locked, Membership
from chat_aio.store.settings import Settings
from chat_aio.store.shapes import one_readable
from chat_aio.store.signals import DELETED
from chat_aio.store.transactions import Session, Unchanged, transact

NEWEST_POSITIONS = 64
OLDER_POSITIONS = 64
_LEFT_OUT = ("change", "blockedBy", "importDigest", "epoch")
"""The fields of a conversation that its last event does not show."""


class HiddenConversation(NamedTuple):
    """A conversation that nobody can find any longer, and its head."""

    conversation: ConversationDocument
    head: CounterDocument


async def hide(
    database: Database,
    membership: Membership,
    settings: Settings,
    conversation_id: str,
    *,
    entry: AuditEntry,
    signal_id: str,
    require_allowed: Callable[[Locked], Awaitable[None]],
) -> HiddenConversation | None:
    """Delete a conversation and its head in one transaction, which `entry` records; None if there
    is no such conversation. Its key is free from then on, and its pair gets another id.

    `require_allowed` gets the locked conversation and reads the legal holds; an error that it
    raises aborts the transaction.
    """

    async def body(session: Session) -> HiddenConversation:
        here = {"_id": conversation_id}
        head = await _take_head(database, conversation_id, session)
        found = head and await database.conversations.find_one_and_delete(here, session=session)
        conversation = one_readable("conversations", cast(ConversationDocument | None, found))
        if not head or not conversation:
            raise Unchanged(None)
        await require_allowed(Locked(database, session, head, conversation))
        await pass_fence(database, conversation_id, session)
        user_ids = [participant["userId"] for participant in conversation["participants"]]
        row = await _row(database, head, entry["at"], session)
        await database.deleted_conversations.insert_one(row, session=session)
        if database.dates_changes:
            await departures.note(database, conversation_id, user_ids, entry["at"], session)
        if conversation["type"] == "direct":
            await direct_conversations.count_deletion(settings, user_ids, session)
        await audit.add(database, entry, session)
        signal = _signal(conversation, user_ids, entry, signal_id)
        await database.signals.insert_one(signal, session=session)
        return HiddenConversation(conversation, head)

    async with membership.hold(conversation_id) as deadline:
        return cast(HiddenConversation | None, await transact(database, body, deadline=deadline))


async def _take_head(
    database: Database, conversation_id: str, session: Session
) -> CounterDocument | None:
    """Delete the head, which is the first lock of every transaction: a send that is under way
    conflicts with it, and finds no conversation when it is tried again."""
    here = {"_id": conversation_id, "seq": {"$exists": True}}
    head = await database.counters.find_one_and_delete(here, session=session)
    return one_readable("counters", cast(CounterDocument | None, head))


async def _row(
    database: Database, head: CounterDocument, at: datetime, session: Session
) -> DeletedConversationDocument:
    chosen = {"conversationId": head["_id"], "seq": {"$in": _sampled(head)}}
    rows = database.messages.find(chosen, {"seq": 1, "createdAt": 1}, session=session)
    positions: list[PositionDocument] = [
        {"seq": message["seq"], "at": message["createdAt"]}
        for message in await rows.sort("seq", 1).to_list(None)
        if isinstance(message.get("createdAt"), datetime)
    ]
    return {
        "_id": head["_id"],
        "deletedAt": at,
        "lastSeq": head["seq"],
        "positions": positions,
        "state": "removing",
        "dueAt": at,
    }


def _sampled(head: CounterDocument) -> list[int]:
    """The numbers of the newest messages, and of some older ones at equal distances."""
    first, last = head["floorSeq"] + 1, head["seq"]
    newest = max(first, last - NEWEST_POSITIONS + 1)
    step = max(1, (newest - first) // OLDER_POSITIONS)
    return [*range(first, newest, step), *range(newest, last + 1)]


def _signal(
    conversation: ConversationDocument,
    user_ids: Sequence[str],
    entry: AuditEntry,
    signal_id: str,
) -> dict[str, Any]:
    """What the feed makes the event from: the conversation itself can no longer be read then."""
    shown = {name: value for name, value in conversation.items() if name not in _LEFT_OUT}
    return {
        "_id": signal_id,
        "kind": DELETED,
        "at": entry["at"],
        "conversationId": conversation["_id"],
        "actorId": entry["actorUserId"],
        "userIds": list(user_ids),
        "conversation": {**shown, "participants": []},
    }
