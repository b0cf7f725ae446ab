"""Processes that make thumbnails, kept for the next demo: one takes long to start."""

from asyncio.subprocess import Process
from collections import defaultdict

import pytest

from chat_aio.plugins.attachments.thumbnails import Thumbnails


class Drawers:
    def __init__(self) -> None:
        self._idle: dict[tuple[str, ...], list[Process]] = defaultdict(list)

    def work_for_all(self, patch: pytest.MonkeyPatch) -> None:
        """While it is patched, a closed demo leaves its process to a later one."""
        begin, close = Thumbnails.__init__, Thumbnails.close

        def take(made: Thumbnails, *, side: int, most_pixels: int) -> None:
            begin(made, side=side, most_pixels=most_pixels)
            idle = self._idle[made._arguments]
            # It may have one already, where both a demo and a host are served.
            if made._process is None and idle:
                made._process = idle.pop()

        async def leave(made: Thumbnails) -> None:
            if made._process is not None and not made._turn.locked():
                self._idle[made._arguments].append(made._process)
                made._process = None
            await close(made)

        patch.setattr(Thumbnails, "__init__", take)
        patch.setattr(Thumbnails, "close", leave)

    async def end(self) -> None:
        for process in (process for idle in self._idle.values() for process in idle):
            if process.returncode is None:
                process.kill()
            await process.communicate()
