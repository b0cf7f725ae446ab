"""The replay buffer: the durable events that the feed has delivered lately, in feed order.

It holds no contents: a replay shows messages as they are when it is read.
"""

from collections import deque
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from chat_aio.live.event import DurableEvent, MessageCreated, Name
from chat_aio.live.replay.positions import SKEW
from chat_aio.store.clock import Clock

BYTES_OF_AN_ENTRY = 464
"""The approximate memory of an entry, including its places in the lookup tables."""

EARLIEST = datetime.min.replace(tzinfo=UTC)


@dataclass(slots=True, eq=False)
class BufferedEvent:
    """A durable event: `index` is its place in this process's feed, `at` the time when it was
    written, `latest` the latest such time of it and of all events before it."""

    index: int
    name: Name
    message_id: str
    created: bool
    at: datetime
    latest: datetime

    @property
    def size(self) -> int:
        return BYTES_OF_AN_ENTRY + len(self.name[0]) + len(self.message_id)

    @property
    def order(self) -> tuple[datetime, bool, Name]:
        """Its place in a replay from storage."""
        return self.at, not self.created, self.name


class ReplayBuffer:
    """Bounded by a number of events and of bytes. A lookup costs time for what it finds, not for
    what is held."""

    def __init__(self, *, max_events: int, max_bytes: int, clock: Clock) -> None:
        self._clock = clock
        self._max_events = max_events
        self._max_bytes = max_bytes
        self._bytes = 0
        self._events: deque[BufferedEvent] = deque()
        self._by_conversation: dict[str, deque[BufferedEvent]] = {}
        self._created: dict[Name, BufferedEvent] = {}
        self._newest: dict[str, BufferedEvent] = {}
        self._changed: dict[Name, BufferedEvent] = {}
        self._latest = EARLIEST
        self._dropped: tuple[datetime, bool, Name] | None = None

    def __len__(self) -> int:
        return len(self._events)

    @property
    def size(self) -> int:
        """The approximate number of bytes held."""
        return self._bytes

    def append(self, event: DurableEvent) -> None:
        """Add a durable event; the oldest ones are dropped when there are too many. A created event
        that is already held changes nothing: after a loss the feed may deliver a few changes again.
        """
        name, conversation_id = event.name, event.conversation_id
        created = isinstance(event, MessageCreated)
        if created and name in self._created:
            return
        # Another program's row may have no time: it counts as not later than those before it.
        at = event.written_at if isinstance(event.written_at, datetime) else self._latest
        # Nor may a time of the far future outlast all that come after it.
        at = min(at, self._clock() + SKEW)
        self._latest = max(self._latest, at)
        kept = BufferedEvent(event.index, name, event.message_id, created, at, self._latest)
        self._events.append(kept)
        if (events := self._by_conversation.get(conversation_id)) is None:
            events = self._by_conversation[conversation_id] = deque()
        events.append(kept)
        self._bytes += kept.size
        if created:
            self._created[name] = self._newest[conversation_id] = kept
        else:
            self._changed[name] = kept
        while len(self._events) > self._max_events or self._bytes > self._max_bytes:
            oldest = self._events.popleft()
            self._dropped = max(self._dropped or oldest.order, oldest.order)
            conversation_id, _ = oldest.name
            self._bytes -= oldest.size
            # The oldest event of all is also the oldest one of its conversation.
            remaining = self._by_conversation[conversation_id]
            remaining.popleft()
            if not remaining:
                del self._by_conversation[conversation_id]
            if self._created.get(oldest.name) is oldest:
                del self._created[oldest.name]
            if self._changed.get(oldest.name) is oldest:
                del self._changed[oldest.name]
            if self._newest.get(conversation_id) is oldest:
                del self._newest[conversation_id]

    def clear(self) -> None:
        """Drop everything, because a gap separates it from what follows."""
        self._bytes = 0
        self._events.clear()
        for held in (self._by_conversation, self._created, self._newest, self._changed):
            held.clear()
        self._latest, self._dropped = EARLIEST, None

    def find_created(self, conversation_id: str, seq: int) -> BufferedEvent | None:
        """The event by which this message was created, if all that `list_after` may have to list
        is still held."""
        kept = self._created.get((conversation_id, seq))
        is_whole = kept is None or self._dropped is None or kept.order > self._dropped
        return kept if is_whole else None

    @property
    def conversation_ids(self) -> Collection[str]:
        """The conversations of the events that are held."""
        return self._by_conversation.keys()

    def list_after(
        self, seen: BufferedEvent, conversation_ids: Iterable[str]
    ) -> list[BufferedEvent]:
        """The events of these conversations after `seen`, in feed order; of several changes of a
        message only the last.

        Also those that came before it and are later by their times: `seen` may have been delivered
        by a replay from storage, in the order of times, and the client cut off behind it.
        """
        found: list[BufferedEvent] = []
        for conversation_id in conversation_ids:
            for event in reversed(self._by_conversation.get(conversation_id, ())):
                if event.index <= seen.index and event.latest < seen.at:
                    break
                # Times never fall along the numbers of a conversation: in that of `seen`, earlier
                # creations are not later by their times.
                is_numbered = event.created and event.name[0] == seen.name[0]
                is_missed = event.index > seen.index or (
                    not is_numbered and event.order > seen.order
                )
                is_last = event.created or self._changed.get(event.name) is event
                if is_last and is_missed:
                    found.append(event)
        return sorted(found, key=lambda event: event.index)

    def newest_created(self, conversation_ids: Iterable[str]) -> BufferedEvent | None:
        """The last message created in any of these conversations, if it is still held."""
        held = [
            self._newest[conversation_id]
            for conversation_id in conversation_ids
            if conversation_id in self._newest
        ]
        return max(held, key=lambda event: event.index, default=None)
