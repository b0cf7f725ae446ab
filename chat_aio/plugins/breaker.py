"""A circuit breaker: stops calling what keeps failing, and tries it again now and then."""

import time
from collections.abc import Callable


class Breaker:
    """Opens after `failures` in a row. While it is open, one call in `open_seconds` is let through;
    the first one that succeeds closes it.

    A call that never reports its end, because its caller has left, blocks nothing: the next one may
    go after `open_seconds`.
    """

    def __init__(
        self,
        *,
        failures: int,
        open_seconds: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._most = failures
        self._open_seconds = open_seconds
        self._clock = clock
        self._failed = 0
        self._tried_at = 0.0

    def lets_through(self) -> bool:
        """Whether a call may be made now."""
        if self._failed < self._most:
            return True
        if self._clock() - self._tried_at < self._open_seconds:
            return False
        # Noted at the start of a call, so that others do not try at the same time.
        self._tried_at = self._clock()
        return True

    def succeeded(self) -> None:
        self._failed = 0

    def failed(self) -> bool:
        """Count a failure; returns whether it has opened the breaker."""
        self._failed += 1
        self._tried_at = self._clock()
        return self._failed == self._most
