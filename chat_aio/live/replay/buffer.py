"""The replay buffer: the durable events that the feed has delivered lately, in feed order.

It holds no contents: a replay shows messages as they are when it is read.
"""

from collections import deque
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from chat_aio.live.event import Event, Name

BYTES_OF_AN_ENTRY = 400
"""The approximate memory of an entry, including its places in the lookup tables."""


@dataclass(slots=True, eq=False)
class BufferedEvent:
    """A durable event: `index` is its place in this process's feed."""

    index: int
    name: Name
    message_id: str
    created: bool

    @property
    def size(self) -> int:
        return BYTES_OF_AN_ENTRY + len(self.name[0]) + len(self.message_id)


class ReplayBuffer:
    """Bounded by a number of events and of bytes. A lookup costs time for what it finds, not for
    what is held."""

    def __init__(self, *, max_events: int, max_bytes: int) -> None:
        self._max_events = max_events
        self._max_bytes = max_bytes
        self._bytes = 0
        self._events: deque[BufferedEvent] = deque()
        self._by_conversation: dict[str, deque[BufferedEvent]] = {}
        self._created: dict[Name, BufferedEvent] = {}
        self._newest: dict[str, BufferedEvent] = {}
        self._changed: dict[Name, BufferedEvent] = {}

    def __len__(self) -> int:
        return len(self._events)

    @property
    def size(self) -> int:
        """The approximate number of bytes held."""
        return self._bytes

    def append(self, event: Event) -> None:
        """Add a durable event; the oldest ones are dropped when there are too many. A created event
        that is already held changes nothing: after a loss the feed may deliver a few changes again.
        """
        name, conversation_id = event.name, event.conversation_id
        if event.created and name in self._created:
            return
        kept = BufferedEvent(event.index, name, event.message_id, event.created)
        self._events.append(kept)
        if (events := self._by_conversation.get(conversation_id)) is None:
            events = self._by_conversation[conversation_id] = deque()
        events.append(kept)
        self._bytes += kept.size
        if event.created:
            self._created[name] = self._newest[conversation_id] = kept
        else:
            self._changed[name] = kept
        while len(self._events) > self._max_events or self._bytes > self._max_bytes:
            self._drop_oldest()

    def clear(self) -> None:
        """Drop everything, because a gap separates it from what follows."""
        self._bytes = 0
        self._events.clear()
        for held in (self._by_conversation, self._created, self._newest, self._changed):
            held.clear()

    def find_created(self, conversation_id: str, seq: int) -> BufferedEvent | None:
        """The event by which this message was created, if it is still held."""
        return self._created.get((conversation_id, seq))

    @property
    def conversation_ids(self) -> Collection[str]:
        """The conversations of the events that are held."""
        return self._by_conversation.keys()

    def list_after(self, index: int, conversation_ids: Iterable[str]) -> list[BufferedEvent]:
        """The events of these conversations after `index`, in feed order; of several changes of a
        message only the last."""
        found: list[BufferedEvent] = []
        for conversation_id in conversation_ids:
            for event in reversed(self._by_conversation.get(conversation_id, ())):
                if event.index <= index:
                    break
                if event.created or self._changed.get(event.name) is event:
                    found.append(event)
        return sorted(found, key=lambda event: event.index)

    def newest_created(self, conversation_ids: Iterable[str]) -> BufferedEvent | None:
        """The last message created in any of these conversations, if it is still held."""
        held = [self._newest[each] for each in conversation_ids if each in self._newest]
        return max(held, key=lambda event: event.index, default=None)

    def _drop_oldest(self) -> None:
        event = self._events.popleft()
        conversation_id, _ = event.name
        self._bytes -= event.size
        # The oldest event of all is also the oldest one of its conversation.
        remaining = self._by_conversation[conversation_id]
        remaining.popleft()
        if not remaining:
            del self._by_conversation[conversation_id]
        if self._created.get(event.name) is event:
            del self._created[event.name]
        if self._changed.get(event.name) is event:
            del self._changed[event.name]
        if self._newest.get(conversation_id) is event:
            del self._newest[conversation_id]
