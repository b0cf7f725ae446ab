"""Filters the conversations that a stream delivers, where the host has its own `can_read`."""

import asyncio
import logging
from collections.abc import Iterable
from contextvars import Context as Variables

from chat_aio import hooks
from chat_aio.actions.context import Context
from chat_aio.errors import ChatError
from chat_aio.live.hub import Hub
from chat_aio.live.stream import Stream

log = logging.getLogger(__name__)


class ReadFilter:
    """Asks the host when a stream opens, when its user is added to a conversation, and at
    heartbeats (specification 7.7). With the default rule nothing is called."""

    def __init__(self, context: Context, hub: Hub) -> None:
        self._context = context
        self._hub = hub
        self._asking: set[asyncio.Task[None]] = set()
        self.asks = context.permissions.asks_host

    async def ask_for(self, stream: Stream, ids: Iterable[str]) -> None:
        """Find out which conversations a new stream may not deliver, among those that were read for
        it and those that its user was added to in the meantime."""
        asked: set[str] = set()
        # A loop: the user may be added to further conversations during the call of the host.
        while self.asks and (new := {*ids, *stream.let_into()} - asked):
            asked |= new
            stream.denied |= new - await self._readable(stream.user_id, new)

    def hold(self, added: Iterable[str]) -> list[Stream]:
        """Hold back all events of the streams of users who are added to a conversation, until
        `release`; the host is called first. Returns these streams."""
        found = self._hub.subscribed_of(added) if self.asks else []
        # Those that follow the conversation end with the event.
        streams = [stream for stream in found if not stream.follows]
        for stream in streams:
            stream.hold()
        return streams

    def release(self, streams: Iterable[Stream], conversation_id: str) -> None:
        """Ask the host for each held stream, in the background, and let the stream go on."""
        for stream in streams:
            # A separate task: the feed, and with it all other streams, must not wait for a host.
            asking = asyncio.create_task(self._let_in(stream, conversation_id), context=Variables())
            self._asking.add(asking)
            asking.add_done_callback(self._asking.discard)

    async def ask_again(self) -> None:
        """Ask again for every stream. A conversation that may no longer be read is unsubscribed; if
        one may be read again, the stream ends, so that its client reconnects and refetches. So
        does a stream that follows a conversation that may no longer be read."""
        for user_id in self._hub.user_ids() if self.asks else []:
            streams = self._hub.subscribed_of([user_id])
            ids = {
                conversation_id
                for stream in streams
                for conversation_id in stream.conversation_ids | stream.denied
            }
            readable = await self._readable(user_id, ids)
            for stream in streams:
                if stream.denied & readable:
                    stream.end("readable_again")
                # `& ids`: the host did not check conversations to which the user was added in the
                # meantime.
                refused = (stream.conversation_ids & ids) - readable
                if stream.follows and refused:
                    stream.end("unreadable")
                    continue
                for conversation_id in refused:
                    self._hub.deny(stream, conversation_id)

    async def _let_in(self, stream: Stream, conversation_id: str) -> None:
        allowed = await self._readable(stream.user_id, [conversation_id])
        if allowed:
            stream.denied -= {conversation_id}
        else:
            self._hub.deny(stream, conversation_id)
        stream.release(without=None if allowed else conversation_id)

    async def _readable(self, user_id: str, ids: Iterable[str]) -> set[str]:
        """The conversations that the host lets a user read; a hook that fails counts as no."""

        async def may_read(conversation_id: str) -> bool:
            try:
                snapshot = await self._context.snapshots.find(conversation_id)
                return snapshot is not None and await self._context.permissions.may_read(
                    user_id, snapshot.conversation
                )
            # Also if storage is out of reach. The next heartbeat tries again.
            except ChatError:
                return False
            except Exception:
                named = {"conversation_id": conversation_id}
                log.exception("conversation %r could not be checked", conversation_id, extra=named)
                return False

        return set(await hooks.filter_async(may_read, list(ids)))
