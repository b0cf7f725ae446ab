"""Room controls over HTTP: freezing a group, slow mode and bans from it."""

from typing import Any, Unpack

from chat_aio.client.base import Calls
from chat_aio.client.decoding import read
from chat_aio.schema.inputs import KEEP, Keep
from chat_aio.schema.models import (
    ConversationBan,
    ConversationBanPage,
    ConversationWithUnread,
    JoinPolicy,
    Message,
    Visibility,
)
from chat_aio.schema.room_controls import RoomFields


class Rooms(Calls):
    """The methods of `chat.rooms`, without the acting user; the service needs `room_controls`."""

    async def update_conversation(
        self,
        conversation_id: str,
        *,
        name: str | Keep | None = KEEP,
        visibility: Visibility | None = None,
        join_policy: JoinPolicy | None = None,
        metadata: dict[str, Any] | None = None,
        metadata_version: int | None = None,
        **controls: Unpack[RoomFields],
    ) -> ConversationWithUnread:
        """As the client's own, and set the fields of room controls."""
        answer = await self._patch(
            "conversations",
            conversation_id,
            name=name,
            visibility=visibility,
            join_policy=join_policy,
            metadata=metadata,
            metadata_version=metadata_version,
            **controls,
        )
        return read(ConversationWithUnread, answer["conversation"])

    async def ban_from_conversation(
        self, conversation_id: str, target_user_id: str, *, reason: str | None = None
    ) -> ConversationBan:
        given = {"user_id": target_user_id, "reason": reason}
        answer = await self._post(*_bans(conversation_id), **given)
        return read(ConversationBan, answer["conversationBan"])

    async def unban_from_conversation(self, conversation_id: str, target_user_id: str) -> None:
        await self._delete(*_bans(conversation_id), target_user_id)

    async def list_conversation_bans(
        self, conversation_id: str, *, limit: int | None = None, cursor: str | None = None
    ) -> ConversationBanPage:
        """Newest first."""
        answer = await self._get(*_bans(conversation_id), limit=limit, cursor=cursor)
        return read(ConversationBanPage, answer)

    async def pin_message(self, conversation_id: str, message_id: str) -> ConversationWithUnread:
        """Pin a message: admins in a group, both in a direct conversation."""
        answer = await self._post(*_pins(conversation_id), message_id=message_id)
        return read(ConversationWithUnread, answer["conversation"])

    async def unpin_message(self, conversation_id: str, message_id: str) -> ConversationWithUnread:
        answer = await self._delete(*_pins(conversation_id), message_id)
        return read(ConversationWithUnread, answer["conversation"])

    async def list_pins(self, conversation_id: str) -> tuple[Message, ...]:
        """The pinned messages, the latest pinned first."""
        answer = await self._get(*_pins(conversation_id))
        return tuple(read(Message, message) for message in answer["messages"])


def _bans(conversation_id: str) -> tuple[str, ...]:
    return "conversations", conversation_id, "bans"


def _pins(conversation_id: str) -> tuple[str, ...]:
    return "conversations", conversation_id, "pins"
