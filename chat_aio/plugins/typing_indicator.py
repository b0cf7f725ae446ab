"""Typing: which users are writing at the moment."""

from collections.abc import Mapping
from time import monotonic

from chat_aio.errors import (
    ConversationFrozen,
    ConversationNotFound,
    DirectInteractionBlocked,
    ForbiddenWrite,
    InvalidInput,
)
from chat_aio.plugins.base import Plugin, PluginRequest, PluginRoute
from chat_aio.schema.events import TypingEvent
from chat_aio.schema.inputs import Input
from chat_aio.schema.models import Done

AGAIN_SECONDS = 1.0
"""Within this time the same event of a user in a conversation is published once."""


class Typed(Input):
    is_typing: bool | None = None


class Typing(Plugin):
    """`POST /conversations/:id/typing` notifies the other participants (docs/behaviour.md 12.2).

    Nothing is stored: a client pings every three seconds at most while its user writes, and hides
    an indicator about five seconds after its last ping. A ping that repeats the last one of its
    user in this conversation within a second is answered, and notifies nobody.
    """

    events = (TypingEvent,)

    def __init__(self) -> None:
        # The oldest event first.
        self._published: dict[tuple[str, str], tuple[bool, float]] = {}
        path = "/conversations/{conversation_id}/typing"
        self.routes = (
            PluginRoute(
                method="POST",
                path=path,
                handler=self._type,
                takes=Typed,
                gives=Done,
                errors=(InvalidInput, ConversationNotFound, ForbiddenWrite, ConversationFrozen),
            ),
        )

    async def _type(self, request: PluginRequest) -> Mapping[str, object]:
        """Notify the other participants that the caller is typing, or has stopped. In a blocked
        direct conversation the answer is the same, and nobody is notified.

        Raises InvalidInput, ConversationNotFound, ForbiddenWrite and ConversationFrozen.
        """
        conversation_id = request.path["conversation_id"]
        given = request.read(Typed)
        try:
            await self.api.require_writable(request.user_id, conversation_id)
        except DirectInteractionBlocked:  # An error would reveal the block to the caller.
            return {"ok": True}
        is_typing = given.is_typing is not False
        if self._is_repeated((request.user_id, conversation_id), is_typing):
            return {"ok": True}
        name = "typing.started" if is_typing else "typing.stopped"
        payload = {"isTyping": is_typing}
        self.api.publish(
            self.api.ephemeral(name, request.user_id, payload, conversation_id=conversation_id)
        )
        return {"ok": True}

    def _is_repeated(self, place: tuple[str, str], is_typing: bool) -> bool:
        """Whether the last event of a user in a conversation was the same, less than a second ago.
        If not, remember this one; older ones are forgotten."""
        now = monotonic()
        while self._published:
            oldest = next(iter(self._published))
            if now - self._published[oldest][1] < AGAIN_SECONDS:
                break
            del self._published[oldest]
        if self._published.get(place, (None, now))[0] is is_typing:
            return True
        self._published.pop(place, None)
        self._published[place] = (is_typing, now)
        return False
