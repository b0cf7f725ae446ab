"""One open stream: what it is told, in which order, and when it has fallen too far behind."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Protocol

from chat_aio.live.event import Event
from chat_aio.live.frames import HEARTBEAT, Frame
from chat_aio.live.replay.replay import Cover, Replay
from chat_aio.observability.observer import Ending
from chat_aio.plugins.base import DeliveredMessage

PATIENCE_SECONDS = 10.0
BURST = 4


class Pipe(Protocol):
    """Where the bytes go: an asyncio transport."""

    def write(self, data: bytes) -> None: ...
    def is_closing(self) -> bool: ...
    def get_write_buffer_size(self) -> int: ...
    def abort(self) -> None: ...


class Stream:
    """The stream of one connection. It holds events back until it goes live.

    Bytes are written straight to the pipe. A reader that has more than `max_bytes` unsent for
    `PATIENCE_SECONDS`, or four times as much at once, is cut off, and so is a stream that must
    hold back more than `max_events`. The client then resumes. `replay` is told before it goes live.
    """

    __slots__ = (
        "_behind_since",
        "_chunked",
        "_cover",
        "_covered",
        "_delivered",
        "_held",
        "_holds",
        "_max_bytes",
        "_max_events",
        "_on_message",
        "_pipe",
        "_position",
        "_sieve",
        "conversation_ids",
        "denied",
        "ended",
        "ending",
        "membership",
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
    ) -> None:
        self.user_id = user_id
        self.conversation_ids: set[str] = set()
        self.membership: dict[str, bool] = {}
        self.subscribed = False
        self.denied: set[str] = set()
        self.replay = Replay()
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.ending: Ending = "left"
        self.still_logged_in: Callable[[], Awaitable[bool]] | None = None
        self._position: Frame | None = None
        self._cover: Cover | None = None
        self._covered: int | None = None
        self._delivered = 0
        self._held: list[Event] = []
        self._pipe: Pipe | None = None
        self._chunked = True
        self._max_bytes = max_bytes
        self._behind_since: float | None = None
        self._max_events = max_events
        self._holds = 0
        self._on_message = on_message
        self._sieve = sieve

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
        """The conversations that the user was let into while theirs were being read."""
        return {each for each, inside in self.membership.items() if inside}

    def deliver(self, event: Event) -> None:
        """Tell an event, unless a sieve takes it, which passes it on later, or does not."""
        self._delivered = event.index or self._delivered
        if self._sieve is None or not self._sieve(self, event):
            self.pass_on(event)

    def pass_on(self, event: Event) -> None:
        """Tell an event now, or hold it back until the stream is live."""
        if self.ended.done():
            return
        if self._pipe is None or self._holds:
            self._held.append(event)
            if len(self._held) > self._max_events:
                self.end("overflow")
        elif self._cover is not None and self._covers(event):
            return
        elif event.created:
            self._position = event.position
            if self._write(event.frame) and self._on_message:
                self._on_message(self.user_id, event.delivered_message)
        elif event.position and self._position:
            self._write(event.frame, self._position)
        else:
            self._write(event.frame)

    def go_live(self, pipe: Pipe, *, chunked: bool) -> None:
        """Behind the replay, what was held back and is not in it; from here on as it comes. The
        replay is let go."""
        replay, self.replay = self.replay, Replay()
        if self.ended.done():
            return
        self._pipe, self._chunked = pipe, chunked
        self._position = replay.position
        if replay.cover is not None:
            self._cover = replay.cover
            replay.cover.passed.add_done_callback(self._uncover)
        if self._on_message:
            for message in replay.messages:
                self._on_message(self.user_id, message)
        self._deliver_held()

    def _uncover(self, passed: asyncio.Future[None]) -> None:
        """What the feed tells from now on came after the replay; unless it is not known to. What
        was held back or asked about until now may still be in it."""
        if not passed.cancelled() and passed.exception() is None:
            self._covered = self._delivered

    def _covers(self, event: Event) -> bool:
        """Whether the replay has told it; its cover goes with the first event behind it."""
        if self._covered is not None and event.index > self._covered:
            self._cover = None
        return self._cover is not None and self._cover.covers(event)

    def hold(self) -> None:
        """Hold everything back until as many releases as holds."""
        self._holds += 1

    def release(self, *, without: str | None = None) -> None:
        """Go on; what was held back of the conversation `without` is not told."""
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
        """Keep the connection alive."""
        self._write(HEARTBEAT)

    def end(self, ending: Ending = "left") -> bool:
        """Finish after what is buffered; the client reconnects and resumes. False where the stream
        has ended before, for another reason."""
        if self.ended.done():
            return False
        self.ending = ending
        self.ended.set_result(None)
        return True

    def end_if_gone(self) -> None:
        """Notice a client that has left."""
        if self._pipe is not None and self._pipe.is_closing():
            self.end()

    def _write(self, *frames: Frame) -> bool:
        """One write, of the same bytes that every other stream gets; whether there was one."""
        pipe = self._pipe
        if pipe is None or self.ended.done():
            return False
        if pipe.is_closing():
            self.end()
            return False
        if self._is_too_slow(pipe.get_write_buffer_size()):
            self.end("slow")
            pipe.abort()
            return False
        if len(frames) == 1:
            pipe.write(frames[0].chunk if self._chunked else frames[0].plain)
        else:
            pipe.write(b"".join(each.chunk if self._chunked else each.plain for each in frames))
        return True

    def _is_too_slow(self, unsent: int) -> bool:
        """A burst is no fault of the reader's; being behind for long is."""
        if unsent <= self._max_bytes:
            self._behind_since = None
            return False
        now = time.monotonic()
        self._behind_since = self._behind_since or now
        return unsent > BURST * self._max_bytes or now - self._behind_since > PATIENCE_SECONDS
