"""Removes users from the audience of ephemeral events where an option keeps people apart."""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from contextvars import Context as Variables
from functools import partial

from chat_aio import hooks
from chat_aio.actions.context import Context
from chat_aio.actions.moderators import receives_reports
from chat_aio.live.ephemeral import EphemeralDelivery
from chat_aio.live.hub import Hub
from chat_aio.store import blocks, mutual_messages

log = logging.getLogger(__name__)

MOST_REMEMBERED = 100_000
MOST_WAITING = 10_000
MOST_TOGETHER = 500
CLOSE_SECONDS = 2.0

Pair = tuple[str, str]


class EphemeralFilter:
    """Stands between the feed and the streams for events with a sender (specification 12.6).

    Lookups run in a separate task, in feed order, so that messages do not wait for them. Blocks
    are cached until the feed delivers a change of them.
    """

    def __init__(self, context: Context, hub: Hub) -> None:
        self._context = context
        self._database = context.database
        self._hub = hub
        self._separates = context.options.hide_blocked_users
        self._needs_exchange = context.options.presence_requires_mutual_messages
        self._waiting: list[EphemeralDelivery] = []
        self._looking: asyncio.Task[None] | None = None
        self._apart: OrderedDict[Pair, bool] = OrderedDict()
        self._changes = 0
        self._feed_live = False

    def take(self, ephemeral: EphemeralDelivery) -> bool:
        """Take over an event that must be filtered, and deliver it later. Returns False if it needs
        no filter: the caller then sends it."""
        concerned = self._separates or (self._needs_exchange and ephemeral.needs_exchange)
        if not ephemeral.for_moderators and (ephemeral.but is None or not concerned):
            return False
        self._waiting.append(ephemeral)
        if len(self._waiting) > MOST_WAITING:
            log.warning("more than %d ephemeral events wait: the oldest is lost", MOST_WAITING)
            del self._waiting[0]
        if self._looking is None:
            # A fresh context: the lookups must not inherit the deadline of the first caller.
            self._looking = asyncio.create_task(self._look(), context=Variables())
        return True

    def forget(self, pair: Pair) -> None:
        """Invalidate a pair: one of the two has blocked or unblocked the other."""
        self._changes += 1
        self._apart.pop(_sorted(pair), None)

    def set_feed_live(self, is_live: bool) -> None:
        """Cache only while the feed is live; a change of state empties the cache."""
        self._feed_live = is_live
        self._changes += 1
        self._apart.clear()

    async def close(self) -> None:
        """Drop waiting events, since all streams have ended, and wait briefly for a running
        lookup."""
        self._waiting.clear()
        # Not cancelled: a cancelled driver call can break the client (decision 0009).
        if self._looking is not None:
            await asyncio.wait({self._looking}, timeout=CLOSE_SECONDS)

    async def _look(self) -> None:
        try:
            while self._waiting:
                taken = self._waiting[:MOST_TOGETHER]
                self._waiting = self._waiting[MOST_TOGETHER:]
                try:
                    await self._deliver(taken)
                except Exception as error:
                    # Better lost than delivered to a blocked user.
                    log.warning("%d ephemeral events were lost: %r", len(taken), error)
        finally:
            self._looking = None

    async def _deliver(self, events: Sequence[EphemeralDelivery]) -> None:
        audiences = [self._hub.audience(event) for event in events]
        apart = await self._find_apart(events, audiences)
        pairs = list(zip(events, audiences, strict=True))
        asked = {user_id for event, users in pairs if event.for_moderators for user_id in users}
        # Asked again: they were moderators when their streams opened.
        moderators = set(
            await hooks.filter_async(partial(receives_reports, self._context), [*asked])
        )
        for ephemeral, audience in pairs:
            if ephemeral.for_moderators:
                await self._hub.send(ephemeral, only=moderators)
                continue
            sender = ephemeral.but or ""
            allowed = {user_id for user_id in audience if not apart.get(_sorted((sender, user_id)))}
            if ephemeral.needs_exchange and self._needs_exchange:
                ids = ephemeral.conversation_ids
                allowed = await mutual_messages.who_wrote_with(self._database, sender, ids, allowed)
            # `only`: nobody has checked the users whose streams opened during the lookup.
            await self._hub.send(ephemeral, only=allowed)

    async def _find_apart(
        self, events: Sequence[EphemeralDelivery], audiences: Sequence[Iterable[str]]
    ) -> Mapping[Pair, bool]:
        """For each pair of a sender and a reader: has one of them blocked the other? One query
        looks up all pairs that are not cached."""
        if not self._separates:
            return {}
        asked = {
            # In one order: a block separates the two in both directions.
            _sorted((ephemeral.but or "", user_id))
            for ephemeral, audience in zip(events, audiences, strict=True)
            if not ephemeral.for_moderators
            for user_id in audience
        }
        known = {user_id: self._apart[user_id] for user_id in asked if user_id in self._apart}
        if new := asked - known.keys():
            changes = self._changes
            found = {_sorted(pair) for pair in await blocks.pairs_apart(self._database, new)}
            answers = {pair: pair in found for pair in new}
            # A block that changed during the query would be cached in its old state.
            if changes == self._changes and self._feed_live:
                self._apart.update(answers)
                while len(self._apart) > MOST_REMEMBERED:
                    self._apart.popitem(last=False)
            known |= answers
        return known


def _sorted(pair: Pair) -> Pair:
    one, other = pair
    return (one, other) if one <= other else (other, one)
