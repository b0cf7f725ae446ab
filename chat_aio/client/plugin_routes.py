"""The routes of the package's plugins over HTTP: typing, presence and held messages."""

from collections.abc import Iterable

from chat_aio.client.base import Calls
from chat_aio.client.decoding import read
from chat_aio.schema.models import HeldMessagePage, Message
from chat_aio.schema.wire import Timestamp, Wire

HELD = ("moderation", "held")


class PresenceEntry(Wire):
    online: bool
    last_seen_at: Timestamp | None


class Company(Calls):
    """The routes of a service that has the plugins Typing, Presence and Filter."""

    async def send_typing(self, conversation_id: str, *, is_typing: bool = True) -> None:
        """Say that the user is typing: call it every three seconds at most while they write."""
        await self._post("conversations", conversation_id, "typing", is_typing=is_typing)

    async def get_presence(self, user_ids: Iterable[str]) -> dict[str, PresenceEntry]:
        """The presence of up to 50 users; those who share no conversation with the caller are left
        out."""
        answer = await self._get("presence", user_ids=",".join(user_ids))
        return {
            name: read(PresenceEntry, presence) for name, presence in answer["presence"].items()
        }

    async def list_held_messages(
        self, *, limit: int | None = None, cursor: str | None = None
    ) -> HeldMessagePage:
        """For moderators: the messages that wait for one, newest first."""
        return read(HeldMessagePage, await self._get(*HELD, limit=limit, cursor=cursor))

    async def release_held_message(self, held_id: str) -> Message:
        """For moderators: send a held message in the name of its sender."""
        return read(Message, (await self._post(*HELD, "release", held_id=held_id))["message"])

    async def discard_held_message(self, held_id: str) -> None:
        """For moderators: remove a held message for good."""
        await self._post(*HELD, "discard", held_id=held_id)
