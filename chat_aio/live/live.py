"""Live delivery of one process: feed, ring and hub, and how a stream joins them."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import datetime

from chat_aio.live.events import Event, Translator
from chat_aio.live.feed import Feed, Listener
from chat_aio.live.frames import Frame, position_frame
from chat_aio.live.hub import Hub
from chat_aio.live.replay import Replay, position_from
from chat_aio.live.ring import Ring
from chat_aio.live.streams import Stream
from chat_aio.options import Options
from chat_aio.store import conversations
from chat_aio.store.change_stream import RawChange
from chat_aio.store.database import Database
from chat_aio.store.snapshots import Snapshots

log = logging.getLogger(__name__)

SWEEP_SECONDS = 1.0


class Live:
    """What goes out from this process. `open` returns once the feed is live."""

    def __init__(
        self,
        database: Database,
        snapshots: Snapshots,
        options: Options,
        *,
        clock: Callable[[], datetime],
    ) -> None:
        self._database = database
        self._snapshots = snapshots
        self._options = options
        self._translator = Translator(database)
        self._ring = Ring(max_events=options.ring_events, max_bytes=options.ring_bytes)
        self._beats: asyncio.Task[None] | None = None
        self.hub = Hub(streams_per_user=options.streams_per_user)
        self.feed = Feed(
            database,
            Listener(changed=self._changed, live=self._went_live, lost=self._lost),
            clock=clock,
            past=options.ring_seconds,
            stall=options.feed_stall_seconds,
        )

    async def open(self) -> None:
        self.feed.open()
        self._beats = asyncio.create_task(self._beat())
        await self.feed.wait_live(seconds=self._options.storage_timeout_seconds)

    async def close(self) -> None:
        """End all streams, then stop following."""
        self.hub.end_all()
        if self._beats is not None:
            self._beats.cancel()
            await asyncio.wait({self._beats})
        await self.feed.close()
        self._snapshots.trust(False)

    @asynccontextmanager
    async def attach(
        self, user_id: str, last_event_id: str | None
    ) -> AsyncIterator[tuple[Stream, Replay]]:
        """A stream that holds back what comes from now on, and what to tell it before that.

        It is registered before its conversations are read, and subscribed before its replay is
        put together: whatever happens in between is in one or the other. Raises RateLimited and
        StorageUnavailable.
        """
        stream = Stream(
            user_id,
            max_bytes=self._options.stream_buffer_bytes,
            max_events=self._options.stream_buffer_events,
        )
        self.hub.register(stream)
        try:
            ids = await conversations.ids_of_user(self._database, user_id)
            self.hub.subscribe(stream, ids)
            yield stream, await self._replay(stream, last_event_id)
        finally:
            stream.end()
            self.hub.remove(stream)

    async def _replay(self, stream: Stream, last_event_id: str | None) -> Replay:
        """What `stream` has missed; computed in one go with its subscription where the ring holds
        the position, so that it joins on to what the stream holds back."""
        newest = self._ring.newest_created(stream.conversation_ids)
        position = position_from(last_event_id)
        seen = self._ring.find_created(*position) if position else None
        if seen is not None:
            missed = self._ring.list_after(seen.index, stream.conversation_ids)
            if len(missed) <= self._options.replay_limit:
                return Replay(
                    events=tuple(missed),
                    since=seen.position,
                    newest=newest.position if newest else seen.position,
                )
        elif position and not await self._is_held_by_storage(*position):
            position = None
        return Replay(
            newest=newest.position if newest else await self._newest_stored(stream),
            reset=("too_many_missed" if seen else "position_unknown") if position else None,
        )

    async def _is_held_by_storage(self, conversation_id: str, seq: int) -> bool:
        """Whether this names a message at all; beyond the head is a position at the end."""
        head = await conversations.find_head(self._database, conversation_id)
        return head is not None and seq <= head["seq"]

    async def _newest_stored(self, stream: Stream) -> Frame | None:
        """The last message of the conversation with the newest activity."""
        ids = list(stream.conversation_ids)
        heads = await conversations.list_heads(self._database, ids, limit=1, spoken=True)
        return position_frame(f"{heads[0]['_id']}:{heads[0]['seq']}") if heads else None

    async def _changed(self, changes: Sequence[RawChange]) -> None:
        for change in changes:
            if change["ns"]["coll"] == self._database.conversations.name:
                self._snapshots.forget(change["documentKey"]["_id"])
        for event in await self._translator.events_from(changes):
            await self._publish(event)

    async def _publish(self, event: Event) -> None:
        if event.position:
            self._ring.append(event)
        await self.hub.publish(event)

    def _went_live(self) -> None:
        self._snapshots.trust(True)

    def _lost(self, gap: bool) -> None:
        """Nothing that is cached or promised holds any longer."""
        self._snapshots.trust(False)
        self.hub.end_all()
        if gap:
            self._ring.clear()

    async def _beat(self) -> None:
        """One heartbeat for all streams, and a look for clients that have left."""
        interval = self._options.heartbeat_interval_ms / 1000
        sweeps = max(1, round(interval / SWEEP_SECONDS))
        while True:
            for _ in range(sweeps):
                await asyncio.sleep(interval / sweeps)
                await self.hub.sweep()
            await self.hub.beat()
