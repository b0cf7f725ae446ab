"""The lease: one process at a time decides and delivers notifications.

Every holder has a higher fence than the one before. A write of the position names the fence, so a
process that has lost the lease without noticing can move nothing.
"""

import time
from datetime import datetime
from typing import Any

from chat_aio.actions.plugin_api import PluginAPI, Position

NAME = "notifications"


class LeaseLost(Exception):
    """Another process has the lease, or it was not renewed in time."""


class Lease:
    """One process's view of the lease, which lasts `seconds` by the database's clock."""

    def __init__(self, api: PluginAPI, *, seconds: float) -> None:
        self._api = api
        self.seconds = seconds
        self.holder = api.new_id()
        self.fence = 0
        self._until = 0.0
        self._exists = False

    @property
    def _rows(self) -> Any:
        return self._api.collection("settings")

    @property
    def is_held(self) -> bool:
        """Whether this process has the lease, by its own clock, which is earlier."""
        return time.monotonic() < self._until

    def require(self) -> None:
        """Raise LeaseLost unless the lease is held."""
        if not self.is_held:
            raise LeaseLost

    async def take(self) -> bool:
        """Take the lease if nobody has it."""
        if not self._exists:
            first = {"$setOnInsert": {"fence": 0}}
            await self._api.write(lambda: self._rows.update_one({"_id": NAME}, first, upsert=True))
            self._exists = True
        began = time.monotonic()
        over = {"$expr": {"$lte": [{"$ifNull": ["$until", "$$NOW"]}, "$$NOW"]}}
        raised = {"$add": [{"$ifNull": ["$fence", 0]}, 1]}
        found = await self._api.write(
            lambda: self._rows.find_one_and_update(
                {"_id": NAME, **over},
                [{"$set": {"holder": self.holder, "until": self._later, "fence": raised}}],
                return_document=True,
            )
        )
        if found is None:
            return False
        self.fence, self._until = found["fence"], began + self.seconds
        return True

    async def renew(self) -> None:
        """Hold the lease for longer. Raises LeaseLost."""
        began = time.monotonic()
        renewed = await self._api.write(
            lambda: self._rows.update_one(self._mine, [{"$set": {"until": self._later}}])
        )
        if not renewed.matched_count:
            raise self._lost()
        self._until = began + self.seconds

    async def release(self) -> None:
        """Give the lease to whoever asks next."""
        self._until = 0.0
        await self._api.write(
            lambda: self._rows.update_one(self._mine, [{"$set": {"until": "$$NOW"}}])
        )

    async def position(self) -> Position | None:
        """How far the created messages are read; None before the first time."""
        found = await self._api.read(lambda: self._rows.find_one({"_id": NAME}))
        at = (found or {}).get("at")
        if found is None or not isinstance(at, datetime):
            return None
        return Position(found.get("token"), at, found.get("pipeline"))

    async def move(self, position: Position) -> None:
        """Store how far the created messages are read. Raises LeaseLost."""
        moved = {"token": position.token, "at": position.at, "pipeline": position.pipeline}
        written = await self._api.write(lambda: self._rows.update_one(self._mine, {"$set": moved}))
        if not written.matched_count:
            raise self._lost()

    @property
    def _mine(self) -> dict[str, Any]:
        return {"_id": NAME, "fence": self.fence}

    @property
    def _later(self) -> dict[str, Any]:
        return {"$add": ["$$NOW", int(self.seconds * 1000)]}

    def _lost(self) -> LeaseLost:
        self._until = 0.0
        return LeaseLost()
