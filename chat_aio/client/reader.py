"""Reads a stream's bytes as events, with their positions, and gives no created event twice."""

from collections import deque

from pydantic_core import from_json

from chat_aio.client.events import Event, event_from
from chat_aio.client.sse import Frame, Parser
from chat_aio.schema.events import MessageEvent

REMEMBERED_MESSAGES = 10_000


class EventReader:
    """The events of one stream after the other, each of which resumes where the last one ended.

    `last_event_id` is the position after the last event that was returned.
    """

    def __init__(self, last_event_id: str | None) -> None:
        self.last_event_id = last_event_id
        self._parser = Parser()
        self._frames: deque[Frame] = deque()
        self._returned: dict[str, None] = {}
        self._in_order = self._after_event = False

    @property
    def retry_ms(self) -> int | None:
        """The reconnection delay that the service has sent."""
        return self._parser.retry_ms

    def begin(self) -> None:
        """Read another stream, which was opened with `last_event_id`."""
        self._parser = Parser()
        # Without a position nothing is replayed.
        self._in_order, self._after_event = self.last_event_id is None, False

    def feed(self, chunk: bytes) -> None:
        """Add bytes, which may be cut anywhere."""
        self._frames.extend(self._parser.feed(chunk))
        self._follow()

    def next(self) -> Event | None:
        """The next event; None if more bytes are needed."""
        while self._frames:
            event = self._take(self._frames.popleft())
            self._follow()
            if event is not None:
                event.set_position(self.last_event_id)
                return event
        return None

    def _take(self, frame: Frame) -> Event | None:
        """The event of a frame; None for a message that was returned before."""
        event = event_from(frame.event, from_json(frame.data))
        self._after_event = True
        if not isinstance(event, MessageEvent) or event.type != "message.created":
            return event
        if self._in_order:
            self.last_event_id = frame.id
        # Replays from storage begin a minute early (specification 7.5).
        if event.message.id in self._returned:
            return None
        self._returned[event.message.id] = None
        if len(self._returned) > REMEMBERED_MESSAGES:  # A dict keeps its order: the oldest goes.
            del self._returned[next(iter(self._returned))]
        return event

    def _follow(self) -> None:
        """Move to the positions that come next. They belong to the event before them: a caller that
        stores `last_event_id` after processing it must not be given the event again."""
        while self._frames and not self._frames[0].data:
            position = self._frames.popleft().id
            # The events of a replay from storage are not in the order of positions: after each one
            # the service repeats the position that the stream was opened with, so that a replay
            # that is cut starts over. Any other position, or the same one without an event before
            # it, ends that phase. Later only the ids of created events are positions: an edit has
            # the id of its message, which may be old, and is followed by the position.
            if position != self.last_event_id or not self._after_event:
                self._in_order = True
            # By the standard an empty id means that there is no position.
            self.last_event_id = position or None
            self._after_event = False
