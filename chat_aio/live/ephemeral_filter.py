"""Whom an ephemeral event is not told to, with the options that keep people apart."""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from contextvars import Context as Variables

from chat_aio.actions.context import Context
from chat_aio.live.ephemeral import EphemeralDelivery
from chat_aio.live.hub import Hub
from chat_aio.store import blocks, exchanges

log = logging.getLogger(__name__)

MOST_REMEMBERED = 100_000
MOST_WAITING = 10_000
MOST_TOGETHER = 500
CLOSE_SECONDS = 2.0

Pair = tuple[str, str]


class EphemeralFilter:
    """Between the feed and the streams, for events with a sender (docs/behaviour.md 12.6).

    It looks up in a task of its own, in the order of the feed, so that no message waits for it. Who
    has blocked whom is remembered until the feed tells of a change.
    """

    def __init__(self, context: Context, hub: Hub) -> None:
        self._database = context.database
        self._hub = hub
        self._separates = context.options.separate_blocked
        self._needs_exchange = context.options.presence_needs_exchange
        self._waiting: list[EphemeralDelivery] = []
        self._looking: asyncio.Task[None] | None = None
        self._apart: OrderedDict[Pair, bool] = OrderedDict()
        self._changes = 0
        self._feed_live = False

    def take(self, ephemeral: EphemeralDelivery) -> bool:
        """Whether an event is looked at first; it is told then to whom it may be."""
        concerned = self._separates or (self._needs_exchange and ephemeral.needs_exchange)
        if ephemeral.but is None or not concerned:
            return False
        self._waiting.append(ephemeral)
        if len(self._waiting) > MOST_WAITING:
            log.warning("more than %d ephemeral events wait: the oldest is lost", MOST_WAITING)
            del self._waiting[0]
        if self._looking is None:
            self._looking = asyncio.create_task(self._look(), context=Variables())
        return True

    def forget(self, pair: Pair) -> None:
        """One of these two has blocked the other, or does so no longer."""
        self._changes += 1
        self._apart.pop(_sorted(pair), None)

    def set_feed_live(self, is_live: bool) -> None:
        """Whether changes are being announced now; while they are not, nothing is remembered."""
        self._feed_live = is_live
        self._changes += 1
        self._apart.clear()

    async def close(self) -> None:
        """No stream is left to tell; wait a little for what is being looked up."""
        self._waiting.clear()
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
                    log.warning("%d ephemeral events were lost: %r", len(taken), error)
        finally:
            self._looking = None

    async def _deliver(self, events: Sequence[EphemeralDelivery]) -> None:
        audiences = [self._hub.audience(each) for each in events]
        apart = await self._find_apart(events, audiences)
        for ephemeral, audience in zip(events, audiences, strict=True):
            sender = ephemeral.but or ""
            told = {each for each in audience if not apart.get(_sorted((sender, each)))}
            if ephemeral.needs_exchange and self._needs_exchange:
                ids = ephemeral.conversation_ids
                told = await exchanges.who_wrote_with(self._database, sender, ids, told)
            await self._hub.send(ephemeral, only=told)

    async def _find_apart(
        self, events: Sequence[EphemeralDelivery], audiences: Sequence[Iterable[str]]
    ) -> Mapping[Pair, bool]:
        """Which of senders and readers one has blocked the other; one query for all that is new."""
        if not self._separates:
            return {}
        asked = {
            _sorted((ephemeral.but or "", each))
            for ephemeral, audience in zip(events, audiences, strict=True)
            for each in audience
        }
        known = {each: self._apart[each] for each in asked if each in self._apart}
        if new := asked - known.keys():
            changes = self._changes
            found = {_sorted(each) for each in await blocks.pairs_apart(self._database, new)}
            answers = {each: each in found for each in new}
            if changes == self._changes and self._feed_live:
                self._remember(answers)
            known |= answers
        return known

    def _remember(self, answers: Mapping[Pair, bool]) -> None:
        self._apart.update(answers)
        while len(self._apart) > MOST_REMEMBERED:
            self._apart.popitem(last=False)


def _sorted(pair: Pair) -> Pair:
    one, other = pair
    return (one, other) if one <= other else (other, one)
