"""The lease of notifications, and how far their holder has read the created messages.

One process at a time decides and delivers notifications. The position is in the document of the
lease, so a process that has lost the lease without noticing moves nothing.
"""

from datetime import datetime

from chat_aio.actions.plugin_api import Lease, LeaseLost, PluginAPI, Position

__all__ = ["NAME", "LeaseLost", "NotificationLease"]

NAME = "notifications"


class NotificationLease(Lease):
    """The lease, with the position of its holder."""

    @classmethod
    def of(cls, api: PluginAPI, *, seconds: float) -> "NotificationLease":
        return api.lease(cls, NAME, seconds=seconds)

    async def position(self) -> Position | None:
        """How far the created messages are read; None before the first time."""
        found = await self.load()
        at = (found or {}).get("at")
        if found is None or not isinstance(at, datetime):
            return None
        return Position(found.get("token"), at, found.get("pipeline"))

    async def move(self, position: Position) -> None:
        """Store how far the created messages are read. Raises LeaseLost."""
        await self.store(
            {"token": position.token, "at": position.at, "pipeline": position.pipeline}
        )
