"""Somebody who is told, and the wait until nothing more will come."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from chat_aio.plugins import Notification, Notifications
from chat_aio.plugins.deliveries.worker import Worker
from tests.conftest import Database

QUICK: dict[str, Any] = {"delay_seconds": 0.05, "lease_seconds": 3.0, "retry_backoff_seconds": 0.05}
PATIENCE = 30.0


class Told:
    """A `deliver` that keeps its notifications, and fails as often as `failures` has it, after
    `failed` was called."""

    def __init__(self) -> None:
        self.all: list[Notification] = []
        self.failures: dict[str, int] = {}
        self.failed: Callable[[], Awaitable[None]] | None = None

    async def __call__(self, notification: Notification) -> None:
        if self.failures.get(notification.user_id, 0) > 0:
            self.failures[notification.user_id] -= 1
            if self.failed is not None:
                await self.failed()
            raise ConnectionError("no way out")
        self.all.append(notification)

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Who was told what, in alphabetical order."""
        return sorted(
            (notification.user_id, notification.message.body) for notification in self.all
        )

    def of(self, user_id: str) -> list[str]:
        return [
            notification.message.body
            for notification in self.all
            if notification.user_id == user_id
        ]


def quick(told: Any = None, **given: Any) -> Notifications:
    return Notifications(told, **{**QUICK, **given})


def worker_of(plugin: Any) -> Worker[Any]:
    callbacks = [exit_callback[1] for exit_callback in plugin._opened._exit_callbacks]
    found = [
        getattr(getattr(callback, "__wrapped__", callback), "__self__", None)
        for callback in callbacks
    ]
    (worker,) = [candidate for candidate in found if isinstance(candidate, Worker)]
    return worker


async def eventually(is_so: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not await is_so():  # noqa: ASYNC110
            await asyncio.sleep(0.02)


async def all_told(database: Database, messages: int) -> None:
    """Wait until so many messages are decided, and nothing waits any more."""
    decided, told = database["notification_messages"], database["notifications"]

    async def is_over() -> bool:
        if await decided.count_documents({"state": "decided"}) < messages:
            return False
        return not await told.count_documents({"state": "waiting"})

    await eventually(is_over)


async def ready(database: Database) -> None:
    """Wait until a process holds the lease and follows the created messages."""
    followed = {"_id": "notifications", "token": {"$type": "object"}}

    async def is_followed() -> bool:
        return await database["settings"].find_one(followed) is not None

    await eventually(is_followed)
