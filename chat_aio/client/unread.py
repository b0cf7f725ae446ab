"""Reads a user's unread messages, threads included, where a stream cannot replay them."""

import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from datetime import datetime

from chat_aio.client.client import ChatClient
from chat_aio.client.repeating import until_answered
from chat_aio.errors import ChatError
from chat_aio.schema.models import Message

log = logging.getLogger(__name__)

PAGE = 100
MOST_OLDER_PAGES = 50
"""How far back roots of threads are looked for, in pages of the main list."""


async def unread_messages(client: ChatClient) -> AsyncIterator[Sequence[Message]]:
    """The unread messages of each conversation, oldest first, with the user's own messages in
    between.

    It stays unread until the caller marks it. Conversations that cannot be read are left out with a
    warning. A reply whose root is older than `MOST_OLDER_PAGES` pages is not found, nor is a
    message that the user may not read: a warning has the number of missing ones.
    """
    cursor = None
    while True:
        page = await until_answered(client.list_conversations, cursor=cursor, include=["unread"])
        heads = page.unread_summaries or {}
        for conversation in page.conversations:
            head = heads.get(conversation.id)
            if head is None or head.first_unread_seq is None:
                continue
            try:
                found = await _Unread(
                    client, conversation.id, head.first_unread_seq, head.seq
                ).read()
            except ChatError as refusal:  # The user may have been removed in the meantime.
                log.warning("conversation %r cannot be read: %s", conversation.id, refusal)
            else:
                yield found
        if (cursor := page.next_cursor) is None:
            return


class _Unread:
    """The messages of a conversation from `first` to `last`. Each seq between them is a message, so
    it is known when all are found."""

    def __init__(self, client: ChatClient, conversation_id: str, first: int, last: int) -> None:
        self._client = client
        self._conversation_id = conversation_id
        self._first = first
        self._missing = set(range(first, last + 1))
        self._found: dict[int, Message] = {}
        self._began: datetime | None = None

    async def read(self) -> list[Message]:
        """Page down the main list and into the threads on the way, until all are found."""
        cursor, older = None, 0
        while older <= MOST_OLDER_PAGES:
            page = await until_answered(
                self._client.list_messages, self._conversation_id, limit=PAGE, cursor=cursor
            )
            self._take(page.messages)
            for root in page.messages:
                thread, began = root.thread_summary, self._began
                may_have_unread = thread and (began is None or thread.last_reply_at >= began)
                if self._missing and may_have_unread:
                    with suppress(ChatError):  # Its replies count as missing.
                        await self._read_thread(root.id)
            if not self._missing or (cursor := page.next_cursor) is None:
                break
            # Counted only once the unread ones are passed: their own pages are all needed.
            older += self._began is not None
        if self._missing:
            log.warning(
                "%d unread messages of conversation %r were not found: they may not be read, or "
                "are replies in old threads",
                *(len(self._missing), self._conversation_id),
                extra={"conversation_id": self._conversation_id},
            )
        return [self._found[seq] for seq in sorted(self._found)]

    def _take(self, messages: Sequence[Message]) -> None:
        for message in messages:
            if message.seq in self._missing:
                self._missing.discard(message.seq)
                self._found[message.seq] = message
            elif message.seq < self._first and self._began is None:
                # Times never fall along seq: unread messages are not older than this one.
                self._began = message.created_at

    async def _read_thread(self, root_id: str) -> None:
        cursor = None
        while True:
            page = await until_answered(
                self._client.list_thread, self._conversation_id, root_id, limit=PAGE, cursor=cursor
            )
            self._take([message for message in page.messages if message.seq >= self._first])
            # Replies come newest first: one that is older ends the search.
            is_past = any(message.seq < self._first for message in page.messages)
            if is_past or (cursor := page.next_cursor) is None:
                return
