"""A lease with the position of its holder in a change stream.

One process at a time reads and delivers. The position is in the document of the lease, so a process
that has lost the lease without noticing moves nothing.
"""

from datetime import datetime

from chat_aio.actions.plugin_api import Lease, LeaseLost, PluginAPI, Position

__all__ = ["LeaseLost", "PositionLease"]


class PositionLease(Lease):
    """The lease, with the position of its holder."""

    @classmethod
    def of(cls, api: PluginAPI, name: str, *, seconds: float) -> "PositionLease":
        return api.lease(cls, name, seconds=seconds)

    async def position(self) -> Position | None:
        """How far the changes are read; None before the first time."""
        found = await self.load()
        at = (found or {}).get("at")
        if found is None or not isinstance(at, datetime):
            return None
        return Position(found.get("token"), at, found.get("pipeline"))

    async def move(self, position: Position) -> None:
        """Store how far the changes are read. Raises LeaseLost."""
        await self.store(
            {"token": position.token, "at": position.at, "pipeline": position.pipeline}
        )
