"""The routes of the package's plugins over HTTP: typing and presence."""

from collections.abc import Iterable

from chat_aio.client.base import Calls
from chat_aio.client.decoding import read
from chat_aio.schema.models import Timestamp, Wire


class PresenceEntry(Wire):
    online: bool
    last_seen_at: Timestamp | None


class Company(Calls):
    """The routes of a service that has the plugins Typing and Presence."""

    async def tell_typing(self, conversation_id: str, *, is_typing: bool = True) -> None:
        """Say that the user is typing: call it every three seconds at most while they write."""
        await self._post("conversations", conversation_id, "typing", is_typing=is_typing)

    async def get_presence(self, user_ids: Iterable[str]) -> dict[str, PresenceEntry]:
        """The presence of up to 50 users; those who share no conversation with the caller are left
        out."""
        answer = await self._get("presence", user_ids=",".join(user_ids))
        return {name: read(PresenceEntry, each) for name, each in answer["presence"].items()}
