"""The clock: every process follows the primary's time."""

import time
from collections.abc import Callable
from datetime import UTC, datetime

from chat_aio.errors import StorageUnavailable
from chat_aio.store.database import Database

HELLO_SECONDS = 2.0
SAMPLES = 3
TELLING_SECONDS = 0.5
"""A slower answer is not used: half of its duration is the error of the clock."""


Clock = Callable[[], datetime]
"""Aware UTC, in whole milliseconds."""


class PrimaryClock:
    """The primary's time, aware, in whole milliseconds as MongoDB stores it.

    It is set from `localTime` in `hello` and continued by the monotonic clock, so a machine whose
    clock is wrong, or is adjusted, neither dates nor expires anything wrongly. Until it is first
    set it is this machine's time.
    """

    def __init__(self) -> None:
        self._since_start = time.time() - time.monotonic()

    def __call__(self) -> datetime:
        now = datetime.fromtimestamp(time.monotonic() + self._since_start, UTC)
        return now.replace(microsecond=now.microsecond // 1000 * 1000)

    async def set(self, database: Database) -> None:
        """Query the primary a few times and use the quickest answer. Raises StorageUnavailable."""
        # The duration of each answer, and the offset of the primary's time to the monotonic clock.
        samples: list[tuple[float, float]] = []
        for _ in range(SAMPLES):
            began = time.monotonic()
            hello = await database.hello(seconds=HELLO_SECONDS)
            taken = time.monotonic() - began
            local_time = hello.get("localTime")
            if not isinstance(local_time, datetime):
                raise StorageUnavailable
            told = local_time if local_time.tzinfo else local_time.replace(tzinfo=UTC)
            # As in NTP: assume that the answer was given half-way.
            samples.append((taken, told.timestamp() - (began + taken / 2)))
        # The quickest answer has the smallest error.
        taken, since_start = min(samples)
        if taken <= TELLING_SECONDS:
            self._since_start = since_start
