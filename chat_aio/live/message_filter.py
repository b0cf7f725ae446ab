"""Filters the messages that a stream shows, where the host's `can_read` decides on each one."""

import asyncio
import logging
from collections.abc import Sequence
from contextvars import Context as Variables
from typing import TypeVar

from chat_aio import hooks
from chat_aio.actions.context import Context
from chat_aio.errors import ChatError, StorageUnavailable
from chat_aio.live.event import Event, MessageEvent
from chat_aio.live.replay.replay import ReplayedEvent
from chat_aio.live.stream import Stream
from chat_aio.store.documents import MessageDocument
from chat_aio.store.mapping import bare_message_from

log = logging.getLogger(__name__)

Delivered = TypeVar("Delivered", Event, ReplayedEvent)


class MessageFilter:
    """Asks the host about every message before a stream shows it, and about the message it quotes.

    Each stream has its own queue: while the host decides on one event, later events of the
    same stream wait behind it, and other streams go on (specification 7.7).
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._waiting: dict[Stream, list[Event]] = {}
        self._asking: set[asyncio.Task[None]] = set()

    def take(self, stream: Stream, event: Event) -> bool:
        """Queue an event that the host must allow, or that must wait behind such an event; this
        filter passes it on later. Returns False if the stream may deliver it at once."""
        # A stream has an entry while the host is asked for it, also an empty one: what comes then
        # must queue behind the events that are being decided.
        waiting = self._waiting.get(stream)
        if waiting is None:
            if not isinstance(event, MessageEvent) or event.shown is None or stream.is_over:
                return False
            self._waiting[stream] = [event]
            # A fresh context: the deadline of the causing request must not limit the host's answer.
            asking = asyncio.create_task(self._ask_for(stream), context=Variables())
            self._asking.add(asking)
            asking.add_done_callback(self._asking.discard)
            return True
        waiting.append(event)
        if len(waiting) > stream.max_events:
            stream.end("overflow")
        return True

    async def sift(self, user_id: str, events: Sequence[Delivered]) -> list[Delivered]:
        """The events that a user may read; a quote of a refused message shows as deleted. A hook
        that fails counts as no. Raises StorageUnavailable."""
        asked: list[MessageDocument] = []
        for event in events:
            if isinstance(event, MessageEvent | ReplayedEvent) and event.shown:
                asked += filter(None, (event.shown.message, event.shown.parent))

        async def is_refused(message: MessageDocument) -> bool:
            try:
                snapshot = await self._context.snapshots.find(message["conversationId"])
                return snapshot is None or not await self._context.permissions.may_read_message(
                    user_id, snapshot.conversation, bare_message_from(message)
                )
            # Not a refusal, which would lose the event: the stream ends, and its client resumes.
            except StorageUnavailable:
                raise
            except ChatError:
                return True
            except Exception:
                named = {"message_id": message["_id"]}
                log.exception("message %r could not be checked", message["_id"], extra=named)
                return True

        # By `id()`: several events may have different states of one message.
        at_once = self._context.permissions.read_at_once
        found = await hooks.filter_async(is_refused, asked, at_once=at_once)
        refused = {id(message) for message in found}
        allowed: list[Delivered] = []
        for event in events:
            if not isinstance(event, MessageEvent | ReplayedEvent) or event.shown is None:
                allowed.append(event)
            elif id(event.shown.message) not in refused:
                hides_quote = event.shown.parent is not None and id(event.shown.parent) in refused
                allowed.append(event.without_quote() if hides_quote else event)
        return allowed

    async def _ask_for(self, stream: Stream) -> None:
        """Pass on the events that may be read until the queue is empty. Events that arrive during a
        round are checked together in the next one."""
        try:
            while (waiting := self._waiting[stream]) and not stream.is_over:
                self._waiting[stream] = []
                for event in await self.sift(stream.user_id, waiting):
                    # The conversation may have been denied during the call of the host.
                    if event.conversation_id not in stream.denied:
                        stream.pass_on(event)
        except StorageUnavailable:  # Events would be missing; a client that resumes gets them.
            stream.end("overflow")
        except Exception:
            log.exception("the host could not be asked what a stream may show")
            stream.end("overflow")
        finally:
            del self._waiting[stream]
