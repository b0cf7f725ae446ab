"""Messages over HTTP. A send is stored once, however often it is repeated after failures."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import uuid4

from chat_aio.client.base import Calls, joined
from chat_aio.client.decoding import read
from chat_aio.schema.models import Message, MessagePage, PagePart, Role


class Messages(Calls):
    """The methods of `chat.api`, without the acting user."""

    async def send_message(
        self,
        conversation_id: str,
        body: str,
        *,
        role: Role | None = None,
        reply_to_message_id: str | None = None,
        thread_root_message_id: str | None = None,
        also_send_to_main: bool | None = None,
        mentions: list[str] | None = None,
        attachment_ids: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        client_message_id: str | None = None,
    ) -> Message:
        """Send a message. It is repeated after a temporary failure and stored once, because it has
        an idempotency key: `client_message_id`, or a new one."""
        # The key is made here, before the first attempt: all attempts have the same one.
        answer = await self._post_keyed(
            "conversations",
            conversation_id,
            "messages",
            body=body,
            role=role,
            reply_to_message_id=reply_to_message_id,
            thread_root_message_id=thread_root_message_id,
            also_send_to_main=also_send_to_main,
            mentions=mentions,
            attachment_ids=attachment_ids,
            metadata=metadata,
            client_message_id=client_message_id or uuid4().hex,
        )
        return read(Message, answer["message"])

    async def forward_message(
        self,
        message_id: str,
        to_conversation_id: str,
        *,
        role: Role | None = None,
        mentions: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        client_message_id: str | None = None,
    ) -> Message:
        """Copy a message into a conversation; it is stored once, as in `send_message`."""
        answer = await self._post_keyed(
            "messages",
            message_id,
            "forward",
            conversation_id=to_conversation_id,
            role=role,
            mentions=mentions,
            metadata=metadata,
            client_message_id=client_message_id or uuid4().hex,
        )
        return read(Message, answer["message"])

    async def list_messages(
        self,
        conversation_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        around: str | None = None,
        around_seq: int | None = None,
        after: str | None = None,
        include: Sequence[PagePart] | None = None,
    ) -> MessagePage:
        """The main list, newest first: its newest messages, those around or after a message,
        around a seq, or behind a cursor. `include` adds `users`, as in all lists of messages."""
        answer = await self._get(
            "conversations",
            conversation_id,
            "messages",
            limit=limit,
            cursor=cursor,
            around=around,
            around_seq=around_seq,
            after=after,
            include=joined(include),
        )
        return read(MessagePage, answer)

    async def list_thread(
        self,
        conversation_id: str,
        root_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        around: str | None = None,
        around_seq: int | None = None,
        after: str | None = None,
        include: Sequence[PagePart] | None = None,
    ) -> MessagePage:
        """The replies of a thread without its root, newest first; its parameters are those of
        `list_messages`."""
        answer = await self._get(
            "conversations",
            conversation_id,
            "threads",
            root_id,
            "messages",
            limit=limit,
            cursor=cursor,
            around=around,
            around_seq=around_seq,
            after=after,
            include=joined(include),
        )
        return read(MessagePage, answer)

    async def get_message(self, conversation_id: str, message_id: str) -> Message:
        answer = await self._get("conversations", conversation_id, "messages", message_id)
        return read(Message, answer["message"])

    async def search_messages(
        self,
        query: str | None = None,
        *,
        conversation_id: str | None = None,
        prefix: bool = False,
        sender_id: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        has_attachments: bool = False,
        mentions: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        include: Sequence[PagePart] | None = None,
    ) -> MessagePage:
        """Most relevant first; with `prefix` also messages with longer words that begin with the
        last one, where the service has `prefix_search`. The other parameters are filters, where it
        has `search_filters`: without `query` the newest first; `mentions` may be `me`."""
        answer = await self._get(
            "search",
            "messages",
            q=query,
            conversation_id=conversation_id,
            prefix=prefix or None,
            sender_id=sender_id,
            since=since,
            until=until,
            has_attachments=has_attachments or None,
            mentions=mentions,
            limit=limit,
            cursor=cursor,
            include=joined(include),
        )
        return read(MessagePage, answer)

    async def edit_message(
        self,
        message_id: str,
        body: str | None = None,
        *,
        mentions: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        metadata_version: int | None = None,
    ) -> Message:
        """Replace a message's body, its mentions unless `mentions` is None, and its metadata, if
        they have this version (with `editable_metadata`); the latter also without a body."""
        answer = await self._patch(
            "messages",
            message_id,
            body=body,
            mentions=mentions,
            metadata=metadata,
            metadata_version=metadata_version,
        )
        return read(Message, answer["message"])

    async def delete_message(self, message_id: str) -> Message:
        return read(Message, (await self._delete("messages", message_id))["message"])

    async def add_reaction(self, message_id: str, emoji: str) -> Message:
        answer = await self._post("messages", message_id, "reactions", emoji=emoji)
        return read(Message, answer["message"])

    async def remove_reaction(self, message_id: str, emoji: str) -> Message:
        answer = await self._delete("messages", message_id, "reactions", emoji=emoji)
        return read(Message, answer["message"])

    async def mark_read(self, conversation_id: str, message_id: str) -> None:
        await self._post("conversations", conversation_id, "read", message_id=message_id)
