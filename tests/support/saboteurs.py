"""Scenarios that a guard must hold: run with the guard, then without it, where they must fail."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest

Scenario = Callable[[], Awaitable[None]]


async def prove(scenario: Scenario, *, sabotage: AbstractContextManager[Any]) -> None:
    """The scenario holds; with the guard sabotaged the same scenario must turn red."""
    await scenario()
    with sabotage, pytest.raises(AssertionError):
        await scenario()
