"""Snapshots: cached conversations for the checks of rules, dropped on every change in the feed.

A snapshot may lag behind other processes by the milliseconds of the feed. Writes for which that
matters carry the snapshot's epoch, which is compared again in their transaction.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Mapping
from contextvars import Context
from dataclasses import dataclass

import orjson

from chat_aio.schema.models import Conversation
from chat_aio.store import conversations
from chat_aio.store.database import Database
from chat_aio.store.hidden import NOTHING, Hidden, by_user
from chat_aio.store.mapping import conversation_from

MAX_WEIGHT = 100_000
BYTES_OF_A_PARTICIPANT = 200


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A conversation and its epoch; read states in it may be old.

    `weight` is its size in memory, in participants; `blocked` is whether one of the two users of a
    direct conversation has blocked the other. `hidden` has, by user, the seq up to which messages
    are hidden from them.
    """

    conversation: Conversation
    epoch: int
    weight: int
    blocked: bool
    hidden: Mapping[str, int]

    def hidden_from(self, user_id: str) -> Hidden:
        """The messages hidden from a user."""
        upto = self.hidden.get(user_id)
        return {self.conversation.id: upto} if upto else NOTHING


class Snapshots:
    """The cache of one process, bounded by the total weight. Every lookup sets `used`."""

    def __init__(
        self,
        database: Database,
        *,
        used: asyncio.Event,
        max_weight: int = MAX_WEIGHT,
    ) -> None:
        self._database = database
        self._used = used
        self._kept: OrderedDict[str, Snapshot] = OrderedDict()
        self._loading: dict[str, asyncio.Task[Snapshot | None]] = {}
        self._room = max_weight
        self._feed_live = False

    async def find(self, conversation_id: str) -> Snapshot | None:
        """The conversation, cached or read; None if there is none. Raises StorageUnavailable."""
        # Wakes an idle feed, without which nothing is cached (decision 0055).
        self._used.set()
        if kept := self._kept.get(conversation_id):
            self._kept.move_to_end(conversation_id)
            return kept
        if loading := self._loading.get(conversation_id):
            return await self._database.calls.shared(loading, seconds=self._database.timeout)
        return await self.find_fresh(conversation_id)

    async def find_fresh(self, conversation_id: str) -> Snapshot | None:
        """The conversation, read from the database; None if there is none."""

        async def load() -> Snapshot | None:
            document = await conversations.find(self._database, conversation_id)
            if document is None:
                return None
            conversation = conversation_from(document, self._database.optional_fields)
            metadata = len(orjson.dumps(conversation.metadata)) // BYTES_OF_A_PARTICIPANT
            weight = len(conversation.participants) + metadata
            blocked = bool(document.get("blockedBy"))
            return Snapshot(conversation, document["epoch"], weight, blocked, by_user(document))

        self.forget(conversation_id)
        # A fresh context: others may share this read, which the first caller's deadline must not
        # limit.
        loading = asyncio.create_task(load(), context=Context())
        self._loading[conversation_id] = loading
        try:
            snapshot = await self._database.calls.shared(loading, seconds=self._database.timeout)
        finally:
            # Not current if it was invalidated during the read, which may then be older than the
            # change.
            current = self._loading.get(conversation_id) is loading
            if current:
                del self._loading[conversation_id]
        if snapshot and current and self._feed_live:
            self._kept[conversation_id] = snapshot
            self._room -= snapshot.weight
            while self._room < 0:
                _, oldest = self._kept.popitem(last=False)
                self._room += oldest.weight
        return snapshot

    def forget(self, conversation_id: str) -> None:
        """Invalidate a conversation that has changed, and reads of it in progress."""
        self._loading.pop(conversation_id, None)
        if old := self._kept.pop(conversation_id, None):
            self._room += old.weight

    def set_feed_live(self, is_live: bool) -> None:
        """Set whether the feed reports changes now; while it does not, nothing is cached."""
        self._feed_live = is_live
        for conversation_id in [*self._kept, *self._loading]:
            self.forget(conversation_id)
