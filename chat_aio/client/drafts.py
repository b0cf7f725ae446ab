"""Drafts over HTTP; the service needs the plugin Drafts."""

from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from chat_aio.client.base import Calls
from chat_aio.client.decoding import read
from chat_aio.drafting import DraftWriter
from chat_aio.schema.drafts import Draft
from chat_aio.schema.models import Message

PAUSE_SECONDS = 0.2
"""Five requests a second: a user's quota is 20, for all of them."""


class DraftRoutes(Calls):
    """Messages that are read while they are written."""

    def writing(
        self,
        conversation_id: str,
        *,
        reply_to_message_id: str | None = None,
        thread_root_message_id: str | None = None,
        asked_by_user_id: str | None = None,
        client_message_id: str | None = None,
        pause_seconds: float = PAUSE_SECONDS,
    ) -> DraftWriter:
        """Write a draft: `async with client.drafts.writing(...) as draft`. Parts go out once every
        `pause_seconds`. The block raises as a send does, also if the message is refused at its end.
        """
        given = {
            "reply_to_message_id": reply_to_message_id,
            "thread_root_message_id": thread_root_message_id,
            "asked_by_user_id": asked_by_user_id,
            "client_message_id": client_message_id or uuid4().hex,
        }
        return DraftWriter(_There(self, conversation_id, given), pause_seconds=pause_seconds)

    async def list_drafts(self, conversation_id: str) -> tuple[Draft, ...]:
        """The open drafts of a conversation, with their text so far, the oldest first."""
        answer = await self._get(*_drafts(conversation_id))
        return tuple(read(Draft, draft) for draft in answer["drafts"])

    async def begin(self, conversation_id: str, **given: str | None) -> Draft:
        """Begin a draft by hand; `writing` does all of it."""
        answer = await self._post(*_drafts(conversation_id), **given)
        return read(Draft, answer["draft"])

    async def append(self, conversation_id: str, draft_id: str, index: int, text: str) -> bool:
        """Add the part with this number; returns whether somebody has stopped the draft."""
        given = {"draft_id": draft_id, "index": index, "text": text}
        answer = await self._post_keyed(*_drafts(conversation_id), "append", **given)
        stopped: bool = answer["isStopped"]
        return stopped

    async def finish(
        self,
        conversation_id: str,
        draft_id: str,
        *,
        mentions: Sequence[str] | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> Message:
        """Send the draft as a message."""
        given = {"draft_id": draft_id, "mentions": mentions, "metadata": metadata}
        answer = await self._post_keyed(*_drafts(conversation_id), "finish", **given)
        return read(Message, answer["message"])

    async def stop(self, conversation_id: str, draft_id: str) -> None:
        """Have an assistant write no more."""
        await self._post(*_drafts(conversation_id), "stop", draft_id=draft_id)

    async def cancel(self, conversation_id: str, draft_id: str) -> None:
        """End an own draft without a message."""
        await self._post(*_drafts(conversation_id), "cancel", draft_id=draft_id)


class _There:
    """The calls of a writer over HTTP."""

    def __init__(
        self, routes: DraftRoutes, conversation_id: str, given: dict[str, str | None]
    ) -> None:
        self._routes = routes
        self._conversation_id = conversation_id
        self._given = given

    async def begin(self) -> str:
        return (await self._routes.begin(self._conversation_id, **self._given)).id

    async def append(self, draft_id: str, index: int, text: str) -> bool:
        return await self._routes.append(self._conversation_id, draft_id, index, text)

    async def finish(
        self, draft_id: str, mentions: Sequence[str] | None, metadata: dict[str, Any] | None
    ) -> Message:
        return await self._routes.finish(
            self._conversation_id, draft_id, mentions=mentions, metadata=metadata
        )

    async def cancel(self, draft_id: str) -> None:
        await self._routes.cancel(self._conversation_id, draft_id)


def _drafts(conversation_id: str) -> tuple[str, ...]:
    return "conversations", conversation_id, "drafts"
