"""Notifies users of their number of unread messages when it changes (specification 15.7)."""

import asyncio
import logging
import time
from contextvars import Context as Variables
from functools import partial

from chat_aio.actions.context import Context
from chat_aio.actions.unread import count_conversations
from chat_aio.errors import StorageUnavailable
from chat_aio.live.frames import event_frame
from chat_aio.live.hub import SLICE, Hub
from chat_aio.schema.events import UnreadEvent
from chat_aio.schema.inbox import UnreadTotals
from chat_aio.tasks import cancel_and_wait

log = logging.getLogger(__name__)

PAUSE_SECONDS = 0.5
SHARE = 20
"""A round takes at most a twentieth of the time: the pause after it grows with its length."""

COUNTS_AT_ONCE = 4


class UnreadNotifier:
    """Sends `unread.updated` to all streams of a user, at most once in a while: the messages that
    come in between change the number once."""

    def __init__(self, context: Context, hub: Hub) -> None:
        self._context = context
        self._hub = hub
        self._tallies = context.unread_tallies
        self._sent: dict[str, UnreadTotals] = {}
        self._counts = asyncio.Semaphore(COUNTS_AT_ONCE)
        self._task: asyncio.Task[None] | None = None

    def open(self) -> None:
        self._task = asyncio.create_task(self._run(), context=Variables())

    async def close(self) -> None:
        if self._task is not None:
            await cancel_and_wait(self._task)

    def forget(self, user_id: str) -> None:
        """The last stream of a user has ended."""
        self._sent.pop(user_id, None)
        self._tallies.forget(user_id)

    async def _run(self) -> None:
        while True:
            await self._tallies.has_changed.wait()
            self._tallies.has_changed.clear()
            took = await self._notify()
            await asyncio.sleep(max(PAUSE_SECONDS, SHARE * took))

    async def _notify(self) -> float:
        """Notify everybody whose number has changed; returns the seconds that this took without
        the counts."""
        began, waited = time.perf_counter(), 0.0
        uncounted = []
        for number, user_id in enumerate(self._tallies.take_changed(), start=1):
            if totals := self._tallies.current(user_id):
                self._send(user_id, totals)
            elif self._hub.hears_all(user_id):
                uncounted.append(user_id)
            if number % SLICE == 0:
                paused = time.perf_counter()
                await asyncio.sleep(0)
                waited += time.perf_counter() - paused
        took = time.perf_counter() - began - waited
        await asyncio.gather(*map(self._count, uncounted))
        return took

    async def _count(self, user_id: str) -> None:
        count = partial(count_conversations, self._context, user_id)
        async with self._counts:
            try:
                self._send(user_id, await self._tallies.totals(user_id, count))
            except StorageUnavailable:
                log.warning("unread messages were not counted: the database is out of reach")
                self._tallies.note_changed(user_id)
            except Exception:
                # Of the host's `can_read`, for one. The next change of the number counts again.
                log.exception("the unread messages of a user could not be counted")

    def _send(self, user_id: str, totals: UnreadTotals) -> None:
        if self._sent.get(user_id) == totals or not self._hub.hears_all(user_id):
            return
        self._sent[user_id] = totals
        event = UnreadEvent(type="unread.updated", all=totals.all, unmuted=totals.unmuted)
        self._hub.send_to(user_id, event_frame(event))
