"""How often each user may do what: limits that a host sets, kept by each process for itself."""

import math
import time
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from chat_aio.errors import RateLimited, SetupError

if TYPE_CHECKING:
    from limits import RateLimitItem

ANY = "*"
"""Stands for each method that is not named."""


class Rates:
    """Limits such as `{"send_message": "5/second;100/minute", "*": "20/second"}`, each counted for
    one user and method. Raises ValueError for a method that there is not, or a limit that cannot
    be read; SetupError without the package `limits`."""

    def __init__(self, written: Mapping[str, str], *, methods: Collection[str]) -> None:
        self._limits: dict[str, Sequence[RateLimitItem]] = {}
        if not written:
            return
        try:
            from limits import parse_many
            from limits.storage import MemoryStorage
            from limits.strategies import MovingWindowRateLimiter
        except ImportError:
            raise SetupError("rate_limits needs a package: pip install chat-aio[limits]") from None
        if unknown := next((each for each in written if each not in (ANY, *methods)), None):
            raise ValueError(f"Options(rate_limits=...): there is no method {unknown!r}")
        self._limits = {name: parse_many(text) for name, text in written.items()}
        self._limiter = MovingWindowRateLimiter(MemoryStorage())

    def count(self, user_id: str, method: str) -> None:
        """Count one call. Raises RateLimited, with the seconds until the next may be made; what is
        refused is not counted."""
        limits = self._limits.get(method) or self._limits.get(ANY, ())
        key = user_id, method
        for each in limits:
            if not self._limiter.test(each, *key):
                again = self._limiter.get_window_stats(each, *key).reset_time
                raise RateLimited(retry_after=max(1, math.ceil(again - time.time())))
        for each in limits:
            self._limiter.hit(each, *key)
