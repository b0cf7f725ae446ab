"""The ring: the last stretch of durable events in feed order, for those who missed some."""

from collections import deque
from collections.abc import Iterable
from dataclasses import replace

from chat_aio.live.event import Event, Name
from chat_aio.live.frames import requoted
from chat_aio.models import ReplyPreview


class Ring:
    """Bounded by events and bytes; a lookup costs what it finds, not what is held."""

    def __init__(self, *, max_events: int, max_bytes: int) -> None:
        self._max_events = max_events
        self._max_bytes = max_bytes
        self._bytes = 0
        self._events: deque[Event] = deque()
        self._by_conversation: dict[str, deque[Event]] = {}
        self._created: dict[Name, Event] = {}
        self._newest: dict[str, Event] = {}
        self._changed: dict[Name, Event] = {}
        self._quotes: dict[str, ReplyPreview] = {}

    def __len__(self) -> int:
        return len(self._events)

    @property
    def size(self) -> int:
        """How many bytes it holds."""
        return self._bytes

    def append(self, event: Event) -> None:
        """Hold a durable event; the oldest ones go when there are too many. A created event that
        is held already (the feed reads on from a little before where it was lost) changes nothing.
        """
        if event.created and event.name in self._created:
            return
        self._events.append(event)
        self._by_conversation.setdefault(event.conversation_id, deque()).append(event)
        self._bytes += event.size
        if event.created:
            self._created[event.name] = event
            self._newest[event.conversation_id] = event
        else:
            self._changed[event.name] = event
            if event.quote:
                self._quotes[event.message_id] = event.quote
        while len(self._events) > self._max_events or self._bytes > self._max_bytes:
            self._drop_oldest()

    def clear(self) -> None:
        """Forget everything: what follows does not join on to what was held."""
        self._bytes = 0
        self._events.clear()
        for held in (self._by_conversation, self._created, self._newest, self._changed):
            held.clear()
        self._quotes.clear()

    def find_created(self, conversation_id: str, seq: int) -> Event | None:
        """The event by which this message was created, if it is still held."""
        return self._created.get((conversation_id, seq))

    def list_after(self, index: int, conversation_ids: Iterable[str]) -> list[Event]:
        """The events of these conversations behind place `index`, in feed order. A message that
        was changed is told as it is now, also where it is quoted, and its last change only: what
        was taken back is not told again."""
        found: list[Event] = []
        for conversation_id in conversation_ids:
            for event in reversed(self._by_conversation.get(conversation_id, ())):
                if event.index <= index:
                    break
                if told := self._as_told_now(event):
                    found.append(told)
        return sorted(found, key=lambda event: event.index)

    def _as_told_now(self, event: Event) -> Event | None:
        changed = self._changed.get(event.name)
        frame = event.frame
        if event.created:
            frame = (changed and changed.recreated) or frame
        elif changed is not event:
            return None
        if quote := self._quotes.get(event.parent_id or ""):
            frame = requoted(frame, quote)
        return event if frame is event.frame else replace(event, frame=frame)

    def newest_created(self, conversation_ids: Iterable[str]) -> Event | None:
        """The last message created in any of these conversations, if it is still held."""
        held = [self._newest[each] for each in conversation_ids if each in self._newest]
        return max(held, key=lambda event: event.index, default=None)

    def _drop_oldest(self) -> None:
        event = self._events.popleft()
        self._bytes -= event.size
        mates = self._by_conversation[event.conversation_id]
        mates.popleft()
        if not mates:
            del self._by_conversation[event.conversation_id]
        if self._created.get(event.name) is event:
            del self._created[event.name]
        if self._changed.get(event.name) is event:
            # What quotes an older state of it came before, and is gone already.
            del self._changed[event.name]
            self._quotes.pop(event.message_id, None)
        if self._newest.get(event.conversation_id) is event:
            del self._newest[event.conversation_id]
