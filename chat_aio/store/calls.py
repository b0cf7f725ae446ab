"""Driver calls: each one runs in a separate task that is never cancelled, and ends by its timeout.

PyMongo's async API does not survive cancellation on Python 3.11: a cancelled call can leave the
topology's lock without an owner, and then every later call of that client waits for ever. So a
cancelled caller stops waiting, and the call continues until `pymongo.timeout` ends it
(decision 0009).
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from contextvars import Context, ContextVar, Token
from dataclasses import dataclass
from typing import Any, Self, TypeVar

import pymongo

from chat_aio.errors import StorageUnavailable

T = TypeVar("T")
Call = Callable[[], Awaitable[T]]

GRACE_SECONDS = 0.3
"""How long a caller waits past the timeout: the driver needs a moment to raise its error."""

LOOK_SECONDS = 0.1
STUCK_AFTER_TIMEOUTS = 2


class LateCall(Exception):
    """A call has not ended in time; its outcome is unknown."""


@dataclass(slots=True)
class Budget:
    """The time that all driver calls of one request may take together: calls that succeed slowly,
    one after the other, would add up. `waited` and `paused` are the seconds spent in driver calls
    and in pauses; concurrent calls add up."""

    deadline: float
    pauses: int = 0
    paused_at: float = 0.0
    waited: float = 0.0
    paused: float = 0.0
    _token: Token[tuple["Budget", ...]] | None = None

    def __enter__(self) -> Self:
        self._token = _BUDGETS.set((*_BUDGETS.get(), self))
        return self

    def __exit__(self, *_: object) -> None:
        if self._token is not None:
            _BUDGETS.reset(self._token)

    def deadline_at(self, now: float) -> float:
        """The deadline, if a current pause ended now: a host's hook may call the chat."""
        return self.deadline + (now - self.paused_at if self.pauses else 0.0)

    @property
    def remaining(self) -> float:
        """The remaining seconds, at least 0."""
        return max(0.0, self.deadline - time.monotonic())


_BUDGETS: ContextVar[tuple[Budget, ...]] = ContextVar("chat_aio_budgets", default=())
"""The budgets of the running code. They nest: a search has less time than its request."""


def budget(seconds: float) -> Budget:
    """Limit all calls inside to `seconds` together, and to the rest of an outer budget:
    `with budget(seconds)`."""
    return Budget(time.monotonic() + seconds)


@contextmanager
def paused() -> Iterator[None]:
    """Stop the clock of the budgets during a wait for something else: a host's hook, or a request
    body. Overlapping pauses count once."""
    budgets, now = _BUDGETS.get(), time.monotonic()
    for open_budget in budgets:
        if not open_budget.pauses:
            open_budget.paused_at = now
        open_budget.pauses += 1
    try:
        yield
    finally:
        now = time.monotonic()
        for open_budget in budgets:
            open_budget.pauses -= 1
            if not open_budget.pauses:
                open_budget.deadline += now - open_budget.paused_at
                open_budget.paused += now - open_budget.paused_at


def deadline_within(seconds: float) -> float:
    """The deadline (monotonic) of a call that may take `seconds`, within all budgets."""
    now = time.monotonic()
    deadline = now + seconds
    for open_budget in _BUDGETS.get():
        deadline = min(deadline, open_budget.deadline_at(now))
    return deadline


def note_wait(since: float) -> None:
    """Add the time since `since` to the waiting time of the budgets."""
    if budgets := _BUDGETS.get():
        passed = time.monotonic() - since
        for open_budget in budgets:
            open_budget.waited += passed


@dataclass(slots=True, eq=False)
class _Running:
    """A call in progress, and the future that its caller waits for. At `late` the caller gets an
    error; a call that has not ended at `stuck` never will."""

    waiter: asyncio.Future[Any]
    began: float
    late: float
    stuck: float
    suspected: bool = False


class Calls:
    """The driver calls of one chat in progress; `timeout` is that of an ordinary call."""

    def __init__(self, *, timeout: float) -> None:
        self._timeout = timeout
        self._calls: dict[asyncio.Task[Any], _Running] = {}
        self._waiters: dict[asyncio.Future[None], float] = {}
        self._left: set[asyncio.Task[Any]] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._stuck: set[asyncio.Task[Any]] = set()
        self.on_ended: Callable[[float, bool], None] | None = None
        """Called when a call of `run` has ended, with its seconds and whether it failed."""

    def __len__(self) -> int:
        """The number of calls in progress, abandoned ones included."""
        return len(self._calls) + len(self._left)

    @property
    def is_stuck(self) -> bool:
        """Whether a call has not ended by twice its timeout: such a client does not recover."""
        return bool(self._stuck)

    async def run(self, call: Call[T], *, seconds: float) -> T:
        """Run `call` for at most `seconds`, and within the request's budget.

        Raises StorageUnavailable if the budget is spent, LateCall if the call has not ended in
        time, and the errors of the call. If the caller is cancelled, the call continues.
        """
        now = time.monotonic()
        allowed = deadline_within(seconds) - now
        if allowed <= 0:
            raise StorageUnavailable

        async def bounded() -> T:
            with pymongo.timeout(allowed):
                return await call()

        task = asyncio.create_task(bounded())
        # The caller waits for a future, not for the task: awaiting a task passes a cancellation on.
        waiter: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._calls[task] = _Running(
            waiter,
            began=now,
            late=now + allowed + GRACE_SECONDS,
            stuck=now + STUCK_AFTER_TIMEOUTS * max(seconds, self._timeout),
        )
        task.add_done_callback(self._ended)
        self._look_later()
        try:
            return await waiter
        finally:
            note_wait(now)

    async def shared(self, work: asyncio.Future[T], *, seconds: float) -> T:
        """Wait for work that several callers share and that is not cancelled with one of them.
        Raises StorageUnavailable if it is not done within `seconds`, or within the budget."""
        if not work.done():
            now = time.monotonic()
            until = deadline_within(seconds)
            if until <= now:
                raise StorageUnavailable
            waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()

            def wake(_: asyncio.Future[T]) -> None:
                if not waiter.done():
                    waiter.set_result(None)

            self._waiters[waiter] = until
            self._look_later()
            work.add_done_callback(wake)
            try:
                await waiter
            finally:
                del self._waiters[waiter]
                work.remove_done_callback(wake)
                note_wait(now)
            if not work.done():
                raise StorageUnavailable
        return work.result()

    def leave(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Start work that continues without its caller, such as a commit. It has its own deadlines,
        not the caller's budget."""
        task = asyncio.create_task(work, context=Context())
        self._left.add(task)
        task.add_done_callback(self._left.discard)
        task.add_done_callback(retrieve)
        return task

    async def to_the_end(self, work: Coroutine[Any, Any, T]) -> T:
        """Run long work without a timeout, such as creating indexes; it continues if the caller is
        cancelled."""
        return await asyncio.shield(self.leave(work))

    async def wait_for_all(self, *, seconds: float) -> None:
        """Wait up to `seconds` for everything in progress."""
        if pending := {*self._calls, *self._left}:
            await asyncio.wait(pending, timeout=seconds)

    def forget(self) -> None:
        """Abandon all calls, because their client was replaced; callers get LateCall."""
        for call in self._calls.values():
            if not call.waiter.done():
                call.waiter.set_exception(LateCall())
        self._calls.clear()
        self._stuck.clear()

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._stuck.discard(task)
        call = self._calls.pop(task, None)
        if call is not None and self.on_ended is not None:
            failed = task.cancelled() or task.exception() is not None
            self.on_ended(time.monotonic() - call.began, failed)
        if call is None or call.waiter.done():
            retrieve(task)
        elif task.cancelled():
            call.waiter.cancel()
        elif error := task.exception():
            call.waiter.set_exception(error)
        else:
            call.waiter.set_result(task.result())

    def _look_later(self) -> None:
        # One timer for all calls, of which nearly all end long before they are late.
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(LOOK_SECONDS, self._look)

    def _look(self) -> None:
        """Fail callers whose call is late, wake those that have waited long enough, and note calls
        that are stuck."""
        self._timer = None
        now = time.monotonic()
        for waiter, until in self._waiters.items():
            if now >= until and not waiter.done():
                waiter.set_result(None)
        for task, call in self._calls.items():
            if now >= call.late and not call.waiter.done():
                call.waiter.set_exception(LateCall())
            if now >= call.stuck and not task.done():
                # Only the second time: a process that was paused finds all its calls late at once,
                # and they must get a chance to end.
                if call.suspected:
                    self._stuck.add(task)
                call.suspected = True
        if self._calls or self._waiters:
            self._look_later()


def retrieve(task: asyncio.Future[Any]) -> None:
    """Retrieve the error of an abandoned task, so that asyncio does not log it."""
    if not task.cancelled():
        task.exception()
