"""Unread counts: the head's seq minus the seq read minus own messages (docs/behaviour.md 4.8).
What is hidden from a participant counts as read.

The cost does not depend on how many messages there are: own messages are counted as they are sent
(`sent_counts.py`). Only where a read state lies before the newest own messages are those counted
from an index, and a count past a thousand is kept.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from pymongo import UpdateOne

from chat_aio.errors import StorageUnavailable
from chat_aio.schema.models import ViewedConversation
from chat_aio.store.database import Database
from chat_aio.store.documents import (
    ConversationDocument,
    CounterDocument,
    ParticipantDocument,
)
from chat_aio.store.mapping import viewed_conversation_from
from chat_aio.store.sent_counts import OWN_INDEX, count_of, is_complete, known, own_behind

KEPT_FROM = 1_000


@dataclass(frozen=True, slots=True)
class _Reader:
    """A conversation as a participant of it reads it: messages behind `start` are unread."""

    participant: ParticipantDocument
    conversation: ConversationDocument
    head: CounterDocument
    start: int

    @property
    def behind(self) -> int:
        """How many messages there are behind `start`. A read state may be newer than the head,
        which was read before it."""
        return max(0, self.head["seq"] - self.start)


async def count_unread(
    database: Database,
    user_id: str,
    conversations: Sequence[ConversationDocument],
    heads: Mapping[str, CounterDocument],
    *,
    keep: bool = True,
) -> dict[str, int]:
    """How many messages of others each conversation has beyond `user_id`'s read state: the counts
    of `find_unread`."""
    found = await find_unread(database, user_id, conversations, heads, keep=keep)
    return {name: count.count for name, count in found.items()}


@dataclass(frozen=True, slots=True)
class Unread:
    """How many messages of others a conversation has behind the seq `start`, and how many of the
    reader's own; messages up to the seq `hidden` are hidden from the reader."""

    count: int
    own: int
    start: int
    hidden: int


async def find_unread(
    database: Database,
    user_id: str,
    conversations: Sequence[ConversationDocument],
    heads: Mapping[str, CounterDocument],
    *,
    keep: bool = True,
) -> dict[str, Unread]:
    """What is unread in each of the conversations that `user_id` is in and whose head is given.

    `heads` have the counts of this user, and must have been read before `conversations`: otherwise
    a message sent and read in between counts as unread. With `keep`, long counts are stored.
    """
    readers = {
        conversation["_id"]: _reader(
            participant, conversation, heads[conversation["_id"]], marks=database.unread_marks
        )
        for conversation in conversations
        if (participant := _participant(conversation, user_id)) and conversation["_id"] in heads
    }
    own = {name: _own(reader) for name, reader in readers.items()}
    unknown = {name: reader for name, reader in readers.items() if own[name] is None}
    counted = await _count_own(database, user_id, unknown)
    if keep:
        await _keep(database, unknown, counted)
    return {
        name: _unread(reader, counted.get(name, 0) if (sure := own[name]) is None else sure)
        for name, reader in readers.items()
    }


def _unread(reader: _Reader, own: int) -> Unread:
    hidden = reader.participant.get("hiddenUpto", 0)
    return Unread(reader.behind - own, own, reader.start, hidden)


async def count_viewed(
    database: Database,
    user_id: str,
    conversation: ConversationDocument,
    head: CounterDocument,
    *,
    room_controls: bool = False,
) -> ViewedConversation:
    """A conversation with the viewer's unread count, 0 if they are not in it. `head` must have been
    read before it."""
    counted = await count_unread(database, user_id, [conversation], {head["_id"]: head})
    unread_count = counted.get(head["_id"], 0)
    return viewed_conversation_from(conversation, unread_count, room_controls=room_controls)


def _reader(
    participant: ParticipantDocument,
    conversation: ConversationDocument,
    head: CounterDocument,
    *,
    marks: bool,
) -> _Reader:
    read = participant["lastReadSeq"]
    if marks and (marked := participant.get("unreadFrom")) is not None:
        read = min(read, marked - 1)
    start = max(read, head["floorSeq"], participant.get("hiddenUpto", 0))
    return _Reader(participant, conversation, head, start)


def _participant(conversation: ConversationDocument, user_id: str) -> ParticipantDocument | None:
    return next(
        (
            participant
            for participant in conversation["participants"]
            if participant["userId"] == user_id
        ),
        None,
    )


def _own(reader: _Reader) -> int | None:
    """How many messages behind `start` are the reader's own; None if they must be counted."""
    if not reader.behind:
        return 0
    own = own_behind(reader.start, reader.participant, reader.conversation, reader.head)
    # Another program may have spoilt a count.
    return own if own is not None and 0 <= own <= reader.behind else None


async def _count_own(
    database: Database, user_id: str, readers: Mapping[str, _Reader]
) -> dict[str, int]:
    if not readers:
        return {}
    branches = [
        {
            "senderId": user_id,
            "conversationId": name,
            "seq": {"$gt": reader.start, "$lte": reader.head["seq"]},
        }
        for name, reader in readers.items()
    ]
    stages: list[dict[str, Any]] = [
        {"$match": {"$or": branches}},
        {"$group": {"_id": "$conversationId", "count": {"$sum": 1}}},
    ]
    found = await database.aggregate(database.messages, stages, hint=OWN_INDEX)
    return {count["_id"]: count["count"] for count in found}


async def _keep(
    database: Database, readers: Mapping[str, _Reader], counted: Mapping[str, int]
) -> None:
    """Store long counts. Losing them is harmless, and a new read state makes them useless."""
    long = [readers[name] for name, count in counted.items() if count >= KEPT_FROM]
    updates = [
        _kept(reader, counted[reader.conversation["_id"]])
        for reader in long
        if is_complete(reader.head)
    ]
    if updates:
        with suppress(StorageUnavailable):
            await database.write(lambda: database.conversations.bulk_write(updates, ordered=False))


def _kept(reader: _Reader, counted: int) -> UpdateOne:
    user_id = reader.participant["userId"]
    before = count_of(reader.head, user_id) - counted
    fields = known(upto=reader.start, count=before).items()
    # In a later epoch they may have left and come back, and their count began anew.
    here = {"_id": reader.conversation["_id"], "epoch": reader.head["epoch"]}
    return UpdateOne(
        {**here, "participants.userId": user_id},
        {"$set": {f"participants.$.{name}": value for name, value in fields}},
    )
