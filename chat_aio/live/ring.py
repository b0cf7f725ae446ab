"""The ring: the last stretch of durable events in feed order, for those who missed some."""

from collections import deque
from collections.abc import Iterable
from dataclasses import replace

from chat_aio.live.event import Event, Name, Retold


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
        self._retold: dict[Name, Retold] = {}
        self._replies: dict[str, dict[Name, str]] = {}

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
        if event.parent_id:
            self._replies.setdefault(event.parent_id, {})[event.name] = event.message_id
        self._retold |= {
            name: retold for name, retold in event.retold.items() if self._is_held(name)
        }
        while len(self._events) > self._max_events or self._bytes > self._max_bytes:
            self._drop_oldest()

    def clear(self) -> None:
        """Forget everything: what follows does not join on to what was held."""
        self._bytes = 0
        self._events.clear()
        for held in (self._by_conversation, self._created, self._newest, self._changed):
            held.clear()
        for known in (self._retold, self._replies):
            known.clear()

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
        retold = self._retold.get(event.name)
        if event.created:
            return replace(event, frame=retold.created) if retold else event
        if self._changed.get(event.name) is not event:
            return None
        return replace(event, frame=retold.changed) if retold else event

    def replies_to(self, message_id: str) -> list[str]:
        """The ids of the messages held that are replies to a message."""
        return list(self._replies.get(message_id, {}).values())

    def _is_held(self, name: Name) -> bool:
        return name in self._created or name in self._changed

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
        for held in (self._created, self._changed):
            if held.get(event.name) is event:
                del held[event.name]
        if not self._is_held(event.name):
            self._forget(event)
        if self._newest.get(event.conversation_id) is event:
            del self._newest[event.conversation_id]

    def _forget(self, event: Event) -> None:
        """Nothing of this event's message is held any more."""
        self._retold.pop(event.name, None)
        if event.parent_id and (replies := self._replies.get(event.parent_id)):
            replies.pop(event.name, None)
            if not replies:
                del self._replies[event.parent_id]
