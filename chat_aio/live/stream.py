"""One open stream: the order of its events, and the limits on how far its reader falls behind."""

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable
from contextvars import Context
from typing import Protocol

from chat_aio.live.event import Event, MessageChanged, MessageCreated, MessageEvent
from chat_aio.live.frames import HEARTBEAT, Frame, joined
from chat_aio.live.replay.replay import Cover, Replay
from chat_aio.observability.observer import Ending
from chat_aio.plugin_types.base import DeliveredMessage
from chat_aio.store.hidden import NOTHING, Hidden

PATIENCE_SECONDS = 10.0
BURST = 4
NO_REPLAY = Replay()
HOST = ""
"""In place of a user's id: the stream is the host's own, and nobody's permissions limit it."""

NONE: frozenset[str] = frozenset()
"""Shared, as most streams have none for ever: an empty set takes as much memory as a full one."""


class Pipe(Protocol):
    """The part of an asyncio transport that a stream writes to."""

    def write(self, data: bytes) -> None: ...
    def is_closing(self) -> bool: ...
    def get_write_buffer_size(self) -> int: ...
    def abort(self) -> None: ...


class Connection(Protocol):
    """What a stream that is live writes to; `finish` is called when the stream is over."""

    @property
    def pipe(self) -> Pipe: ...
    @property
    def chunked(self) -> bool: ...
    def finish(self, ending: Ending) -> None: ...


class Stream:
    """The stream of one connection. It holds events back until its `replay` is sent and it goes
    live.

    Bytes are written straight to the pipe. A reader that has more than `max_bytes` unsent for
    `PATIENCE_SECONDS`, or four times as much at once, is cut off, and so is a stream that must
    hold back more than `max_events`. The client then resumes.
    """

    __slots__ = (
        "_behind_since",
        "_chunked",
        "_connection",
        "_cover",
        "_covered",
        "_delivered",
        "_held",
        "_holds",
        "_max_bytes",
        "_max_events",
        "_on_end",
        "_on_message",
        "_pipe",
        "_position",
        "_sieve",
        "conversation_ids",
        "denied",
        "ending",
        "follows",
        "heartbeat",
        "hidden",
        "is_over",
        "membership",
        "moderates",
        "only",
        "outside",
        "replay",
        "still_logged_in",
        "subscribed",
        "user_id",
    )

    def __init__(
        self,
        user_id: str,
        *,
        max_bytes: int,
        max_events: int,
        on_message: Callable[[str, DeliveredMessage], None] | None = None,
        sieve: Callable[["Stream", Event], bool] | None = None,
        only: frozenset[str] | None = None,
        follows: bool = False,
    ) -> None:
        """With `only`, the stream is subscribed to no other conversations than these; one that
        `follows` them is of a user who need not be in them (specification 19)."""
        # A host may use its own type for ids, of which none can be interned.
        self.user_id = sys.intern(user_id) if type(user_id) is str else user_id
        self.only = only
        self.follows = follows
        self.outside = NONE
        self.conversation_ids: set[str] = set()
        self.membership: dict[str, bool] = {}
        self.subscribed = False
        self.moderates = False
        self.denied = NONE
        self.hidden: Hidden = NOTHING
        self.replay = NO_REPLAY
        self.is_over = False
        self.ending: Ending = "left"
        self.heartbeat = HEARTBEAT
        self.still_logged_in: Callable[[], Awaitable[bool]] | None = None
        self._position: Frame | None = None
        self._cover: Cover | None = None
        self._covered: int | None = None
        self._delivered = 0
        self._held: list[Event] = []
        self._connection: Connection | None = None
        self._pipe: Pipe | None = None
        self._chunked = True
        self._max_bytes = max_bytes
        self._behind_since: float | None = None
        self._max_events = max_events
        self._holds = 0
        self._on_end: Callable[[Stream], None] | None = None
        self._on_message = on_message
        self._sieve = sieve

    @property
    def is_hosts(self) -> bool:
        """Whether this is a stream of the host's own."""
        return self.user_id == HOST

    @property
    def is_personal(self) -> bool:
        """Whether this is a user's own stream, which makes them present, and shows them ephemeral
        events."""
        return not (self.is_hosts or self.follows)

    @property
    def hears_all(self) -> bool:
        """Whether it is subscribed to all conversations, without a list of them."""
        return self.is_hosts and self.only is None

    @property
    def unsent(self) -> int:
        """How many bytes the client has not taken yet."""
        pipe = self._pipe
        return 0 if pipe is None or pipe.is_closing() else pipe.get_write_buffer_size()

    @property
    def max_events(self) -> int:
        """How many events may be held back."""
        return self._max_events

    @property
    def held(self) -> int:
        """How many events are held back."""
        return len(self._held)

    def let_into(self) -> set[str]:
        """The conversations that the user was added to while their conversations were read."""
        return {conversation_id for conversation_id, inside in self.membership.items() if inside}

    def gets(self, audience: frozenset[str], conversation_id: str) -> bool:
        """Whether an event of the conversation that is limited to an audience is for the stream."""
        # Nobody was removed from a conversation without having been in it.
        is_outside = self.is_hosts or conversation_id in self.outside
        return is_outside or self.user_id in audience

    def deliver(self, event: Event) -> None:
        """Deliver an event, unless it is hidden from the user or the message filter takes it, which
        passes it on later or drops it."""
        self._delivered = event.index or self._delivered
        if self.hidden and (upto := self.hidden.get(event.conversation_id)):
            if (shown := event.behind(upto)) is None:
                return
            event = shown
        if self._sieve is None or not self._sieve(self, event):
            self.pass_on(event)

    def pass_on(self, event: Event) -> None:
        """Write an event now, or hold it back until the stream is live."""
        if self.is_over:
            return
        if self._pipe is None or self._holds:
            self._held.append(event)
            if len(self._held) > self._max_events:
                self.end("overflow")
            return
        cover = self._cover
        if cover is not None and self._covered is not None and event.index > self._covered:
            cover = self._cover = None
        if cover is not None and isinstance(event, MessageEvent) and cover.covers(event):
            return  # The replay had it.
        if self.follows:
            self._write(event.frame_without_position)
        elif isinstance(event, MessageCreated):
            self._position = event.position
            if self._write(event.frame) and self._on_message is not None:
                self._on_message(self.user_id, event.delivered_message)
        elif isinstance(event, MessageChanged) and self._position:
            # An edit has the id of its message, which may be old: the position after it moves the
            # client's Last-Event-ID back to the newest created event (specification 7.4).
            self._write(joined(event.frame, self._position))
        else:
            self._write(event.frame)

    def go_live(self, connection: Connection) -> None:
        """After the replay was sent: write the held-back events that it does not contain, and from
        now on each event as it comes. Releases the replay."""
        replay, self.replay = self.replay, NO_REPLAY
        if self.is_over:
            connection.finish(self.ending)
            return
        self._connection = connection
        # Kept here as well: each delivery reads them.
        self._pipe, self._chunked = connection.pipe, connection.chunked
        self._position = replay.position
        if replay.cover is not None:
            self._cover = replay.cover
            replay.cover.passed.add_done_callback(self._uncover)
        if self._on_message:
            for message in replay.messages:
                self._on_message(self.user_id, message)
        self._deliver_held()

    def _uncover(self, passed: asyncio.Future[None]) -> None:
        """The feed has passed everything that the replay could contain: the cover is not needed for
        later events. If the feed's tick has failed, keep the cover."""
        # Events up to this index may still be held back or with the message filter.
        if not passed.cancelled() and passed.exception() is None:
            self._covered = self._delivered

    def hold(self) -> None:
        """Hold all events back until `release` was called as often as `hold`."""
        self._holds += 1

    def release(self, *, without: str | None = None) -> None:
        """Undo one `hold`; drop the held-back events of the conversation `without`."""
        self._holds -= 1
        if without is not None:
            self._held = [event for event in self._held if event.conversation_id != without]
        if self._pipe is not None:
            self._deliver_held()

    def _deliver_held(self) -> None:
        if not self._holds:
            held, self._held = self._held, []
            for event in held:
                self.pass_on(event)

    def beat(self) -> None:
        """Send a heartbeat."""
        self._write(self.heartbeat)

    def end(self, ending: Ending = "left") -> bool:
        """End the stream once its buffer is sent; the client reconnects and resumes. Returns
        False if the stream had ended before."""
        if self.is_over:
            return False
        self.is_over, self.ending = True, ending
        if self._on_end is not None:
            self._finish_soon(self._on_end)
        return True

    def when_over(self, on_end: Callable[["Stream"], None]) -> None:
        """Call `on_end` once the stream is over, also if it is over already."""
        self._on_end = on_end
        if self.is_over:
            self._finish_soon(on_end)

    def _finish_soon(self, on_end: Callable[["Stream"], None]) -> None:
        # Later: the caller may be iterating over the hub's streams. And in an empty context:
        # the caller's deadline must not limit the following steps.
        loop, context = asyncio.get_running_loop(), Context()
        loop.call_soon(on_end, self, context=context)
        # Not kept: each knows the other, and the collector runs seldom in a process that serves.
        connection, self._connection = self._connection, None
        if connection is not None:
            loop.call_soon(connection.finish, self.ending, context=context)

    def end_if_gone(self) -> None:
        """End the stream if its client has left."""
        if self._pipe is not None and self._pipe.is_closing():
            self.end()

    def _write(self, frame: Frame) -> bool:
        """Write a frame, whose bytes all streams share; returns whether it was written."""
        pipe = self._pipe
        if pipe is None or self.is_over:
            return False
        if pipe.is_closing():
            self.end()
            return False
        unsent = pipe.get_write_buffer_size()
        if unsent <= self._max_bytes:
            self._behind_since = None
        else:
            now = time.monotonic()
            self._behind_since = self._behind_since or now
            # A burst alone is tolerated: it is not the reader's fault.
            if unsent > BURST * self._max_bytes or now - self._behind_since > PATIENCE_SECONDS:
                # Unsent events would pile up in this process. Cut off, the client resumes; a polite
                # end would wait behind the bytes that it does not take.
                self.end("slow")
                pipe.abort()
                return False
        pipe.write(frame.chunk if self._chunked else frame.plain)
        return True
