"""Leases: of several processes, one at a time does some work.

Every holder has a higher fence than the one before. A write that names the fence in its filter
changes nothing after another process has taken the lease, even if this one has not noticed.
"""

import re
import time
from collections.abc import Mapping
from typing import Any

from chat_aio.store.database import Database


class LeaseLost(Exception):
    """Another process has the lease, or it was not renewed in time, or the chat closes."""


class Lease:
    """One process's view of the lease `name`, which lasts `seconds` by the database's clock. Its
    document is in `settings`."""

    def __init__(self, database: Database, name: str, *, holder: str, seconds: float) -> None:
        self._database = database
        self.name = name
        self.seconds = seconds
        self.holder = holder
        self.fence = 0
        self._until = 0.0
        # By the database's clock: those of two processes may differ by more than the lease.
        self._later = {"$add": ["$$NOW", int(seconds * 1000)]}
        self._exists = False

    @property
    def seconds_left(self) -> float:
        """How long this process still has the lease, by its own clock, which is earlier."""
        return self._until - time.monotonic()

    @property
    def is_held(self) -> bool:
        """Whether this process has the lease, by its own clock, which is earlier."""
        return self.seconds_left > 0

    def require(self) -> None:
        """Raise LeaseLost unless the lease is held."""
        if not self.is_held:
            raise LeaseLost

    async def take(self) -> bool:
        """Take the lease if nobody has it. Raises StorageUnavailable."""
        settings, this = self._database.settings, {"_id": self.name}
        # Once per process: the update below must find a document, or two could be made.
        if not self._exists:
            first = {"$setOnInsert": {"fence": 0}}
            await self._database.write(lambda: settings.update_one(this, first, upsert=True))
            self._exists = True
        # Before the call, so that the lease ends earlier by this clock than in the database.
        began = time.monotonic()
        over = {"$expr": {"$lte": [{"$ifNull": ["$until", "$$NOW"]}, "$$NOW"]}}
        raised = {"$add": [{"$ifNull": ["$fence", 0]}, 1]}
        found = await self._database.write(
            lambda: settings.find_one_and_update(
                {**this, **over},
                [{"$set": {"holder": self.holder, "until": self._later, "fence": raised}}],
                return_document=True,
            )
        )
        if found is None:
            return False
        self.fence, self._until = found["fence"], began + self.seconds
        return True

    async def renew(self) -> None:
        """Hold the lease for longer. Raises LeaseLost and StorageUnavailable."""
        began = time.monotonic()
        await self._write([{"$set": {"until": self._later}}])
        self._until = began + self.seconds

    async def release(self) -> None:
        """Give the lease to the next caller. Raises StorageUnavailable."""
        self._until = 0.0
        settings, now = self._database.settings, [{"$set": {"until": "$$NOW"}}]
        await self._database.write(lambda: settings.update_one(self._mine, now))

    async def load(self) -> Mapping[str, Any] | None:
        """The document of the lease, with the fields that its holders have stored."""
        settings = self._database.settings
        found: dict[str, Any] | None = await self._database.read(
            lambda: settings.find_one({"_id": self.name})
        )
        return found

    async def store(self, fields: Mapping[str, Any]) -> None:
        """Store fields in the document of the lease. Raises LeaseLost and StorageUnavailable."""
        await self._write({"$set": fields})

    async def _write(self, update: Any) -> None:
        settings = self._database.settings
        written = await self._database.write(lambda: settings.update_one(self._mine, update))
        # The fence is in the filter: another process has the lease, so nothing was written.
        if not written.matched_count:
            self._until = 0.0
            raise LeaseLost

    @property
    def _mine(self) -> dict[str, Any]:
        return {"_id": self.name, "fence": self.fence}


async def load_leases(database: Database, beginning: str) -> dict[str, Mapping[str, Any]]:
    """The documents of the leases whose names begin like this, by name."""
    # A pattern with a fixed beginning is a range of the index.
    chosen = {"_id": {"$regex": f"^{re.escape(beginning)}"}}
    found = await database.read(lambda: database.settings.find(chosen).to_list(None))
    return {lease["_id"]: lease for lease in found}
