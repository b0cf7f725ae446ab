"""What streams have shown: whoever has seen a message is not told of it.

A process notes stretches of consecutive messages for each user and conversation, and writes them in
one go every second at most.
"""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextvars import Context
from datetime import datetime
from functools import partial
from typing import Any

from pymongo import UpdateOne

from chat_aio.errors import StorageUnavailable
from chat_aio.plugins.api import Audience, PluginAPI
from chat_aio.plugins.base import DeliveredMessage

log = logging.getLogger(__name__)

REMEMBERED = 100_000
WRITTEN_AT_ONCE = 1_000

Place = tuple[str, str]
"""(user, conversation)."""


class Shown:
    """The collection `notification_shown`, written every `seconds` at most."""

    def __init__(self, api: PluginAPI, *, seconds: float) -> None:
        self._api = api
        self._seconds = seconds
        self._stretches: OrderedDict[Place, tuple[int, int]] = OrderedDict()
        self._unwritten: dict[tuple[str, str, int], int] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._writing: asyncio.Task[None] | None = None

    @property
    def _rows(self) -> Any:
        return self._api.collection("notification_shown")

    def note(self, user_id: str, message: DeliveredMessage) -> None:
        """A stream of a user has shown a message."""
        place = (user_id, message.conversation_id)
        first, last = self._stretches.pop(place, (0, 0))
        if not first <= message.seq <= last + 1 or not first:
            # A gap: what lies in between was not shown, so a new stretch begins.
            first = last = message.seq
        self._stretches[place] = (first, max(last, message.seq))
        self._unwritten[(*place, first)] = max(last, message.seq)
        if len(self._stretches) > REMEMBERED:
            self._stretches.popitem(last=False)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._seconds, self._start)

    async def close(self) -> None:
        """Write what is left."""
        if self._timer is not None:
            self._timer.cancel()
            self._start()
        if self._writing is not None:
            await asyncio.wait({self._writing})

    def _start(self) -> None:
        self._timer = None
        if self._writing is not None and not self._writing.done():
            # The database is slow: the next write takes all that has gathered.
            self._timer = asyncio.get_running_loop().call_later(self._seconds, self._start)
            return
        # A fresh context: the deadline of a request must not limit this write.
        self._writing = asyncio.create_task(self._write(), context=Context())

    async def _write(self) -> None:
        noted, self._unwritten = [*self._unwritten.items()], {}
        try:
            now = self._api.now()
            for start in range(0, len(noted), WRITTEN_AT_ONCE):
                some = noted[start : start + WRITTEN_AT_ONCE]
                writes = [_extended(*stretch, last=last, now=now) for stretch, last in some]
                await self._api.write(partial(self._rows.bulk_write, writes, ordered=False))
        except StorageUnavailable:
            log.warning("what streams have shown was not written: some may be told of it as well")
        except Exception:
            log.exception("what streams have shown could not be written")

    async def among(self, asked: Sequence[Audience]) -> Mapping[str, set[str]]:
        """The users whose streams have shown a message, by message id; one read for all."""
        oldest: dict[str, int] = {}
        for each in asked:
            here = each.conversation.id
            oldest[here] = min(each.message.seq, oldest.get(here, each.message.seq))
        if not oldest:
            return {}
        later = [{"conversationId": here, "last": {"$gte": seq}} for here, seq in oldest.items()]
        found = await self._api.read(lambda: self._rows.find({"$or": later}).to_list(None))
        return {
            each.message.id: {
                row["userId"]
                for row in found
                if row["conversationId"] == each.conversation.id
                and row["first"] <= each.message.seq <= row["last"]
            }
            for each in asked
        }


def _extended(
    user_id: str, conversation_id: str, first: int, *, last: int, now: datetime
) -> UpdateOne:
    """Make a stretch, or make it longer."""
    stretch = {"userId": user_id, "conversationId": conversation_id, "first": first}
    return UpdateOne(
        {"_id": stretch},
        {"$setOnInsert": stretch, "$max": {"last": last}, "$set": {"at": now}},
        upsert=True,
    )
