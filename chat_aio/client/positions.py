"""Where a bot stores its position, to resume from it after a restart."""

import asyncio
import os
from pathlib import Path
from typing import Protocol


class Positions(Protocol):
    """A place for one position."""

    async def load(self) -> str | None:
        """The stored position; None before the first one."""

    async def save(self, position: str) -> None:
        """Store a position in place of the last one, as a whole or not at all."""


class FilePositions:
    """A position in a file. A crash leaves the old position or the new one."""

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)

    async def load(self) -> str | None:
        return await asyncio.to_thread(
            lambda: self._path.read_text() or None if self._path.exists() else None
        )

    async def save(self, position: str) -> None:
        def write() -> None:
            written = self._path.with_name(f"{self._path.name}.new")
            with written.open("w") as file:
                file.write(position)
                file.flush()
                # Before the rename, which could else reach the disk first.
                os.fsync(file.fileno())
            written.replace(self._path)

        # In a thread: it waits for the disk.
        await asyncio.to_thread(write)
