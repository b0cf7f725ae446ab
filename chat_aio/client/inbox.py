"""The inbox over HTTP: mentions, and what is marked as unread."""

from chat_aio.client.base import Calls
from chat_aio.client.decoding import read
from chat_aio.schema.models import MentionPage


class Inbox(Calls):
    """The methods of `chat.inbox`, without the acting user; the service needs `inbox`."""

    async def mark_unread(self, conversation_id: str, message_id: str) -> None:
        """Count a message, and all newer ones, as unread again."""
        await self._post("conversations", conversation_id, "unread", message_id=message_id)

    async def list_mentions(
        self, *, limit: int | None = None, cursor: str | None = None
    ) -> MentionPage:
        """The messages of others that mention the user, newest first."""
        return read(MentionPage, await self._get("mentions", limit=limit, cursor=cursor))
