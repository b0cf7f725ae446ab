"""Background work of a process: follows the primary's clock, and replaces a stuck client."""

import asyncio
import logging
from collections.abc import Callable
from contextvars import Context
from typing import Any

from chat_aio.errors import StorageUnavailable
from chat_aio.store.clock import PrimaryClock
from chat_aio.store.database import Database
from chat_aio.tasks import cancel_and_wait

log = logging.getLogger(__name__)

LOOK_SECONDS = 1.0
CLOCK_EVERY = 10
"""Rounds between two settings of the clock."""


class Upkeep:
    """Sets the clock from the primary's, unless the host has given one, and watches the client.

    A client with a call that has not ended by twice its timeout never recovers. `database_factory`
    then makes a new handle of the same database; if it is None, /healthz requests a restart.
    """

    def __init__(
        self,
        database: Database,
        clock: PrimaryClock | None,
        database_factory: Callable[[], Any] | None,
    ) -> None:
        self._database = database
        self._clock = clock
        self._database_factory = database_factory
        self._task: asyncio.Task[None] | None = None
        self._said = False
        self.looks = 0

    async def open(self) -> None:
        """Set the clock, then start the background task. Raises StorageUnavailable."""
        if self._clock is not None:
            await self._clock.set(self._database)
        self._task = asyncio.create_task(self._run(), context=Context())

    async def close(self) -> None:
        if self._task is not None:
            await cancel_and_wait(self._task)
            self._task = None

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            self.looks += 1
            # One failure must not end the task: nobody would set the clock from then on.
            try:
                if self._database.calls.is_stuck:
                    if self._database_factory is not None:
                        log.error("the database client is stuck and is being replaced")
                        self._database.rebind(self._database_factory())
                    elif not self._said:  # Once: the state lasts until the process is restarted.
                        log.critical("the database client is stuck: this process needs a restart")
                        self._said = True
                if self._clock is not None and self.looks % CLOCK_EVERY == 0:
                    await self._clock.set(self._database)
            except StorageUnavailable:  # The clock continues from its last setting.
                continue
            except Exception:
                log.exception("setting the clock or replacing the client failed")
