"""Unread counts: the head's seq minus the seq read minus own messages (specification 4.8).
Hidden messages count as read.

The cost does not depend on the number of messages: own messages are counted as they are sent
(`sent_counts.py`). Only if a read state is before the newest own messages are those counted from an
index, and a count above a thousand is stored.

Lists of conversations also show the newest message, the first unread one, and the unread mentions.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from pymongo import UpdateOne

from chat_aio.errors import StorageUnavailable
from chat_aio.schema.models import ConversationView, ConversationWithUnread
from chat_aio.store import shapes
from chat_aio.store.database import Database
from chat_aio.store.documents import (
    ConversationDocument,
    CounterDocument,
    ParticipantDocument,
)
from chat_aio.store.mapping import UNSET_VIEW, view_from, viewed_conversation_from
from chat_aio.store.messages import NUMBER_INDEX
from chat_aio.store.pipelines import union
from chat_aio.store.sent_counts import OWN_INDEX, count_of, is_complete, known, own_behind

KEPT_FROM = 1_000

MOST_COUNTED = 100
"""Unread mentions of a conversation are counted up to this number."""


@dataclass(slots=True)
class _Reader:
    """A conversation from the view of a participant: messages behind `start` are unread."""

    participant: ParticipantDocument
    conversation: ConversationDocument
    head: CounterDocument
    start: int

    @property
    def behind(self) -> int:
        """The number of messages behind `start`. A read state may be newer than the head, which was
        read before it."""
        return max(0, self.head["seq"] - self.start)


async def count_unread(
    database: Database,
    user_id: str,
    conversations: Sequence[ConversationDocument],
    heads: Mapping[str, CounterDocument],
    *,
    keep: bool = True,
) -> dict[str, int]:
    """The number of others' messages beyond `user_id`'s read state by conversation: the counts of
    `find_unread`."""
    found = await find_unread(database, user_id, conversations, heads, keep=keep)
    return {name: count.count for name, count in found.items()}


@dataclass(slots=True)
class Unread:
    """The numbers of others' messages and of the reader's own messages in a conversation behind the
    seq `start`."""

    count: int
    own: int
    _reader: _Reader

    @property
    def start(self) -> int:
        return self._reader.start

    @property
    def head(self) -> CounterDocument:
        return self._reader.head

    @property
    def hidden(self) -> int:
        """The seq up to which messages are hidden from the reader."""
        return self._reader.participant.get("hiddenUpToSeq", 0)

    @property
    def view(self) -> ConversationView:
        """The reader's view of the conversation."""
        return view_from(self._reader.participant, self._reader.head)


async def find_unread(
    database: Database,
    user_id: str,
    conversations: Sequence[ConversationDocument],
    heads: Mapping[str, CounterDocument],
    *,
    keep: bool = True,
) -> dict[str, Unread]:
    """The unread messages of each conversation that `user_id` is in and whose head is given.

    `heads` have the counts of this user, and must have been read before `conversations`:
    otherwise a message sent and read in between counts as unread. With `keep`, long counts are
    stored.
    """
    readers: dict[str, _Reader] = {}
    for conversation in conversations:
        head = heads.get(conversation["_id"])
        if head is None:
            continue
        for participant in conversation["participants"]:
            if participant["userId"] == user_id:
                reader = _reader(participant, conversation, head, marks=database.unread_marks)
                readers[conversation["_id"]] = reader
                break
    own: dict[str, int] = {}
    for name, reader in readers.items():
        count = (
            own_behind(reader.start, reader.participant, reader.conversation, reader.head)
            if reader.behind
            else 0
        )
        # Another program may have corrupted a count.
        if count is not None and 0 <= count <= reader.behind:
            own[name] = count
    unknown = {name: reader for name, reader in readers.items() if name not in own}
    counted = await _count_own(database, user_id, unknown)
    if keep:
        await _keep(database, unknown, counted)
    unread: dict[str, Unread] = {}
    for name, reader in readers.items():
        mine = own[name] if name in own else counted.get(name, 0)
        unread[name] = Unread(reader.behind - mine, mine, reader)
    return unread


async def count_viewed(
    database: Database,
    user_id: str,
    conversation: ConversationDocument,
    head: CounterDocument,
) -> ConversationWithUnread:
    """A conversation with the viewer's unread count and view, 0 and unset if they are not in it.
    `head` must have been read before it."""
    found = await find_unread(database, user_id, [conversation], {head["_id"]: head})
    unread = found.get(head["_id"])
    count, view = (unread.count, unread.view) if unread else (0, UNSET_VIEW)
    return viewed_conversation_from(conversation, count, database.optional_fields, view)


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
    start = max(read, head["floorSeq"], participant.get("hiddenUpToSeq", 0))
    return _Reader(participant, conversation, head, start)


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
    updates: list[UpdateOne] = []
    for name, count in counted.items():
        head, user_id = readers[name].head, readers[name].participant["userId"]
        if count < KEPT_FROM or not is_complete(head):
            continue
        fields = known(upto=readers[name].start, count=count_of(head, user_id) - count).items()
        # In a later epoch they may have left and rejoined, and their count restarted.
        here = {"_id": name, "epoch": head["epoch"], "participants.userId": user_id}
        stored = {f"participants.$.{field}": value for field, value in fields}
        updates.append(UpdateOne(here, {"$set": stored}))
    if updates:
        with suppress(StorageUnavailable):
            await database.write(lambda: database.conversations.bulk_write(updates, ordered=False))


async def newest_ids(
    database: Database, conversation_ids: Sequence[str], seqs: Mapping[str, int]
) -> dict[str, str]:
    """The id of the newest message in the main list of each conversation, if there is one. `seqs`
    are the newest numbers of the conversations, as far as they are known."""
    found = await _ids_in_main(database, seqs)
    # The newest number is that of a reply in a thread, or its message has been removed.
    left = [name for name in conversation_ids if name not in found and seqs.get(name) != 0]
    if not left:
        return found
    # A branch for each conversation reads one entry of the index; a `$group` over all of them
    # would read every message.
    pipelines: list[list[dict[str, Any]]] = [
        [
            {"$match": {"timelines": conversation_id, "seq": {"$type": shapes.WHOLE}}},
            {"$sort": {"seq": -1}},
            {"$limit": 1},
            {"$project": {"in": {"$literal": conversation_id}}},
        ]
        for conversation_id in left
    ]
    rows = await database.aggregate(database.messages, union(database.messages, pipelines))
    return found | {row["in"]: row["_id"] for row in rows}


async def _ids_in_main(database: Database, seqs: Mapping[str, int]) -> dict[str, str]:
    """The ids of the messages with these numbers that are in the main list of their
    conversation."""
    branches = [
        {
            "conversationId": name,
            "seq": {"$eq": seq, "$type": shapes.WHOLE},
            "timelines": name,
        }
        for name, seq in seqs.items()
        if seq
    ]
    if not branches:
        return {}
    # With the index named, the branches are not planned one by one.
    rows = await database.read(
        lambda: database.messages.find(
            {"$or": branches}, {"conversationId": 1}, hint=NUMBER_INDEX
        ).to_list(None)
    )
    return {row["conversationId"]: row["_id"] for row in rows}


async def first_unread(
    database: Database, user_id: str, unread: Mapping[str, Unread]
) -> dict[str, int]:
    """The seq of the first unread message of each conversation that has one."""
    # Numbers have no gaps: if no own message follows `start`, the next one is another user's.
    found = {
        name: count.start + 1 for name, count in unread.items() if count.count and not count.own
    }
    mixed: list[list[dict[str, Any]]] = [
        [
            {
                "$match": {
                    "conversationId": name,
                    "seq": {"$gt": count.start, "$type": shapes.WHOLE},
                    "senderId": {"$ne": user_id},
                }
            },
            {"$sort": {"seq": 1}},
            {"$limit": 1},
            {"$project": {"_id": 0, "conversationId": {"$literal": name}, "seq": 1}},
        ]
        for name, count in unread.items()
        if count.count and count.own
    ]
    if not mixed:
        return found
    rows = await database.aggregate(database.messages, union(database.messages, mixed))
    return found | {row["conversationId"]: row["seq"] for row in rows}


async def count_mentions(
    database: Database, user_id: str, unread: Mapping[str, Unread]
) -> dict[str, int]:
    """How many unread messages mention the user, up to 100 in each conversation that has one."""
    pipelines: list[list[dict[str, Any]]] = [
        [
            {
                "$match": {
                    "mentions.userId": user_id,
                    "conversationId": name,
                    "seq": {"$gt": count.start},
                    "senderId": {"$ne": user_id},
                    "deletedAt": None,
                }
            },
            {"$limit": MOST_COUNTED},
            {"$count": "count"},
            {"$set": {"conversationId": {"$literal": name}}},
        ]
        for name, count in unread.items()
        if count.count
    ]
    if not pipelines:
        return {}
    rows = await database.aggregate(database.messages, union(database.messages, pipelines))
    return {row["conversationId"]: row["count"] for row in rows}
