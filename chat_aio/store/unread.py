"""Unread counts: the head's seq minus the seq read minus own messages (docs/behaviour.md 4.8).

The cost does not depend on how many messages others have sent. Own messages are counted from an
index; a count past a thousand is stored in the participant as a checkpoint.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from chat_aio.errors import StorageUnavailable
from chat_aio.schema.models import ViewedConversation
from chat_aio.store.database import Database
from chat_aio.store.documents import (
    ConversationDocument,
    CounterDocument,
    OwnCount,
    ParticipantDocument,
)
from chat_aio.store.mapping import viewed_conversation_from

CHECKPOINT_AFTER = 1_000
OWN_INDEX = "sender_conversation_seq"
"""Named as a hint: left to itself, MongoDB sometimes scans all messages that others have sent."""


@dataclass(frozen=True, slots=True)
class _Span:
    """Own messages to count: those with a seq in (after, upto], to be added to `known`."""

    start: int
    after: int
    upto: int
    known: int


async def count_unread(
    database: Database,
    user_id: str,
    conversations: Sequence[ConversationDocument],
    heads: Mapping[str, CounterDocument],
    *,
    keep: bool = True,
) -> dict[str, int]:
    """How many messages of others each conversation has beyond `user_id`'s read-state.

    `heads` must have been read before `conversations`: otherwise a message sent and read in between
    counts as unread. With `keep`, long counts are stored as checkpoints.
    """
    spans = {
        each["_id"]: _span(reader, heads[each["_id"]])
        for each in conversations
        if (reader := _participant(each, user_id)) and each["_id"] in heads
    }
    open_spans = {name: span for name, span in spans.items() if span.upto > span.after}
    counted = await _count_own(database, user_id, open_spans)
    for name, count in counted.items():
        if keep and count > CHECKPOINT_AFTER:
            await _keep(database, user_id, name, open_spans[name], count)
    return {
        # A read-state may be newer than the head, which was read before it.
        name: max(0, span.upto - span.start - span.known - counted.get(name, 0))
        for name, span in spans.items()
    }


async def count_viewed(
    database: Database,
    user_id: str,
    conversation: ConversationDocument,
    head: CounterDocument,
) -> ViewedConversation:
    """A conversation with the viewer's unread count, 0 if they are not in it. `head` must have been
    read before it."""
    counted = await count_unread(database, user_id, [conversation], {head["_id"]: head})
    return viewed_conversation_from(conversation, unread_count=counted.get(head["_id"], 0))


def _span(reader: ParticipantDocument, head: CounterDocument) -> _Span:
    start = max(reader["lastReadSeq"], head["floorSeq"])
    own = reader.get("own")
    # `to` may be after the head, which was read earlier: such a checkpoint counts too much.
    if own and own["from"] == start and own["to"] <= head["seq"]:
        return _Span(start, own["to"], head["seq"], own["count"])
    return _Span(start, start, head["seq"], 0)


def _participant(conversation: ConversationDocument, user_id: str) -> ParticipantDocument | None:
    return next((each for each in conversation["participants"] if each["userId"] == user_id), None)


async def _count_own(
    database: Database, user_id: str, spans: Mapping[str, _Span]
) -> dict[str, int]:
    if not spans:
        return {}
    branches = [
        {
            "senderId": user_id,
            "conversationId": name,
            "seq": {"$gt": span.after, "$lte": span.upto},
        }
        for name, span in spans.items()
    ]
    stages: list[dict[str, Any]] = [
        {"$match": {"$or": branches}},
        {"$group": {"_id": "$conversationId", "count": {"$sum": 1}}},
    ]
    found = await database.aggregate(database.messages, stages, hint=OWN_INDEX)
    return {each["_id"]: each["count"] for each in found}


async def _keep(
    database: Database, user_id: str, conversation_id: str, span: _Span, counted: int
) -> None:
    """Store a long count as a checkpoint; losing it is harmless, and a new read-state voids it."""
    own: OwnCount = {"from": span.start, "to": span.upto, "count": span.known + counted}
    with suppress(StorageUnavailable):
        await database.write(
            lambda: database.conversations.update_one(
                {"_id": conversation_id, "participants.userId": user_id},
                {"$set": {"participants.$.own": own}},
            )
        )
