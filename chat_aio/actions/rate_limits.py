"""Rate limits of users' calls: sliding windows, kept by each process separately.

Quotas are limits as well. The package `limits` parses the notation of `rate_limits`; it does not
count, because its store in memory starts a thread and cannot check several windows at once.
"""

import math
import time
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, fields
from typing import Literal

from chat_aio import hooks
from chat_aio.errors import ChatError, RateLimited, SetupError, StorageUnavailable
from chat_aio.hooks import EXEMPT, RateContext, RateRule
from chat_aio.options import Quotas

HOUR, MINUTE = 3_600, 60
SWEEP_SECONDS = 60.0

ANY = "*"
"""The key for every method that has no own limit."""

Kind = Literal[
    "conversations",
    "invites",
    "reports",
    "blocks",
    "people",
    "messages",
    "reactions",
    "user_lookups",
    "requests",
]
"""The kinds of calls that quotas count; `requests` counts all of them together."""

Limit = tuple[int, int]
"""(calls, seconds): the maximum number of calls in any window of this length."""


class Limits:
    """Limits by name, counted per user; a name may have several, which all apply."""

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
        """Count `amount` calls. If a limit is exceeded, count nothing and raise RateLimited with
        the seconds until all windows have room for them."""
        limits = self._limits.get(name) or self._limits.get(ANY, ())
        if not limits:
            return
        now, wait = self._clock(), 0.0
        if now - self._swept >= SWEEP_SECONDS:
            # Forget users without a call in the window, to bound the memory.
            self._swept = now
            for key, calls in [*self._calls.items()]:
                if not calls or calls[-1] <= now - key[0][1]:
                    del self._calls[key]
        windows = []
        for most, seconds in limits:
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
        # Only now: a refused call must not use up the windows that had room for it.
        for calls in windows:
            calls.extend([now] * amount)

    def give_back(self, user_id: str, name: str, amount: int = 1) -> None:
        """Undo the count of the last calls, which failed through no fault of the user."""
        for limit in self._limits.get(name) or self._limits.get(ANY, ()):
            calls = self._calls.get((limit, user_id, name), ())
            for _ in range(min(amount, len(calls))):
                calls and calls.pop()


class RateLimits:
    """The rate limits of one chat: the host's `rate_limit` decides, or if it returns None the
    limits of Options (specification 1.8). `patience` is the hook's timeout in seconds."""

    def __init__(self, limits: Limits, *, hook: RateRule | None, patience: float) -> None:
        self._limits = limits
        self._hook = hook
        self._patience = patience

    async def count(self, user_id: str, method: str) -> bool:
        """Count one call. Returns False if the host has decided, so that nothing was counted.
        Raises RateLimited if the user calls this method too often."""
        if self._hook is not None:
            asked = RateContext(user_id=user_id, method=method)
            wait = await hooks.call(self._hook, asked, limit=self._patience)
            if wait is not None:
                if wait is not EXEMPT and wait > 0:
                    raise RateLimited(retry_after=math.ceil(wait))
                return False
        self._limits.count(user_id, method)
        return True

    async def is_exempt(self, user_id: str, kind: Kind) -> bool:
        """Whether the host exempts a user from a quota that is used up."""
        if self._hook is None:
            return False
        asked = RateContext(user_id=user_id, method=kind)
        return await hooks.call(self._hook, asked, limit=self._patience) is EXEMPT

    def counting(self, user_id: str, method: str | None) -> AbstractAsyncContextManager[None]:
        """Count one call, and undo that if the database is out of reach. Raises RateLimited.
        `method` is None for an action that counts itself."""
        return _Counting(self, user_id, method)

    def counting_refusals(self, user_id: str, method: str) -> AbstractAsyncContextManager[None]:
        """Count a call that is refused with 400, 403 or 404 before it reaches `counting`."""
        return _CountingRefusals(self, user_id, method)

    def give_back(self, user_id: str, method: str) -> None:
        """Undo the count of the last call."""
        self._limits.give_back(user_id, method)


# Classes: the context manager of a generator would take as long as counting itself.
@dataclass(slots=True)
class _Counting(AbstractAsyncContextManager[None]):
    limits: RateLimits
    user_id: str
    method: str | None
    counted: bool = False

    async def __aenter__(self) -> None:
        if self.method is not None:
            self.counted = await self.limits.count(self.user_id, self.method)

    async def __aexit__(self, _: object, error: BaseException | None, __: object) -> None:
        if self.counted and self.method is not None and isinstance(error, StorageUnavailable):
            self.limits.give_back(self.user_id, self.method)


@dataclass(slots=True)
class _CountingRefusals(AbstractAsyncContextManager[None]):
    limits: RateLimits
    user_id: str
    method: str

    async def __aenter__(self) -> None:
        pass

    async def __aexit__(self, _: object, error: BaseException | None, __: object) -> None:
        if isinstance(error, ChatError) and error.status in (400, 403, 404):
            await self.limits.count(self.user_id, self.method)


def rate_limits_from(
    written: Mapping[str, str], *, methods: Collection[str]
) -> dict[str, Sequence[Limit]]:
    """Limits such as `{"send_message": "5/second;100/minute", "*": "20/second"}`. Raises ValueError
    for an unknown method or invalid notation; SetupError without the package `limits`.
    """
    if unknown := next((method for method in written if method not in (ANY, *methods)), None):
        raise ValueError(f"Options(rate_limits=...): there is no method {unknown!r}")
    if not written:
        return {}  # Most installations: they need no package for it.
    try:
        from limits import parse_many
    except ImportError:
        missing = "rate_limits needs the extra limits (docs/start/installation.md)"
        raise SetupError(missing) from None
    return {
        # Each once: a limit that is written twice would count each call twice.
        name: list(dict.fromkeys((most.amount, most.get_expiry()) for most in parse_many(text)))
        for name, text in written.items()
    }


def limits_of(quotas: Quotas) -> dict[str, Sequence[Limit]]:
    """Quotas as limits, by kind."""
    found: dict[str, Sequence[Limit]] = {}
    for field in fields(quotas):
        kind, _, per = field.name.partition("_per_")
        if (most := getattr(quotas, field.name)) is not None:
            found[kind] = [(most, HOUR if per == "hour" else MINUTE)]
    return found
