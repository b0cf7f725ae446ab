"""How often each user may do what: sliding windows, kept by each process for itself.

Quotas are limits as well. The package `limits` parses the notation of `rate_limits`; it does not
count, because its store in memory starts a thread and cannot check several windows at once.
"""

import math
import time
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import fields
from typing import Literal

from chat_aio.errors import RateLimited, SetupError
from chat_aio.options import Quotas

HOUR, MINUTE = 3_600, 60
SWEEP_SECONDS = 60.0

ANY = "*"
"""Stands for every method that is not named."""

Kind = Literal[
    "conversations",
    "invites",
    "reports",
    "blocks",
    "people",
    "messages",
    "reactions",
    "requests",
]
"""What quotas count; `requests` are all together."""

Limit = tuple[int, int]
"""(calls, seconds): at most so many calls in any window of so many seconds."""


class RateLimits:
    """Limits by name, each counted for one user; a name may have several, which all apply."""

    def __init__(
        self,
        limits: Mapping[str, Sequence[Limit]],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._limits = limits
        self._clock = clock
        self._calls: dict[tuple[Limit, str, str], deque[float]] = {}
        self._swept = clock()

    def __len__(self) -> int:
        """How many combinations of limit, user and name are kept."""
        return len(self._calls)

    def count(self, user_id: str, name: str, amount: int = 1) -> None:
        """Count so many calls. If a limit is exceeded, count nothing and raise RateLimited with the
        seconds until all windows have room for them."""
        now, wait = self._clock(), 0.0
        if now - self._swept >= SWEEP_SECONDS:
            self._sweep(now)
        windows = []
        for most, seconds in self._limits.get(name) or self._limits.get(ANY, ()):
            calls = self._calls.setdefault(((most, seconds), user_id, name), deque())
            while calls and calls[0] <= now - seconds:
                calls.popleft()
            if amount > most:  # It never has room.
                wait = max(wait, seconds)
            elif (surplus := len(calls) + amount - most) > 0:
                wait = max(wait, calls[surplus - 1] + seconds - now)
            windows.append(calls)
        if wait:
            raise RateLimited(retry_after=max(1, math.ceil(wait)))
        for calls in windows:
            calls.extend([now] * amount)

    def give_back(self, user_id: str, name: str, amount: int = 1) -> None:
        """Take back the last calls, which failed through no fault of the user."""
        for limit in self._limits.get(name) or self._limits.get(ANY, ()):
            calls = self._calls.get((limit, user_id, name), ())
            for _ in range(min(amount, len(calls))):
                calls and calls.pop()

    def _sweep(self, now: float) -> None:
        """Forget users without a call in the window, to bound the memory."""
        self._swept = now
        for key, calls in [*self._calls.items()]:
            if not calls or calls[-1] <= now - key[0][1]:
                del self._calls[key]


def rate_limits_from(
    written: Mapping[str, str], *, methods: Collection[str]
) -> dict[str, Sequence[Limit]]:
    """Limits such as `{"send_message": "5/second;100/minute", "*": "20/second"}`. Raises ValueError
    for an unknown method and a limit that cannot be read; SetupError without the package `limits`.
    """
    if unknown := next((each for each in written if each not in (ANY, *methods)), None):
        raise ValueError(f"Options(rate_limits=...): there is no method {unknown!r}")
    return {name: _limits_from(text) for name, text in written.items()}


def _limits_from(text: str) -> Sequence[Limit]:
    try:
        from limits import parse_many
    except ImportError:
        raise SetupError("rate_limits needs a package: pip install chat-aio[limits]") from None
    return list(dict.fromkeys((each.amount, each.get_expiry()) for each in parse_many(text)))


def limits_of(quotas: Quotas) -> dict[str, Sequence[Limit]]:
    """Quotas as limits, by kind."""
    found: dict[str, Sequence[Limit]] = {}
    for each in fields(quotas):
        kind, _, per = each.name.partition("_per_")
        if (most := getattr(quotas, each.name)) is not None:
            found[kind] = [(most, HOUR if per == "hour" else MINUTE)]
    return found
