"""Typing: who is writing just now."""

from collections.abc import Mapping

from chat_aio.errors import DirectInteractionBlocked
from chat_aio.plugins.base import Plugin, PluginRequest, PluginRoute
from chat_aio.schema.events import TypingEvent
from chat_aio.schema.inputs import Input, read
from chat_aio.schema.models import Done


class Typed(Input):
    is_typing: bool | None = None


class Typing(Plugin):
    """`POST /conversations/:id/typing` tells the other participants (docs/behaviour.md 12.2).

    Nothing is kept: clients ping every three seconds at most, and let an indicator go that was not
    pinged for about five.
    """

    events = (TypingEvent,)

    def __init__(self) -> None:
        path = "/conversations/{conversation_id}/typing"
        self.routes = (
            PluginRoute(method="POST", path=path, handler=self._type, takes=Typed, gives=Done),
        )

    async def _type(self, request: PluginRequest) -> Mapping[str, object]:
        """Tell the others that one is typing, or has stopped. Who is blocked is not told so, and
        nobody hears of them.

        Raises InvalidInput, ConversationNotFound and ForbiddenWrite.
        """
        conversation_id = request.path["conversation_id"]
        given = read(Typed, **Typed.arguments(request.body))
        try:
            await self.api.require_writable(request.user_id, conversation_id)
        except DirectInteractionBlocked:
            return {"ok": True}
        is_typing = given.is_typing is not False
        name = "typing.started" if is_typing else "typing.stopped"
        payload = {"isTyping": is_typing}
        self.api.publish(
            self.api.ephemeral(name, request.user_id, payload, conversation_id=conversation_id)
        )
        return {"ok": True}
