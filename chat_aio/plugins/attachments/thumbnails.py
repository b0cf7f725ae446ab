"""Thumbnails of images, made by a separate process (thumbnailer.py).

Not by `ProcessPoolExecutor`: its processes would import the host's main module, and one that hangs
cannot be ended by any public means.
"""

import asyncio
import json
import logging
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from weakref import WeakValueDictionary

log = logging.getLogger(__name__)

KINDS = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
MOST_BYTES = 32 * 1024 * 1024
"""Of a larger image there is no thumbnail: the process reads it as a whole."""

MOST_WAITING = 8
MOST_OF_A_USER = 2
"""One user's images leave room for those of others; more of them wait for these."""

SECONDS = 10.0
PROGRAM = Path(__file__).with_name("thumbnailer.py")


@dataclass(frozen=True, slots=True)
class Drawn:
    """The data of an image: its size, and its thumbnail in WebP, if there is one."""

    width: int | None = None
    height: int | None = None
    thumbnail: bytes = b""


class Thumbnails:
    """Makes thumbnails of at most `side` pixels, of images of at most `most_pixels`, one at a time.

    One that takes too long, or needs too much memory, costs its process, and there is no thumbnail;
    a new process starts for the next one.
    """

    def __init__(self, *, side: int, most_pixels: int) -> None:
        self._arguments = (str(most_pixels), str(side))
        self._turn = asyncio.Lock()
        self._turns_of_users = WeakValueDictionary[str, asyncio.Semaphore]()
        self._waiting = 0
        self._process: asyncio.subprocess.Process | None = None
        self._closed = False
        self.is_possible = find_spec("PIL") is not None

    async def draw(self, user_id: str, kind: str, size: int, chunks: AsyncIterator[bytes]) -> Drawn:
        """The thumbnail of a user's image. Other files have none, and neither has an image if too
        many wait."""
        fits = kind in KINDS and size <= MOST_BYTES
        if self._closed or not (self.is_possible and fits):
            return Drawn()
        turns = self._turns_of_users.get(user_id) or asyncio.Semaphore(MOST_OF_A_USER)
        self._turns_of_users[user_id] = turns  # Kept as long as any image waits for it.
        try:
            async with asyncio.timeout(SECONDS), turns:
                if self._waiting >= MOST_WAITING:
                    return Drawn()
                self._waiting += 1
                try:
                    async with self._turn:
                        return await self._draw(size, chunks)
                finally:
                    self._waiting -= 1
        except TimeoutError:
            log.warning("no thumbnail of an image of %d bytes within %.0f seconds", size, SECONDS)
            return Drawn()

    async def close(self) -> None:
        """End the process, and with it the running thumbnail."""
        self._closed = True
        if self._process is not None:
            with suppress(ProcessLookupError):
                self._process.kill()
        # After `kill`: the running one fails at once, and lets this one in.
        async with self._turn:
            await self._end()

    async def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        with suppress(ProcessLookupError):
            process.kill()
        # Also closes the pipes, or their transports would outlive the loop.
        await process.communicate()

    async def _draw(self, size: int, chunks: AsyncIterator[bytes]) -> Drawn:
        if self._closed:
            return Drawn()
        try:
            if self._process is None or self._process.returncode is not None:
                await self._end()
                self._process = await asyncio.create_subprocess_exec(
                    # Without the script's folder, whose modules would hide those of the library.
                    sys.executable,
                    "-P",
                    str(PROGRAM),
                    *self._arguments,
                    stdin=asyncio.subprocess.PIPE,
                    stdout=asyncio.subprocess.PIPE,
                    stderr=asyncio.subprocess.DEVNULL,
                )
            to, back = self._process.stdin, self._process.stdout
            assert to is not None
            assert back is not None
            to.write(size.to_bytes(8, "big"))
            async for chunk in chunks:
                to.write(chunk)
                await to.drain()
            found = json.loads(await back.readline())
            made = await back.readexactly(found["length"])
        except (OSError, EOFError, ValueError):
            log.warning("the process that makes thumbnails has died of an image")
            await self._end()
            return Drawn()
        except BaseException:  # It was cut short: its answer would be that of another image.
            await self._end()
            raise
        return Drawn(found.get("width"), found.get("height"), made)
