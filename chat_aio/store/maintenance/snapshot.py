"""A conversation, its head and its newest message as one transaction sees them, and the further
reads of a check or a repair."""

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeGuard, TypeVar, cast

from chat_aio.store.database import Database
from chat_aio.store.documents import ConversationDocument, CounterDocument
from chat_aio.store.drivers import maybe_await
from chat_aio.store.sent_counts import OWN_INDEX, count_sent
from chat_aio.store.transactions import Session, transact
from chat_aio.store.unread import count_unread

SNAPSHOT_SECONDS = 50.0
"""MongoDB ends transactions after a minute."""

SPANS_AT_A_TIME = 100

T = TypeVar("T")
Row = dict[str, Any]


def is_whole(value: object) -> TypeGuard[int]:
    """Whether a stored value is a whole number, not below zero."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


@dataclass(frozen=True, slots=True)
class ConversationSnapshot:
    """A conversation in the transaction of `session`; a missing part is None."""

    database: Database
    session: Session
    id: object
    conversation: Row | None
    head: Row | None
    newest: Row | None

    @property
    def floor(self) -> int:
        """Retention may have removed the messages up to this seq."""
        floor = (self.head or {}).get("floorSeq")
        return floor if is_whole(floor) else 0

    @property
    def head_is_full(self) -> bool:
        """Whether the head is more than the stub that a block leaves before the conversation."""
        return self.head is not None and "seq" in self.head

    @property
    def last_seq(self) -> int:
        """The last number that the head has assigned; 0 if that cannot be read."""
        seq = (self.head or {}).get("seq")
        return seq if is_whole(seq) else 0

    @property
    def greatest_seq(self) -> int:
        """The number of the newest message; 0 if there is none."""
        return int(self.newest["seq"]) if self.newest else 0

    @property
    def least_activity(self) -> datetime | None:
        """The time of the newest message or of the creation, whichever is later."""
        times = [(row or {}).get("createdAt") for row in (self.newest, self.conversation)]
        return max((time for time in times if isinstance(time, datetime)), default=None)

    @property
    def participants(self) -> list[Row]:
        """The participants that can be read."""
        found = (self.conversation or {}).get("participants")
        return [
            element
            for element in (found if isinstance(found, list) else ())
            if isinstance(element, dict) and isinstance(element.get("userId"), str)
        ]

    async def find_messages(self, ids: list[str]) -> dict[object, Row]:
        """The messages with these ids, of whichever conversation, by id."""
        shown = {"conversationId": 1, "seq": 1}
        rows = self.database.messages.find({"_id": {"$in": ids}}, shown, session=self.session)
        return {row["_id"]: row for row in await rows.to_list(None)}

    async def find_message(self, chosen: Mapping[str, Any]) -> Row | None:
        """A message of this conversation."""
        found = await self.database.messages.find_one(
            {"conversationId": self.id, **chosen}, {"seq": 1}, session=self.session
        )
        return cast(Row | None, found)

    async def find_oldest(self) -> Row | None:
        found = await self.database.messages.find_one(
            {"conversationId": self.id, "seq": {"$gte": 1}},
            {"seq": 1},
            sort=[("seq", 1)],
            session=self.session,
        )
        return cast(Row | None, found)

    async def count_messages(self, *, after: int, upto: int) -> int:
        """The number of messages with a seq in (after, upto]."""
        found = await self.database.messages.count_documents(
            {"conversationId": self.id, "seq": {"$gt": after, "$lte": upto}}, session=self.session
        )
        return int(found)

    async def is_gapless(self) -> bool:
        """Whether there is a message for each number above the floor."""
        found = await self.count_messages(after=self.floor, upto=self.last_seq)
        return found == self.last_seq - self.floor

    async def count_own(self, spans: Mapping[str, tuple[int, int]]) -> dict[str, int]:
        """The number of messages that users have sent in their spans (after, upto]."""
        branches = [
            {"senderId": user_id, "conversationId": self.id, "seq": {"$gt": after, "$lte": upto}}
            for user_id, (after, upto) in spans.items()
            if upto > after
        ]
        counts: dict[str, int] = {}
        for place in range(0, len(branches), SPANS_AT_A_TIME):
            stages: list[Row] = [
                {"$match": {"$or": branches[place : place + SPANS_AT_A_TIME]}},
                {"$group": {"_id": "$senderId", "count": {"$sum": 1}}},
            ]
            rows = await self._aggregate(stages, hint=OWN_INDEX)
            counts |= {row["_id"]: row["count"] for row in rows}
        return counts

    async def count_sent(self) -> dict[str, int]:
        """The number of messages behind the floor by participant, without those who sent none."""
        user_ids = [participant["userId"] for participant in self.participants]
        return await count_sent(
            self.database,
            self.id,
            user_ids,
            after=self.floor,
            upto=self.last_seq,
            session=self.session,
        )

    async def count_unread(self, user_id: str) -> int:
        """The unread count that a user sees. Nothing is stored."""
        conversation = cast(ConversationDocument, self.conversation)
        heads = {conversation["_id"]: cast(CounterDocument, self.head)}
        # The chat's own function: a check compares with what users really see.
        within = cast(Database, _Within(self.database, self.session))
        shown = await count_unread(within, user_id, [conversation], heads, keep=False)
        return shown[conversation["_id"]]

    async def list_wrong_threads(self) -> list[Row]:
        """Roots whose summary (`said`) differs from the `count` and `last` time of their replies.
        A root that retention may have removed is left out."""
        named = {"threadRootMessageId": {"$type": "string"}}
        chosen = {
            "conversationId": self.id,
            "seq": {"$gt": self.floor},
            "$or": [named, {"thread": {"$exists": True}}],
        }
        roots = await self._aggregate([{"$match": chosen}, *_THREADS])
        ids = [root["_id"] for root in roots]
        # A removed root has no summary to be wrong; only its replies are in this group.
        here = {"_id": {"$in": ids}, "conversationId": self.id, "seq": {"$gt": self.floor}}
        rows = self.database.messages.find(here, {"_id": 1}, session=self.session)
        there = {row["_id"] for row in await rows.to_list(None)}
        return [root for root in roots if root["_id"] in there]

    async def list_invites(self) -> list[Row]:
        rows = self.database.invites.find({"conversationId": self.id}, session=self.session)
        return cast(list[Row], await rows.to_list(None))

    async def join_requests(self) -> AsyncIterator[Row]:
        rows = self.database.join_requests.find({"conversationId": self.id}, session=self.session)
        async for row in rows:
            yield row

    async def conversation_bans(self) -> AsyncIterator[Row]:
        chosen = {"conversationId": self.id}
        async for ban in self.database.conversation_bans.find(chosen, session=self.session):
            yield ban

    async def list_blocks(self, pairs: list[dict[str, str]]) -> list[Row]:
        rows = self.database.blocks.find({"_id": {"$in": pairs}}, session=self.session)
        return cast(list[Row], await rows.to_list(None))

    async def _aggregate(self, stages: Sequence[Row], **options: Any) -> list[Row]:
        rows = await maybe_await(
            self.database.messages.aggregate(stages, session=self.session, **options)
        )
        return cast(list[Row], await rows.to_list(None))


async def in_snapshot(
    database: Database,
    conversation_id: object,
    read: Callable[[ConversationSnapshot], Awaitable[T]],
) -> T:
    """The result of `read` for a snapshot of a conversation. It may be called several times."""

    async def body(session: Session) -> T:
        return await read(await load_snapshot(database, session, conversation_id))

    return await transact(database, body, deadline=time.monotonic() + SNAPSHOT_SECONDS)


async def load_snapshot(
    database: Database, session: Session, conversation_id: object
) -> ConversationSnapshot:
    here = {"_id": conversation_id}
    head = await database.counters.find_one(here, session=session)
    conversation = await database.conversations.find_one(here, session=session)
    newest = await database.messages.find_one(
        {"conversationId": conversation_id, "seq": {"$gte": 1}},
        {"seq": 1, "createdAt": 1},
        sort=[("seq", -1)],
        session=session,
    )
    return ConversationSnapshot(database, session, conversation_id, conversation, head, newest)


class _Within:
    """A database that `count_unread` reads within a transaction."""

    def __init__(self, database: Database, session: Session) -> None:
        self.messages = database.messages
        self.unread_marks = database.unread_marks
        self.optional_fields = database.optional_fields
        self._session = session

    async def aggregate(self, rows: Any, stages: list[Row], **options: Any) -> Any:
        cursor = await maybe_await(rows.aggregate(stages, session=self._session, **options))
        return await cursor.to_list(None)


_IS_REPLY = {"$eq": [{"$type": "$threadRootMessageId"}, "string"]}
_REPLY = {"root": "$threadRootMessageId", "count": 1, "last": "$createdAt"}
_ROOT = {"root": "$_id", "count": 0, "said": "$thread"}
_THREADS: tuple[Row, ...] = (
    {"$project": {"part": {"$concatArrays": [[_ROOT], {"$cond": [_IS_REPLY, [_REPLY], []]}]}}},
    {"$unwind": "$part"},
    {
        "$group": {
            "_id": "$part.root",
            "count": {"$sum": "$part.count"},
            "last": {"$max": "$part.last"},
            # Only the root itself has one: `$max` selects it.
            "said": {"$max": "$part.said"},
        }
    },
    {
        "$match": {
            "$expr": {
                "$or": [
                    {"$ne": [{"$ifNull": ["$said.replyCount", 0]}, "$count"]},
                    {"$and": [{"$gt": ["$count", 0]}, {"$ne": ["$said.lastReplyAt", "$last"]}]},
                ]
            }
        }
    },
)
"""Groups messages by their thread's root; the results are the roots with a wrong summary."""
