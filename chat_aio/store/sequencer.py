"""The sequencer: group commit of sends that arrive together (decision 0002).

While a batch is in flight, the next one gathers. A conversation is in one flight at a time, and
every batch locks the counter documents first, so messages commit in the order of their numbers
(`numbering.py` assigns them).
"""

import asyncio
import logging
import random
import time
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from contextvars import Context, copy_context
from datetime import datetime
from typing import Any

from chat_aio.errors import OUTCOME_UNKNOWN, InternalError, StorageUnavailable
from chat_aio.observability.observer import Observer
from chat_aio.store import conversations
from chat_aio.store.backoff import turn
from chat_aio.store.batch import DuplicateWrite, observed, write_batch
from chat_aio.store.calls import LOOK_SECONDS, deadline_within, note_wait
from chat_aio.store.database import Database
from chat_aio.store.documents import MessageDocument
from chat_aio.store.numbering import Appended, Draft, StillAllowed
from chat_aio.store.orphans import end_orphans
from chat_aio.store.transactions import Conflict

MAX_MESSAGES = 256
MAX_WEIGHT = 4 * 1024 * 1024
MAX_APART = 4
MAX_FLIGHTS = 32
REBUILDS = 3
TRIES_TOGETHER = 4
CONTENDED_SECONDS = 0.5  # How long a conversation counts as contended after a conflict.
REST_SECONDS = (0.005, 0.012)

log = logging.getLogger(__name__)


class Sequencer:
    """Writes the messages of one process. `clock` dates them; the timeout is the database's."""

    def __init__(
        self,
        database: Database,
        *,
        clock: Callable[[], datetime],
        observers: tuple[Observer, ...] = (),
    ) -> None:
        self._database = database
        self._clock = clock
        self._observers = observers
        self._waiting: dict[str, deque[Draft]] = {}
        self._busy: set[str] = set()
        self._held: dict[str, int] = defaultdict(int)
        self._changed: set[str] = set()
        self._idle: dict[str, list[asyncio.Future[None]]] = defaultdict(list)
        self._doubtful: set[str] = set()
        self._undecided: set[Draft] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._flights: set[asyncio.Task[None]] = set()
        self._common: list[Draft] | None = None
        self._contended: dict[str, float] = {}
        self._launching = False

    async def append(
        self,
        message: MessageDocument,
        *,
        epoch: int,
        still_allowed: StillAllowed | None = None,
        slow_seconds: int = 0,
    ) -> Appended:
        """Number, date and store `message`, which was checked on a snapshot of `epoch`; returns
        after the commit at majority.

        If the epoch has moved since, `still_allowed` decides on the locked conversation; raises
        EpochChanged if it returns False or is None. Raises SlowMode if the sender has sent another
        message less than `slow_seconds` ago. Raises StorageUnavailable past the timeout; the error
        states whether nothing was written or the outcome is unknown.
        """
        loop, deadline = asyncio.get_running_loop(), deadline_within(self._database.timeout)
        origin = copy_context() if self._observers else None
        answer = loop.create_future()
        draft = Draft(message, epoch, deadline, answer, still_allowed, origin, slow_seconds)
        self._waiting.setdefault(draft.conversation_id, deque()).append(draft)
        self._undecided.add(draft)
        self._look_later()
        self._launch_soon()
        began = time.monotonic()
        try:
            return await draft.answer
        finally:
            note_wait(began)
            self._undecided.discard(draft)
            self._withdraw(draft)

    @asynccontextmanager
    async def hold(self, conversation_id: str) -> AsyncIterator[float]:
        """Hold a conversation between two of its batches, for one other transaction at a time.
        Yields the deadline of waiting and work together; raises StorageUnavailable past it."""
        deadline = deadline_within(self._database.timeout)
        self._held[conversation_id] += 1
        try:
            while conversation_id in self._busy or conversation_id in self._changed:
                idle = asyncio.get_running_loop().create_future()
                self._idle[conversation_id].append(idle)
                await self._database.calls.shared(idle, seconds=deadline - time.monotonic())
            self._busy.add(conversation_id)
        finally:
            self._held[conversation_id] -= 1
            if not self._held[conversation_id]:
                del self._held[conversation_id]
                if conversation_id in self._waiting:
                    self._launch_soon()
        try:
            yield deadline
        finally:
            # Sends are waiting: let a batch run before the next change, or changes starve sends.
            if conversation_id in self._waiting:
                self._changed.add(conversation_id)
            self._land([conversation_id])

    def count_waiting(self) -> int:
        """The number of messages that were handed over and have no outcome yet."""
        return len(self._undecided)

    async def close(self, *, seconds: float) -> None:
        """Wait up to `seconds` for all outcomes; later ones continue until their deadline."""
        under_way: set[asyncio.Future[Any]] = {draft.answer for draft in self._undecided}
        under_way |= self._flights
        if under_way:
            await asyncio.wait(under_way, timeout=seconds)

    def _launch_soon(self) -> None:
        """Launch after this turn of the event loop and the next: callers that have just got an
        answer often send again at once, and are then in the same batch."""
        if not self._launching:
            self._launching = True
            loop = asyncio.get_running_loop()
            loop.call_soon(loop.call_soon, self._launch)

    def _launch(self) -> None:
        self._launching = False
        for batch in self._batches():
            flight = asyncio.create_task(self._fly(batch), context=Context())
            self._flights.add(flight)
            flight.add_done_callback(self._flights.discard)
            flight.add_done_callback(lambda _: self._launch_soon())

    def _batches(self) -> Iterator[list[Draft]]:
        """Take the batches that may start now out of the queue.

        One common flight at a time carries all gathered drafts: several small flights at once cost
        more. A conversation that other processes write to as well gets a separate flight, so that
        the others do not wait for its turn.
        """
        now = asyncio.get_running_loop().time()
        held = self._held.keys() - self._changed
        free = [name for name in self._waiting if name not in self._busy and name not in held]
        contended = [name for name in free if self._contended.get(name, 0.0) > now]
        apart = len(self._flights) - (self._common is not None)
        for name in contended[: max(0, MAX_APART - apart)]:
            apart += 1
            yield self._take([name])
        quiet = [name for name in free if name not in contended] if contended else free
        if quiet and self._common is None and apart < MAX_FLIGHTS:
            self._common = self._take(quiet)
            yield self._common

    def _take(self, conversation_ids: Iterable[str]) -> list[Draft]:
        """The oldest drafts of these conversations, within the limits of a batch."""
        batch: list[Draft] = []
        weight = 0
        for conversation_id in conversation_ids:
            queue = self._waiting[conversation_id]
            while queue and len(batch) < MAX_MESSAGES and weight < MAX_WEIGHT:
                draft = queue.popleft()
                draft.queued = False
                weight += draft.weight
                batch.append(draft)
            if not queue:
                del self._waiting[conversation_id]
            self._busy.add(conversation_id)
            self._changed.discard(conversation_id)
            if len(batch) >= MAX_MESSAGES or weight >= MAX_WEIGHT:
                break
        return batch

    async def _fly(self, drafts: Sequence[Draft]) -> None:
        """Carry a batch to its end, and then release its conversations."""
        parts: Sequence[list[Draft]] = ()
        try:
            parts = await self._carry(drafts)
        finally:
            self._leave_common(drafts)
            if not parts:
                # A contended conversation is left to other processes for a moment; callers gather.
                if self._contended.get(drafts[0].conversation_id, 0.0) > time.monotonic():
                    await asyncio.sleep(random.uniform(*REST_SECONDS))
                self._land({draft.conversation_id for draft in drafts})
        await asyncio.gather(*map(self._fly, parts))

    async def _carry(self, drafts: Sequence[Draft]) -> Sequence[list[Draft]]:
        """Write a batch, with back-off if other processes are faster. If a batch of several
        conversations collides repeatedly, returns its halves, which continue separately."""
        began, tries = time.monotonic(), 0
        while waited_for := [draft for draft in drafts if not draft.answer.done()]:
            try:
                await self._write(waited_for)
            except Conflict:
                tries += 1
                parts = _halves(drafts)
                if len(parts) == 1:
                    self._leave_common(drafts)
                    now = time.monotonic()
                    lately = {name: until for name, until in self._contended.items() if until > now}
                    contended = {drafts[0].conversation_id: now + CONTENDED_SECONDS}
                    self._contended = {**lately, **contended}
                elif tries == TRIES_TOGETHER:
                    return parts
                await end_orphans(self._database, since=began)
                await asyncio.sleep(turn(tries))
            except StorageUnavailable as error:
                self._fail(waited_for, error)
            except Exception as error:
                tries += 1
                if not isinstance(error, DuplicateWrite) or tries > REBUILDS:
                    await self._separate(waited_for, error)
        return ()

    def _leave_common(self, drafts: Sequence[Draft]) -> None:
        """If this is the common flight, it is over or waits for others: the next one may gather."""
        if self._common is drafts:
            self._common = None
            self._launch_soon()

    async def _separate(self, drafts: Sequence[Draft], error: Exception) -> None:
        """Write drafts one by one, so that a message that cannot be stored fails alone."""
        log.error("a batch of %d messages could not be stored", len(drafts), exc_info=error)
        if len(drafts) == 1:
            if not drafts[0].answer.done():
                drafts[0].answer.set_exception(InternalError())
            return
        for draft in drafts:
            await self._carry([draft])

    async def _write(self, drafts: Sequence[Draft]) -> None:
        # After a commit of unknown outcome, wait for a read at majority before the next batch.
        for conversation_id in self._doubtful & {draft.conversation_id for draft in drafts}:
            await conversations.find_head(self._database, conversation_id)
            self._doubtful.discard(conversation_id)
        latest = max(draft.deadline for draft in drafts)
        writing = write_batch(self._database, drafts, clock=self._clock, deadline=latest)
        observers = self._observers
        outcomes = await (observed(writing, drafts, observers) if observers else writing)
        for draft, outcome in outcomes.items():
            if draft.answer.done():
                continue
            if isinstance(outcome, Exception):
                draft.answer.set_exception(outcome)
            else:
                draft.answer.set_result(outcome)

    def _fail(self, drafts: Iterable[Draft], error: StorageUnavailable) -> None:
        if str(error) == OUTCOME_UNKNOWN:
            self._doubtful.update(draft.conversation_id for draft in drafts)
        for draft in drafts:
            if not draft.answer.done():
                draft.answer.set_exception(StorageUnavailable(str(error)))

    def _land(self, conversation_ids: Iterable[str]) -> None:
        """Release these conversations and wake the callers that wait for them."""
        for conversation_id in conversation_ids:
            self._busy.discard(conversation_id)
            self._wake(conversation_id)
        self._launch_soon()

    def _wake(self, conversation_id: str) -> None:
        for idle in self._idle.pop(conversation_id, ()):
            if not idle.done():
                idle.set_result(None)

    def _look_later(self) -> None:
        # One timer for all drafts, of which nearly all are decided long before their deadline.
        if self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(LOOK_SECONDS, self._look)

    def _look(self) -> None:
        """Fail the drafts that are past their deadline."""
        self._timer = None
        now = time.monotonic()
        for draft in self._undecided:
            if now >= draft.deadline:
                self._expire(draft)
        if self._undecided:
            self._look_later()

    def _expire(self, draft: Draft) -> None:
        """Fail a draft at its deadline: if it is still queued, it was certainly not written."""
        if not draft.answer.done():
            queued = self._withdraw(draft)
            draft.answer.set_exception(StorageUnavailable(None if queued else OUTCOME_UNKNOWN))

    def _withdraw(self, draft: Draft) -> bool:
        """Take a draft out of the queue; returns whether it was there."""
        if not draft.queued:
            return False
        draft.queued = False
        queue = self._waiting[draft.conversation_id]
        queue.remove(draft)
        if not queue:
            del self._waiting[draft.conversation_id]
            self._changed.discard(draft.conversation_id)
            self._wake(draft.conversation_id)
        return True


def _halves(drafts: Sequence[Draft]) -> list[list[Draft]]:
    """Two parts without a common conversation; one part if there is only one conversation."""
    names = list(dict.fromkeys(draft.conversation_id for draft in drafts))
    left = set(names[: len(names) // 2])
    parts = (
        [draft for draft in drafts if draft.conversation_id in left],
        [draft for draft in drafts if draft.conversation_id not in left],
    )
    return [part for part in parts if part]
