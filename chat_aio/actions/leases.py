"""A host's leases: `async with chat.lease("bot")` is entered by one process at a time."""

import asyncio
import logging
from contextlib import suppress
from contextvars import Context as Variables
from types import TracebackType
from typing import Self

from chat_aio.errors import StorageUnavailable
from chat_aio.store.leases import Lease, LeaseLost
from chat_aio.tasks import cancel_and_wait

log = logging.getLogger(__name__)

RENEWALS = 3
"""A holder renews its lease this often within its time, and others look for it as often."""


class Leases:
    """The leases that are held, or waited for, in one chat."""

    def __init__(self) -> None:
        self._used: set[HeldLease] = set()

    def add(self, lease: "HeldLease") -> None:
        self._used.add(lease)

    def discard(self, lease: "HeldLease") -> None:
        self._used.discard(lease)

    async def close(self, *, seconds: float) -> None:
        """End the blocks that hold leases, and wait up to `seconds` until they have released
        them."""
        used = [*self._used]
        for lease in used:
            lease.end()
        # A block that closes the chat itself cannot be waited for.
        ending = {lease.ended for lease in used if not lease.is_own}
        if ending:
            await asyncio.wait(ending, timeout=seconds)


class HeldLease:
    """A lease as a block of code. `async with` waits until this process has it, and releases it at
    the end. While the block runs, the lease is renewed. If it is lost, or the chat closes, the
    block is cancelled, and `async with` raises LeaseLost.

    A process that was paused can run on for a moment before it notices. So call `require` before
    each step, and name `fence` in what you write: each holder's is higher than the one before.
    """

    def __init__(self, lease: Lease, leases: Leases) -> None:
        self._lease = lease
        self._leases = leases
        self._task: asyncio.Task[object] | None = None
        self._cancelling = 0
        self._is_lost = self._has_cancelled = False
        self._renewing: asyncio.Task[None] | None = None
        self._expiry: asyncio.TimerHandle | None = None
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    @property
    def fence(self) -> int:
        """The number of this holder, higher than that of every holder before."""
        return self._lease.fence

    @property
    def is_held(self) -> bool:
        """Whether this process has the lease."""
        return not self._is_lost and self._lease.is_held

    @property
    def is_own(self) -> bool:
        """Whether the running task is in the block."""
        return self._task is asyncio.current_task()

    def require(self) -> None:
        """Raise LeaseLost unless this process has the lease."""
        if not self.is_held:
            raise LeaseLost

    def end(self) -> None:
        """Cancel the block, or the wait for the lease, so that it raises LeaseLost."""
        if not self._is_lost:
            self._is_lost = True
            if self._task is not None and not self.is_own:
                self._has_cancelled = self._task.cancel()

    async def __aenter__(self) -> Self:
        if self._task is not None or self.ended.done():
            raise RuntimeError("this lease was used: call chat.lease(...) again")
        task = self._task = asyncio.current_task()
        assert task is not None
        self._cancelling = task.cancelling()
        self._leases.add(self)
        try:
            while True:
                with suppress(StorageUnavailable):
                    if await self._lease.take():
                        break
                await asyncio.sleep(self._lease.seconds / RENEWALS)
        except BaseException as error:
            await self._leave(error)
            raise
        self._expire_later()
        self._renewing = asyncio.create_task(self._renew(), context=Variables())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._leave(error)

    async def _leave(self, error: BaseException | None) -> None:
        """Release the lease. Raises LeaseLost if it has cancelled the block."""
        task, self._task = self._task, None  # From here on `end` cancels nothing.
        if self._expiry is not None:
            self._expiry.cancel()
        if self._has_cancelled and not isinstance(error, asyncio.CancelledError):
            # The block has ended at the same moment: its cancellation arrives at the next wait.
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(0)
        try:
            if self._renewing is not None:
                await cancel_and_wait(self._renewing)
            if self._lease.is_held:
                await self._lease.release()
        except StorageUnavailable:
            log.warning("a lease was not released: it expires automatically")
        finally:
            self._leases.discard(self)
            self.ended.set_result(None)
        if self._has_cancelled and task is not None:
            # As `asyncio.timeout`: a cancellation from outside stays one.
            is_only_ours = task.uncancel() <= self._cancelling
            if is_only_ours and (error is None or isinstance(error, asyncio.CancelledError)):
                raise LeaseLost from error

    async def _renew(self) -> None:
        while True:
            await asyncio.sleep(self._lease.seconds / RENEWALS)
            try:
                await self._lease.renew()
            except StorageUnavailable:
                continue  # `_expiry` ends the block if no renewal succeeds in time.
            except LeaseLost:
                self.end()
                return
            self._expire_later()

    def _expire_later(self) -> None:
        if self._expiry is not None:
            self._expiry.cancel()
        # Apart from the renewal, which may wait for the database for longer than the lease lasts.
        self._expiry = asyncio.get_running_loop().call_later(self._lease.seconds_left, self.end)
