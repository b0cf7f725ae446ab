"""The ranges that streams have delivered: users who have seen a message are not notified of it.

A process notes stretches of consecutive messages for each user and conversation, and writes them in
one go every second at most, a second after they were sent or later.
"""

import asyncio
import logging
from collections import Counter, OrderedDict
from collections.abc import Mapping, Sequence
from contextvars import Context

from chat_aio.actions.plugin_api import Audience, PluginAPI, Write
from chat_aio.errors import StorageUnavailable
from chat_aio.plugin_types.base import DeliveredMessage
from chat_aio.plugins.own_collection import OwnCollection

log = logging.getLogger(__name__)

REMEMBERED = 100_000
SHOWN = "notification_shown"

Place = tuple[str, str]
"""(user, conversation)."""


class Shown:
    """The collection `notification_shown`, written every `seconds` at most."""

    _rows = OwnCollection(SHOWN)

    def __init__(self, api: PluginAPI, *, seconds: float) -> None:
        self._api = api
        self._seconds = seconds
        self._stretches: OrderedDict[Place, tuple[int, int]] = OrderedDict()
        self._streams: Counter[str] = Counter()
        self._settling: dict[str, list[tuple[float, str, int]]] = {}
        self._unwritten: dict[tuple[str, str, int], int] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._writing: asyncio.Task[None] | None = None

    def opened(self, user_id: str) -> None:
        """A stream of a user has opened."""
        self._streams[user_id] += 1

    def closed(self, user_id: str) -> None:
        """A stream of a user has ended. After the last one it is not known whether the client has
        read what it was sent in the last moments, so that does not count as shown."""
        self._streams[user_id] -= 1
        if self._streams[user_id] <= 0:
            # The counter holds only users with a stream, or it would grow for ever.
            del self._streams[user_id]
            self._settling.pop(user_id, None)

    def note(self, user_id: str, message: DeliveredMessage) -> None:
        """A message was sent to a stream of a user."""
        now = asyncio.get_running_loop().time()
        noted = (now, message.conversation_id, message.seq)
        self._settling.setdefault(user_id, []).append(noted)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._seconds, self._start)

    async def close(self) -> None:
        """Write the rest. The streams have ended."""
        if self._timer is not None:
            self._timer.cancel()
            self._write_later()
        if self._writing is not None:
            await asyncio.wait({self._writing})

    def _start(self) -> None:
        """Write the settled ranges, and come back for the rest."""
        self._timer = None
        before = asyncio.get_running_loop().time() - self._seconds
        waiting, self._settling = self._settling, {}
        for user_id, noted in waiting.items():
            for at, conversation_id, seq in noted:
                if at > before:
                    continue
                place = user_id, conversation_id
                first, last = self._stretches.pop(place, (0, 0))
                if not first or not first <= seq <= last + 1:
                    # A gap: what lies in between was not shown, so a new stretch begins.
                    first = last = seq
                self._stretches[place] = (first, max(last, seq))
                self._unwritten[*place, first] = max(last, seq)
                if len(self._stretches) > REMEMBERED:
                    self._stretches.popitem(last=False)
            # A message of the last second may be lost with its stream (see `closed`).
            if left := [entry for entry in noted if entry[0] > before]:
                self._settling[user_id] = left
        # If the database is slow, the next write takes all that has gathered.
        if self._writing is None or self._writing.done():
            self._write_later()
        if self._settling or self._unwritten:
            self._timer = asyncio.get_running_loop().call_later(self._seconds, self._start)

    def _write_later(self) -> None:
        noted, self._unwritten = [*self._unwritten.items()], {}
        if noted:
            # A fresh context: the deadline of a request must not limit this write.
            self._writing = asyncio.create_task(self._write(noted), context=Context())

    async def _write(self, noted: Sequence[tuple[tuple[str, str, int], int]]) -> None:
        try:
            now = self._api.now()
            writes: list[Write] = []
            for (user_id, conversation_id, first), last in noted:
                stretch = {"userId": user_id, "conversationId": conversation_id, "first": first}
                longer = {"$setOnInsert": stretch, "$max": {"last": last}, "$set": {"at": now}}
                writes.append(({"_id": stretch}, longer))
            await self._api.write_many(SHOWN, writes)
        except StorageUnavailable:
            log.warning(
                "what streams have shown was not written: some users may be notified although they "
                "have seen the message"
            )
        except Exception:
            log.exception("what streams have shown could not be written")

    async def among(self, asked: Sequence[Audience]) -> Mapping[str, set[str]]:
        """The users whose streams have shown a message, by message id; one read for all."""
        oldest: dict[str, int] = {}
        for audience in asked:
            here = audience.conversation.id
            oldest[here] = min(audience.message.seq, oldest.get(here, audience.message.seq))
        if not oldest:
            return {}
        # One branch for each conversation, not for each message: branches cost more than rows.
        later = [{"conversationId": here, "last": {"$gte": seq}} for here, seq in oldest.items()]
        found = await self._api.read(lambda: self._rows.find({"$or": later}).to_list(None))
        return {
            audience.message.id: {
                row["userId"]
                for row in found
                if row["conversationId"] == audience.conversation.id
                and row["first"] <= audience.message.seq <= row["last"]
            }
            for audience in asked
        }
