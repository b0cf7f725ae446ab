"""Paces the parts of drafts: at most 20 events a second for the readers of a conversation."""

import asyncio
from collections.abc import Callable
from contextvars import Context
from dataclasses import dataclass, field

from chat_aio.schema.drafts import Drafted

PAUSE_SECONDS = 0.05

Publish = Callable[[str, str, Drafted], None]
"""Publishes parts by a sender to a conversation."""


@dataclass(frozen=True, slots=True)
class _Parts:
    """Consecutive parts of a draft, and its writer."""

    sender_id: str
    drafted: Drafted


@dataclass(slots=True)
class _Waiting:
    """The waiting parts of a conversation, by draft, the longest waiting first."""

    parts: dict[str, _Parts] = field(default_factory=dict)
    timer: asyncio.TimerHandle | None = None


class Outbox:
    """Publishes parts of drafts: one that comes alone at once; of those that come together one
    draft of a conversation at a time, with all of its parts that wait."""

    def __init__(self, publish: Publish) -> None:
        self._publish = publish
        self._conversations: dict[str, _Waiting] = {}

    def put(self, sender_id: str, conversation_id: str, drafted: Drafted) -> None:
        """Publish parts now or soon; those of a draft in their order."""
        waiting = self._conversations.setdefault(conversation_id, _Waiting())
        old = waiting.parts.get(drafted.draft_id)
        # Not joined if parts between them came to another process: readers fetch the gap.
        if old is not None and old.drafted.last + 1 == drafted.first:
            both = old.drafted.text + drafted.text
            drafted = drafted.model_copy(update={"first": old.drafted.first, "text": both})
        waiting.parts[drafted.draft_id] = _Parts(sender_id, drafted)
        if waiting.timer is None:
            self._send(conversation_id)

    def drop(self, conversation_id: str, draft_id: str) -> None:
        """Drop the waiting parts of a draft that has ended."""
        if waiting := self._conversations.get(conversation_id):
            waiting.parts.pop(draft_id, None)

    def close(self) -> None:
        """Drop all waiting parts: readers fetch them."""
        for conversation in self._conversations.values():
            if conversation.timer:
                conversation.timer.cancel()
        self._conversations.clear()

    def _send(self, conversation_id: str) -> None:
        waiting = self._conversations[conversation_id]
        if not waiting.parts:
            del self._conversations[conversation_id]
            return
        longest = waiting.parts.pop(next(iter(waiting.parts)))
        self._publish(longest.sender_id, conversation_id, longest.drafted)
        # In an empty context: the budget of this part's writer is not that of the next one.
        waiting.timer = asyncio.get_running_loop().call_later(
            PAUSE_SECONDS, self._send, conversation_id, context=Context()
        )
