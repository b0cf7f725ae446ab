"""The routes of plugins over HTTP: who is typing, who is here."""

from collections.abc import Iterable

from chat_aio.client.base import Calls
from chat_aio.client.decoding import read
from chat_aio.schema.models import Timestamp, Wire


class PresenceEntry(Wire):
    online: bool
    last_seen_at: Timestamp | None


class Company(Calls):
    """What a service has where the plugins Typing and Presence are switched on."""

    async def tell_typing(self, conversation_id: str, *, is_typing: bool = True) -> None:
        """Every three seconds at most while somebody writes."""
        await self._post("conversations", conversation_id, "typing", is_typing=is_typing)

    async def get_presence(self, user_ids: Iterable[str]) -> dict[str, PresenceEntry]:
        """Of up to 50 users; who shares no conversation is left out."""
        answer = await self._get("presence", user_ids=",".join(user_ids))
        return {name: read(PresenceEntry, each) for name, each in answer["presence"].items()}
