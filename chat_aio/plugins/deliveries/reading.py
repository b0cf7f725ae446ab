"""Reads changes from the stored position of a lease on, so that none is missed."""

import logging
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Generic, TypeVar

from chat_aio.actions.plugin_api import Followed, Position, PositionLost
from chat_aio.plugins.deliveries.lease import PositionLease

log = logging.getLogger(__name__)

MOVE_SECONDS = 10.0
"""How often the position is stored while nothing changes: its token must stay in the oplog."""

T = TypeVar("T")


class Reader(ABC, Generic[T]):
    """Notes changes, and then moves the position."""

    def __init__(self, lease: PositionLease) -> None:
        self._lease = lease

    @abstractmethod
    async def follow(self, after: Position | None) -> Followed[T]:
        """Follow the changes after a position, or from now on. Raises PositionLost."""

    @abstractmethod
    async def note(self, found: Sequence[T]) -> None:
        """Store changes. They may be read and noted again."""

    @abstractmethod
    async def read_lost(self, position: Position) -> None:
        """Note what storage still has of the changes after a position that was lost. Changes since
        this was called are read from the stream as well."""

    def gap_found(self) -> None:
        """The position was lost."""

    def moved(self, position: Position) -> None:
        """All changes up to a position are noted."""

    async def read(self) -> None:
        """Note changes, from the stored position on, until something fails."""
        followed = await self._open()
        moved = 0.0
        try:
            while True:
                self._lease.require()
                found = await followed.next()
                if found:
                    await self.note(found)
                self.moved(followed.position)
                # Only now: if this process ends in between, they are read again.
                if found or time.monotonic() - moved > MOVE_SECONDS:
                    await self._lease.move(followed.position)
                    moved = time.monotonic()
        finally:
            followed.close()

    async def _open(self) -> Followed[T]:
        """The changes after the stored position. If that is lost, storage is read, after the change
        stream was opened: changes in between are in both."""
        position = await self._lease.position()
        if position is None or position.token is not None:
            try:
                followed = await self.follow(position)
            except PositionLost as error:
                log.error("the position of %s was lost: %s", self._lease.name, error)
                self.gap_found()
            else:
                if position is None:
                    await self._lease.move(followed.position)
                return followed
        followed = await self.follow(None)
        try:
            if position is not None:
                await self.read_lost(position)
            await self._lease.move(followed.position)
        except BaseException:
            followed.close()
            raise
        return followed
