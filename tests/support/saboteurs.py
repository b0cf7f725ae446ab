"""Scenarios that a guard must hold: run with the guard, then without it, where they must fail."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import pytest

Scenario = Callable[[], Awaitable[None]]


async def prove(scenario: Scenario, *, sabotage: AbstractContextManager[Any] | None = None) -> None:
    """The scenario holds; with the guard sabotaged the same scenario must turn red."""
    with nullcontext():
        await scenario()
    assert sabotage is not None
    with sabotage, pytest.raises(AssertionError):
        await scenario()
