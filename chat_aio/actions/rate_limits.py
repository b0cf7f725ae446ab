"""Rate limits that a host sets for users and methods; each process counts for itself."""

import math
import time
from collections import defaultdict, deque
from collections.abc import Callable, Collection, Mapping, Sequence

from chat_aio.errors import RateLimited, SetupError

ANY = "*"
"""Stands for every method that is not named."""

SWEEP_SECONDS = 60.0

Limit = tuple[int, int]
"""(calls, seconds): at most so many calls in any window of so many seconds."""

Key = tuple[Limit, str, str]


class Rates:
    """Limits such as `{"send_message": "5/second;100/minute", "*": "20/second"}`, counted for each
    user and method. Raises ValueError for an unknown method or a limit that cannot be parsed, and
    SetupError without the package `limits`."""

    def __init__(
        self,
        written: Mapping[str, str],
        *,
        methods: Collection[str],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if unknown := next((each for each in written if each not in (ANY, *methods)), None):
            raise ValueError(f"Options(rate_limits=...): there is no method {unknown!r}")
        self._limits = {name: _limits_from(text) for name, text in written.items()}
        self._clock = clock
        self._calls: defaultdict[Key, deque[float]] = defaultdict(deque)
        self._swept = clock()

    def __len__(self) -> int:
        """How many combinations of limit, user and method are kept."""
        return len(self._calls)

    def count(self, user_id: str, method: str) -> None:
        """Count one call. If a limit is exceeded, count nothing and raise RateLimited with the
        seconds until all limits allow the next call."""
        limits = self._limits.get(method) or self._limits.get(ANY)
        if not limits:
            return
        keys = [(each, user_id, method) for each in limits]
        now = self._clock()
        self._sweep(now)
        if wait := max(self._wait(each, now) for each in keys):
            raise RateLimited(retry_after=max(1, math.ceil(wait)))
        for each in keys:
            self._calls[each].append(now)

    def give_back(self, user_id: str, method: str) -> None:
        """Take back the last call, which failed through no fault of the user."""
        for each in self._limits.get(method) or self._limits.get(ANY) or ():
            if calls := self._calls.get((each, user_id, method)):
                calls.pop()

    def _wait(self, key: Key, now: float) -> float:
        """Seconds until this limit allows the next call; 0 if it does now."""
        (most, seconds), calls = key[0], self._calls.get(key)
        while calls and calls[0] <= now - seconds:
            calls.popleft()
        return calls[-most] + seconds - now if calls and len(calls) >= most else 0

    def _sweep(self, now: float) -> None:
        """Forget users without a call in the window, to bound the memory."""
        if now - self._swept < SWEEP_SECONDS:
            return
        self._swept = now
        for key, calls in [*self._calls.items()]:
            if not calls or calls[-1] <= now - key[0][1]:
                del self._calls[key]


def _limits_from(text: str) -> Sequence[Limit]:
    try:
        from limits import parse_many
    except ImportError:
        raise SetupError("rate_limits needs a package: pip install chat-aio[limits]") from None
    return list(dict.fromkeys((each.amount, each.get_expiry()) for each in parse_many(text)))
