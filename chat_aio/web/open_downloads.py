"""The downloads that are open in this process: how many each user has, and what they hold."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from chat_aio.errors import RateLimited

AT_ONCE = 64 * 1024
"""The bytes that are written at once. A file of no more bytes is never held for a slow client."""

MOST_HELD = 1024 * 1024
"""The largest part of a file that a store reads at once."""


class OpenDownloads:
    """Admits at most `per_user` downloads of each user; all of them hold at most `buffer_bytes`."""

    def __init__(self, *, per_user: int, buffer_bytes: int) -> None:
        self._per_user = per_user
        self._buffer_bytes = buffer_bytes
        self._open: Counter[str] = Counter()
        self._held = 0

    @contextmanager
    def admitted(self, user_id: str, size: int) -> Iterator[None]:
        """Count a download from a file of `size` bytes until it ends, however short its range is: a
        store reads whole parts. Raises RateLimited for one too many."""
        if size <= AT_ONCE:
            yield
            return
        held = min(size, MOST_HELD)
        if self._open[user_id] >= self._per_user:
            raise RateLimited("You have too many open downloads.")
        if self._held + held > self._buffer_bytes:
            raise RateLimited("Too many downloads are open at the moment.")
        self._open[user_id] += 1
        self._held += held
        try:
            yield
        finally:
            self._held -= held
            self._open[user_id] -= 1
            if not self._open[user_id]:
                del self._open[user_id]
