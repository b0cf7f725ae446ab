"""Filters the conversations that a stream delivers, where the host has its own `can_read`."""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextvars import Context as Variables

from chat_aio import hooks
from chat_aio.actions.context import Context
from chat_aio.errors import ChatError
from chat_aio.live.hub import Hub
from chat_aio.live.stream import Stream

log = logging.getLogger(__name__)

USERS_TOGETHER = 20
"""Users whose conversations are checked together, so that a host gets large batches."""


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
        user_ids = list(self._hub.user_ids()) if self.asks else []
        for start in range(0, len(user_ids), USERS_TOGETHER):
            asked = {
                user_id: {
                    conversation_id
                    for stream in self._hub.subscribed_of([user_id])
                    for conversation_id in stream.conversation_ids | stream.denied
                }
                for user_id in user_ids[start : start + USERS_TOGETHER]
            }
            readable = await self._readable_pairs(
                [
                    (user_id, conversation_id)
                    for user_id, ids in asked.items()
                    for conversation_id in ids
                ]
            )
            for user_id, ids in asked.items():
                for stream in self._hub.subscribed_of([user_id]):
                    self._apply(stream, ids, readable[user_id])

    def _apply(self, stream: Stream, asked: set[str], readable: set[str]) -> None:
        """Apply the host's answers about the conversations `asked` to a stream."""
        if stream.denied & readable:
            stream.end("readable_again")
        # `& asked`: the host did not check conversations to which the user was added in the
        # meantime.
        refused = (stream.conversation_ids & asked) - readable
        if stream.follows and refused:
            stream.end("unreadable")
            return
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
        """The conversations that the host lets a user read."""
        found = await self._readable_pairs([(user_id, conversation_id) for conversation_id in ids])
        return found[user_id]

    async def _readable_pairs(self, pairs: Sequence[tuple[str, str]]) -> defaultdict[str, set[str]]:
        """Of pairs of a user and a conversation, the conversations that each user may read; a hook
        that fails counts as no."""

        async def may_read(pair: tuple[str, str]) -> bool:
            user_id, conversation_id = pair
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

        at_once = self._context.permissions.read_at_once
        found: defaultdict[str, set[str]] = defaultdict(set)
        for user_id, conversation_id in await hooks.filter_async(may_read, pairs, at_once=at_once):
            found[user_id].add(conversation_id)
        return found
