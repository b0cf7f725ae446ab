"""Scenarios that a guard must hold: run with the guard, then without it, where they must fail."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest

from chat_aio.store.sequencer import Sequencer

Scenario = Callable[[], Awaitable[None]]


async def prove(scenario: Scenario, *, sabotage: AbstractContextManager[Any]) -> None:
    """The scenario holds; with the guard sabotaged the same scenario must turn red."""
    await scenario()
    with sabotage, pytest.raises(AssertionError):
        await scenario()


_append = Sequencer.append


async def append_without_fence(
    self: Sequencer,
    message: Any,
    *,
    epoch: int,
    still_allowed: object = None,
    slow_seconds: int = 0,
) -> Any:
    """The epoch guard removed: whatever the snapshot said, the epoch of now is used."""
    head = await self._database.counters.find_one({"_id": message["conversationId"]})
    return await _append(self, message, epoch=head["epoch"], slow_seconds=slow_seconds)
