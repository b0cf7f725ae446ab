"""Live delivery of one process: feed, replay buffer and hub, and how a stream joins them."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import ExitStack
from contextvars import Context as Variables
from functools import partial

from chat_aio.actions.bans import require_unbanned
from chat_aio.actions.context import Context
from chat_aio.actions.following import load_followed, read_followed
from chat_aio.actions.moderators import receives_reports
from chat_aio.actions.unread_tallies import FeedView
from chat_aio.capabilities import Capability
from chat_aio.live.delivery import Delivery
from chat_aio.live.feed import Feed, Listener
from chat_aio.live.frames import ping_frame
from chat_aio.live.hub import Hub
from chat_aio.live.instrumentation import notify_opened, state_of
from chat_aio.live.message_filter import MessageFilter
from chat_aio.live.plugin_notifier import PluginNotifier
from chat_aio.live.read_filter import ReadFilter
from chat_aio.live.replay.buffer import ReplayBuffer
from chat_aio.live.replay.plan import ReplayPlanner
from chat_aio.live.stream import HOST, Stream
from chat_aio.live.unread_notifier import UnreadNotifier
from chat_aio.observability.dispatch import notify
from chat_aio.observability.observer import Observer, State
from chat_aio.store import conversations
from chat_aio.store.change_stream import StreamChange
from chat_aio.store.coalescer import Coalescer
from chat_aio.store.hidden import NOTHING, Hidden, hidden_from_each, within
from chat_aio.tasks import cancel_and_wait

log = logging.getLogger(__name__)

SWEEP_SECONDS = 1.0
OPENING_AT_ONCE = 32
"""How many streams read their conversations at once: when thousands reconnect, database connections
must be left for those who write."""


class Live:
    """The live part of a chat. `open` waits for the feed to be live, but not for ever."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._database = database = context.database
        self._options = options = context.options
        self._replay_buffer = ReplayBuffer(
            max_events=options.replay_buffer_events,
            max_bytes=options.replay_buffer_bytes,
            clock=context.clock,
        )
        self.ping = ping_frame(options.heartbeat_interval_ms)
        self._beats: asyncio.Task[None] | None = None
        self._rechecking: asyncio.Task[None] | None = None
        self._opening = asyncio.Semaphore(OPENING_AT_ONCE)
        read_hidden = partial(hidden_from_each, database)
        self._hidden = Coalescer[str, Hidden](read_hidden, most=OPENING_AT_ONCE)
        self.hub = Hub(streams_per_user=options.streams_per_user)
        self._read_filter = ReadFilter(context, self.hub)
        self._delivery = Delivery(context, self.hub, self._replay_buffer, self._read_filter)
        self._unread = UnreadNotifier(context, self.hub)
        self._message_filter = (
            MessageFilter(context) if context.permissions.asks_for_messages else None
        )
        self._take_message = self._message_filter.take if self._message_filter else None
        self._on_end = self._closed  # Bound once, not for each stream.
        self._closing: asyncio.Future[None] | None = None
        self._plugin_notifier = PluginNotifier(context.plugins)
        self.feed = Feed(
            database,
            Listener(
                changed=self._changed,
                is_heard=lambda: self.hub.is_used,
                live=partial(self._set_feed_live, True),
                # While the feed is idle nobody proves that it is not behind: cache nothing.
                idle=partial(self._set_feed_live, False),
                lost=self._lost,
            ),
            used=context.caches_used,
            clock=context.clock,
            past=options.replay_buffer_seconds,
            stall=options.change_stream_timeout_seconds,
            # Only observers use the times, which would make each change larger.
            timed=bool(context.observers),
        )
        sift = self._message_filter.sift if self._message_filter else None
        self._resuming = ReplayPlanner(context, self._replay_buffer, self.feed, sift)

    async def open(self) -> None:
        self._closing = asyncio.get_running_loop().create_future()
        self.feed.open()
        self._beats = asyncio.create_task(self._beat(), context=Variables())
        self._unread.open()
        # Opens in any case: without a feed streams are refused, and everything else works.
        await self.feed.wait_live(seconds=self._options.storage_timeout_seconds)

    @property
    def closing(self) -> asyncio.Future[None]:
        """Done once the chat closes; another one for each time that it is open."""
        assert self._closing is not None
        return self._closing

    async def close(self) -> None:
        """Accept no new streams, end the open ones, then stop following."""
        if self._closing is not None and not self._closing.done():
            self._closing.set_result(None)
        closing = asyncio.create_task(self.feed.close())
        await asyncio.sleep(0)  # Lets it begin: the feed is not live from there, no stream opens.
        self.hub.end_all("closing")
        await cancel_and_wait(*filter(None, (self._beats, self._rechecking)))
        await self._unread.close()
        await closing
        await self._delivery.close()
        self._context.unread_tallies.follow(None)

    async def open_stream(
        self, user_id: str, last_event_id: str | None, *, only: frozenset[str] | None = None
    ) -> Stream:
        """Open a stream: it holds back live events until its `replay` has been sent. Whoever ends
        it, `Stream.end` is all that it takes. With `only`, it has no other conversations.

        Raises RateLimited, UserBanned and StorageUnavailable.
        """
        # Nobody has received what the host reads, and nobody's rights limit it.
        is_hosts = user_id == HOST
        stream = Stream(
            user_id,
            max_bytes=self._options.stream_buffer_bytes,
            max_events=self._options.stream_buffer_events,
            on_message=None if is_hosts else self._plugin_notifier.message_delivered,
            sieve=None if is_hosts else self._take_message,
            only=only,
        )
        return await self._open(stream, partial(self._prepare, stream, last_event_id))

    async def follow(self, user_id: str, conversation_ids: Sequence[str]) -> Stream:
        """Open a stream of these conversations, whether the user is in them or not: from now on,
        without a replay or a position, and no plugin is notified of it (specification 19).

        Raises InvalidInput, ConversationNotFound, ForbiddenRead, RateLimited, UserBanned and
        StorageUnavailable.
        """
        stream = Stream(
            user_id,
            max_bytes=self._options.stream_buffer_bytes,
            max_events=self._options.stream_buffer_events,
            sieve=self._take_message,
            only=read_followed(self._context, conversation_ids),
            follows=True,
        )
        return await self._open(stream, partial(self._prepare_following, stream))

    async def _open(self, stream: Stream, prepare: Callable[[], Awaitable[None]]) -> Stream:
        # Register before reading the conversations: a membership change during the read is then
        # recorded on the stream, and `subscribe` applies it.
        self.hub.register(stream)
        self._context.caches_used.set()
        self.feed.wake()
        with ExitStack() as failing:
            failing.callback(self.hub.remove, stream)
            await prepare()
            if stream.is_personal:
                failing.callback(self._plugin_notifier.closed, stream.user_id)
                await self._plugin_notifier.opened(stream.user_id)
            failing.pop_all()
        notify_opened(stream, self._context.observers)
        # Only here: a stream that is ended before must not be closed before it has opened.
        stream.when_over(self._on_end)
        return stream

    def _closed(self, stream: Stream) -> None:
        self.hub.remove(stream)
        if stream.is_personal:
            self._plugin_notifier.closed(stream.user_id)
            if not self.hub.hears_all(stream.user_id):
                self._unread.forget(stream.user_id)
        notify(self._context.observers, Observer.stream_closed, stream.ending)

    async def _prepare(self, stream: Stream, last_event_id: str | None) -> None:
        # Before anything is read: `began` may become the client's position, and a position after
        # the reads would hide writes between the two.
        began = self._context.clock()
        ids, hidden = await self._conversations_of(stream)
        # Before subscribing: `find` may wait until the feed has delivered the client's position. A
        # subscribed stream would hold back those events and send them a second time.
        wanted = await self._resuming.find(last_event_id)
        if not stream.is_hosts:
            await self._read_filter.ask_for(stream, ids)
        if self._options.moderation_tools and not stream.is_hosts:
            stream.moderates = await receives_reports(self._context, stream.user_id)
        # Subscribe before reading the replay, so that no event falls between the two. An event may
        # then be in both; the replay's `cover` drops the live one.
        self.hub.subscribe(stream, ids, hidden)
        stream.replay = await self._resuming.replay(stream, wanted, began)

    async def _prepare_following(self, stream: Stream) -> None:
        # After registering: what ends the right to read from here on ends the stream.
        await require_unbanned(self._context, stream.user_id)
        found = await load_followed(self._context, stream.user_id, stream.only or ())
        stream.outside = frozenset(
            snapshot.conversation.id
            for snapshot in found
            if stream.user_id not in snapshot.conversation.roles
        )
        hidden: dict[str, int] = {}
        for snapshot in found:
            hidden |= snapshot.hidden_from(stream.user_id)
        self.hub.subscribe(stream, stream.only or (), hidden)

    async def _conversations_of(self, stream: Stream) -> tuple[Collection[str], Hidden]:
        """The conversations of a new stream, and their hidden ranges.
        Raises UserBanned."""
        if stream.is_hosts:
            return stream.only or (), NOTHING
        # After registering: a ban from here on ends the stream through the hub.
        await require_unbanned(self._context, stream.user_id)
        async with self._opening:
            ids = await conversations.ids_of_user(self._database, stream.user_id)
            # After the ids: the hidden range of all of these conversations is known.
            hidden = await self._hidden.ask(stream.user_id)
        wanted = [
            conversation_id
            for conversation_id in ids
            if stream.only is None or conversation_id in stream.only
        ]
        return wanted, within(hidden, wanted)

    def state(self) -> State:
        """The current state, for observers."""
        return state_of(
            self.hub,
            self.feed,
            self._replay_buffer,
            has_streams=Capability.STREAMS in self._context.capabilities,
            sends_waiting=self._context.sequencer.count_waiting(),
            database_calls=len(self._database.calls),
        )

    async def _changed(self, changes: Sequence[StreamChange]) -> None:
        await self._delivery.deliver(changes, is_live=self.feed.is_live)

    def _set_feed_live(self, is_live: bool) -> None:
        self._delivery.set_feed_live(is_live)
        view = FeedView(self.hub.readers_of, self.hub.hears_all, self.feed.passed)
        self._context.unread_tallies.follow(view if is_live else None)

    def _lost(self, gap: bool) -> None:
        """Stop caching and end all streams: without the feed both would miss changes."""
        self._set_feed_live(False)
        self.hub.end_all()
        notify(self._context.observers, Observer.feed_lost, gap)
        if gap:
            self._context.profiles.forget_all()  # The gap may contain the signal to do so.
            self._replay_buffer.clear()  # A replay across the gap would silently leave events out.

    async def _beat(self) -> None:
        """Send heartbeats to all streams; in between, end the streams of clients that have left."""
        interval = self._options.heartbeat_interval_ms / 1000
        sweeps = max(1, round(interval / SWEEP_SECONDS))
        while True:
            for _ in range(sweeps):
                await asyncio.sleep(interval / sweeps)
                await self.hub.sweep()
            await self.hub.beat()
            # Not awaited: slow hooks or a slow database must not delay the next heartbeat, or
            # proxies and clients would take the connection for dead.
            if self._rechecking is None or self._rechecking.done():
                self._rechecking = asyncio.create_task(self._recheck(), context=Variables())

    async def _recheck(self) -> None:
        """Check all streams again: bans, logins, and what may be read."""
        try:
            await self._delivery.end_banned()
            await self.hub.end_logged_out()
            await self._read_filter.ask_again()
        except Exception as error:
            log.warning("the open streams could not be checked again: %r", error)
