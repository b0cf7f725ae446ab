"""The plugin: its settings, its routes, and drafts that are written in this process."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextvars import Context
from dataclasses import replace
from typing import Any

from chat_aio import errors
from chat_aio.drafting import ALIVE_SECONDS, DraftWriter
from chat_aio.errors import ChatError, StorageUnavailable
from chat_aio.plugin_types.base import Plugin, PluginRequest, PluginRoute
from chat_aio.plugins.drafts.drafting import Drafting
from chat_aio.plugins.drafts.rows import Rows
from chat_aio.schema import inputs
from chat_aio.schema.drafts import (
    Appended,
    DraftAnswer,
    DraftChoice,
    DraftEnd,
    DraftEndedEvent,
    DraftEvent,
    DraftList,
    NewDraft,
    NewPart,
    SentDraft,
)
from chat_aio.schema.models import Message, OkResponse
from chat_aio.schema.wire import Wire
from chat_aio.tasks import cancel_and_wait

log = logging.getLogger(__name__)

DRAFTS = "/conversations/{conversation_id}/drafts"
READING = (errors.ConversationNotFound, errors.ForbiddenRead)
WRITING = (
    errors.InvalidInput,
    errors.ConversationNotFound,
    errors.ForbiddenWrite,
    errors.DirectInteractionBlocked,
    errors.ConversationFrozen,
)
SENDING = (
    *WRITING,
    errors.MessageNotFound,
    errors.ForbiddenRead,
    errors.MentionNotParticipant,
    errors.MessageConflict,
    errors.MessageRejected,
    errors.MessageHeld,
    errors.SlowMode,
    errors.ThreadsUnsupported,
)


class Drafts(Plugin):
    """Messages that are read while they are written, such as those of a language model
    (docs/guides/assistants.md).

    Only `assistants` may write drafts, given as ids or as a function that knows them: no filter
    and no hook checks the text of a draft. One to which nothing is added for
    `abandoned_seconds` ends without a message.
    """

    events = (DraftEvent, DraftEndedEvent)

    def __init__(
        self,
        assistants: Collection[str] | Callable[[str], bool] = (),
        *,
        abandoned_seconds: float = 60.0,
    ) -> None:
        if abandoned_seconds < 2 * ALIVE_SECONDS:
            raise ValueError(
                f"Drafts: abandoned_seconds must be at least {2 * ALIVE_SECONDS:.0f}: writers that "
                f"wait for their model say so every {ALIVE_SECONDS:.0f} seconds"
            )
        self._may_draft = assistants if callable(assistants) else {*assistants}.__contains__
        self._abandoned_seconds = abandoned_seconds
        self.routes = (
            PluginRoute(
                method="GET",
                path=DRAFTS,
                handler=self._list,
                response_model=DraftList,
                errors=READING,
            ),
            PluginRoute(
                method="POST",
                path=DRAFTS,
                handler=self._begin,
                request_model=NewDraft,
                response_model=DraftAnswer,
                errors=WRITING,
            ),
            _act("append", self._append, NewPart, Appended, *WRITING, errors.DraftConflict),
            replace(_act("finish", self._finish, DraftEnd, SentDraft, *SENDING), quota="messages"),
            _act("stop", self._stop, DraftChoice, OkResponse, *WRITING),
            _act("cancel", self._cancel, DraftChoice, OkResponse, errors.InvalidInput),
        )

    async def open(self) -> None:
        rows = Rows(self.api, seconds=self._abandoned_seconds)
        self._drafting = Drafting(self.api, rows, self._may_draft)
        self._sweeping = asyncio.create_task(self._sweep(), context=Context())

    async def close(self) -> None:
        await cancel_and_wait(self._sweeping)
        self._drafting.close()

    def writing(
        self,
        user_id: str,
        conversation_id: str,
        *,
        reply_to_message_id: str | None = None,
        thread_root_message_id: str | None = None,
        asked_by_user_id: str | None = None,
        client_message_id: str | None = None,
    ) -> DraftWriter:
        """Write a draft in this process: `async with drafts.writing(...) as draft`. The block
        raises as a send does, also if the message is refused at its end."""
        given = inputs.read(
            NewDraft,
            reply_to_message_id=reply_to_message_id,
            thread_root_message_id=thread_root_message_id,
            asked_by_user_id=asked_by_user_id,
            client_message_id=client_message_id,
        )
        return DraftWriter(_Here(self._drafting, user_id, conversation_id, given))

    async def _sweep(self) -> None:
        """End abandoned drafts, of any process, whatever happens."""
        while True:
            # Often enough that a draft lives a quarter longer than it should at most.
            await asyncio.sleep(min(5.0, self._abandoned_seconds / 4))
            try:
                await self._drafting.end_abandoned()
            except StorageUnavailable:
                continue
            except Exception:
                log.exception("abandoned drafts could not be ended")

    async def _list(self, request: PluginRequest) -> Mapping[str, object]:
        """The drafts that are being written in a conversation, with their text so far, the oldest
        first.

        Raises ConversationNotFound and ForbiddenRead.
        """
        drafts = await self._drafting.list_drafts(request.user_id, _place(request))
        return {"drafts": drafts}

    async def _begin(self, request: PluginRequest) -> Mapping[str, object]:
        """For assistants: begin a draft. Its message will be a reply, or in a thread, as given.
        `askedByUserId` may stop it; without one, all users with the right to write may.

        Raises InvalidInput, ConversationNotFound, ForbiddenWrite, DirectInteractionBlocked and
        ConversationFrozen.
        """
        given = request.read(NewDraft)
        return {"draft": await self._drafting.begin(request.user_id, _place(request), given)}

    async def _append(self, request: PluginRequest) -> Mapping[str, object]:
        """Add a part to one's own draft. Parts are numbered from 0 on; repeating one is allowed.

        Raises InvalidInput, ConversationNotFound, ForbiddenWrite, DirectInteractionBlocked,
        ConversationFrozen, DraftNotFound and DraftConflict.
        """
        given = request.read(NewPart)
        stopped = await self._drafting.append(request.user_id, _place(request), given)
        return {"isStopped": stopped}

    async def _finish(self, request: PluginRequest) -> Mapping[str, object]:
        """Send one's own draft as a message with the role `assistant`. Repeating it is allowed. If
        the message is refused, the draft ends without one.

        Raises what a send raises, and DraftNotFound.
        """
        given = request.read(DraftEnd)
        return {"message": await self._drafting.finish(request.user_id, _place(request), given)}

    async def _stop(self, request: PluginRequest) -> Mapping[str, object]:
        """Stop an assistant. It sends its text so far.

        Raises InvalidInput, ConversationNotFound, ForbiddenWrite, DirectInteractionBlocked,
        ConversationFrozen and DraftNotFound.
        """
        given = request.read(DraftChoice)
        await self._drafting.stop(request.user_id, _place(request), given.draft_id)
        return {"ok": True}

    async def _cancel(self, request: PluginRequest) -> Mapping[str, object]:
        """End one's own draft without a message.

        Raises InvalidInput and DraftNotFound.
        """
        given = request.read(DraftChoice)
        await self._drafting.cancel(request.user_id, _place(request), given.draft_id)
        return {"ok": True}


class _Here:
    """The calls of a writer in this process."""

    def __init__(
        self, drafting: Drafting, user_id: str, conversation_id: str, given: NewDraft
    ) -> None:
        self._drafting = drafting
        self._place = user_id, conversation_id
        self._given = given

    async def begin(self) -> str:
        return (await self._drafting.begin(*self._place, self._given)).id

    async def append(self, draft_id: str, index: int, text: str) -> bool:
        part = NewPart(draft_id=draft_id, index=index, text=text)
        return await self._drafting.append(*self._place, part)

    async def finish(
        self, draft_id: str, mentions: Sequence[str] | None, metadata: dict[str, Any] | None
    ) -> Message:
        end = inputs.read(DraftEnd, draft_id=draft_id, mentions=mentions, metadata=metadata)
        return await self._drafting.finish(*self._place, end)

    async def cancel(self, draft_id: str) -> None:
        await self._drafting.cancel(*self._place, draft_id)


def _act(
    name: str,
    handler: Callable[[PluginRequest], Awaitable[Mapping[str, object]]],
    request_model: type[inputs.Input],
    response_model: type[Wire],
    *refused: type[ChatError],
) -> PluginRoute:
    """A route that does something with a draft that is there."""
    return PluginRoute(
        method="POST",
        path=f"{DRAFTS}/{name}",
        handler=handler,
        request_model=request_model,
        response_model=response_model,
        errors=(*refused, errors.DraftNotFound),
    )


def _place(request: PluginRequest) -> str:
    return request.path["conversation_id"]
