"""Quotas: how much one user may do over HTTP; generous, so that people who chat never notice."""

import math
import time
from collections import deque
from collections.abc import Callable
from dataclasses import fields
from typing import Literal

from chat_aio.errors import RateLimited
from chat_aio.options import Quotas

HOUR, MINUTE = 3_600, 60
SWEEP_SECONDS = 60.0

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
"""What is counted; `requests` counts all of them."""

Calls = deque[float]


class Spending:
    """What users have spent of their quotas in this process: a sliding window of call times."""

    def __init__(self, quotas: Quotas, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._limits: dict[str, tuple[int, int]] = {}
        for each in fields(quotas):
            kind, _, per = each.name.partition("_per_")
            if (most := getattr(quotas, each.name)) is not None:
                self._limits[kind] = most, HOUR if per == "hour" else MINUTE
        self._clock = clock
        self._spent: dict[tuple[str, str], Calls] = {}
        self._swept = clock()

    def __len__(self) -> int:
        """How many pairs of user and kind are kept."""
        return len(self._spent)

    def spend(self, user_id: str, kind: str, amount: int = 1) -> None:
        """Count `amount`. If that exceeds the quota, count nothing and raise RateLimited with the
        seconds until there is room."""
        limit = self._limits.get(kind)
        if limit is None:
            return
        most, seconds = limit
        now = self._clock()
        if now - self._swept >= SWEEP_SECONDS:
            self._sweep(now)
        calls = self._spent.get((user_id, kind))
        if calls is None:
            calls = self._spent[user_id, kind] = deque()
        while calls and calls[0] <= now - seconds:
            calls.popleft()
        if len(calls) + amount > most:
            raise RateLimited(retry_after=_wait(calls, most - amount, seconds, now))
        calls.extend([now] * amount)

    def give_back(self, user_id: str, kind: str, amount: int = 1) -> None:
        """Take back what was counted for a request that failed through no fault of the user."""
        calls = self._spent.get((user_id, kind))
        for _ in range(min(amount, len(calls or ()))):
            calls and calls.pop()

    def _sweep(self, now: float) -> None:
        """Forget users without a call in the window, to bound the memory."""
        self._swept = now
        for key, calls in [*self._spent.items()]:
            if not calls or calls[-1] <= now - self._limits[key[1]][1]:
                del self._spent[key]


def _wait(calls: Calls, room: int, seconds: int, now: float) -> int:
    """Seconds until at most `room` calls are left in the window; the whole window if room < 0."""
    if room < 0:
        return seconds
    return max(1, math.ceil(calls[len(calls) - room - 1] + seconds - now))
