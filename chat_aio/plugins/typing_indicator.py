"""Typing: which users are writing at the moment."""

from collections.abc import Mapping
from math import inf
from time import monotonic
from typing import NamedTuple

from chat_aio.errors import (
    ConversationFrozen,
    ConversationNotFound,
    DirectInteractionBlocked,
    ForbiddenWrite,
    InvalidInput,
)
from chat_aio.plugin_types.base import Plugin, PluginRequest, PluginRoute
from chat_aio.schema.events import TypingEvent
from chat_aio.schema.inputs import Input
from chat_aio.schema.models import OkResponse

AGAIN_SECONDS = 1.0
"""Within this time a user starts once in a conversation, and stops once."""


class Typed(Input):
    is_typing: bool | None = None


class _Published(NamedTuple):
    """The last event of a user in a conversation, and when they started."""

    is_typing: bool
    started: float
    at: float


class Typing(Plugin):
    """`POST /conversations/:id/typing` notifies the other participants (specification 12.2).

    Nothing is stored: a client pings every three seconds at most while its user writes, and hides
    an indicator about five seconds after its last ping. Within a second a user starts typing in a
    conversation once, and stops once; other pings are answered and notify nobody.
    """

    events = (TypingEvent,)

    def __init__(self) -> None:
        # By user and conversation, the oldest event first.
        self._published: dict[tuple[str, str], _Published] = {}
        path = "/conversations/{conversation_id}/typing"
        self.routes = (
            PluginRoute(
                method="POST",
                path=path,
                handler=self._type,
                request_model=Typed,
                response_model=OkResponse,
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
        """Whether a user has started in a conversation less than a second ago, or has stopped
        already. If not, remember this event; older ones are forgotten."""
        now = monotonic()
        # The oldest come first, so this ends at the first one that still counts.
        while self._published:
            oldest = next(iter(self._published))
            if now - self._published[oldest].at < AGAIN_SECONDS:
                break
            del self._published[oldest]
        last = self._published.get(place)
        if last and (now - last.started < AGAIN_SECONDS if is_typing else not last.is_typing):
            return True
        # Removed and added, so that the order stays that of the events.
        self._published.pop(place, None)
        started = now if is_typing else last.started if last else -inf
        self._published[place] = _Published(is_typing, started, at=now)
        return False
