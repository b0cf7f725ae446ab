"""The inbox over HTTP: mentions, threads, unread marks, and the view of conversations."""

from chat_aio.client.base import Calls
from chat_aio.client.decoding import read
from chat_aio.schema.inbox import MentionPage, ThreadPage, UnreadTotals
from chat_aio.schema.models import ConversationWithUnread


class Inbox(Calls):
    """The methods of `chat.inbox`, without the acting user; the service needs `inbox`."""

    async def change_view(
        self,
        conversation_id: str,
        *,
        archived: bool | None = None,
        favourite: bool | None = None,
        hidden: bool | None = None,
        clear: bool | None = None,
    ) -> ConversationWithUnread:
        """Change the user's own view of a conversation: in the archive, a favourite, not listed
        until its next message. With `clear`, no message up to now is shown to them again."""
        answer = await self._patch(
            "conversations",
            conversation_id,
            "view",
            archived=archived,
            favourite=favourite,
            hidden=hidden,
            clear=clear,
        )
        return read(ConversationWithUnread, answer["conversation"])

    async def count_unread(self) -> UnreadTotals:
        """The user's unread messages, in all conversations and in those that are not muted."""
        return read(UnreadTotals, await self._get("unread"))

    async def mark_unread(self, conversation_id: str, message_id: str) -> None:
        """Count a message, and all newer ones, as unread again."""
        await self._post("conversations", conversation_id, "unread", message_id=message_id)

    async def list_mentions(
        self, *, limit: int | None = None, cursor: str | None = None
    ) -> MentionPage:
        """The messages of others that mention the user, newest first."""
        return read(MentionPage, await self._get("mentions", limit=limit, cursor=cursor))

    async def list_threads(
        self, *, limit: int | None = None, cursor: str | None = None
    ) -> ThreadPage:
        """The threads that the user follows, has written in or is mentioned in."""
        return read(ThreadPage, await self._get("threads", limit=limit, cursor=cursor))

    async def follow_thread(self, conversation_id: str, root_id: str) -> None:
        await self._post(*_thread(conversation_id, root_id), "follow")

    async def unfollow_thread(self, conversation_id: str, root_id: str) -> None:
        """Leave a thread out of the list, also if the user writes or is mentioned in it."""
        await self._delete(*_thread(conversation_id, root_id), "follow")

    async def mark_thread_read(self, conversation_id: str, root_id: str, message_id: str) -> None:
        """Mark a thread as read up to a message; the conversation's read state stays."""
        await self._post(*_thread(conversation_id, root_id), "read", message_id=message_id)


def _thread(conversation_id: str, root_id: str) -> tuple[str, ...]:
    return "conversations", conversation_id, "threads", root_id
