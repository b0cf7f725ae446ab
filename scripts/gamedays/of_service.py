"""Breakages of a process of the chat: it is killed, or the clock that it uses is wrong."""

import signal
from collections.abc import AsyncIterator

from gamedays.shifted import AHEAD
from gamedays.stage import Plan, Stage
from gamedays.table import breakage

AHEAD_SECONDS = 5


@breakage(
    "killed-process",
    what="one of two processes is killed",
    alert="ChatDown",
    cure="start it again",
    plan=Plan(services=2),
)
async def killed_process(stage: Stage) -> AsyncIterator[None]:
    service = stage.services[-1]
    service.send(signal.SIGKILL)
    yield
    await service.start()


@breakage(
    "clock-off",
    what=f"the clock of the chat is {AHEAD_SECONDS} s ahead (a clock of the game)",
    alert="ChatFeedLags",
    cure="correct the clock",
    plan=Plan(app="gamedays.shifted:make_app"),
)
async def clock_off(stage: Stage) -> AsyncIterator[None]:
    """The chat uses the primary's clock, which cannot be changed for mongod alone. So the process
    has an app whose chat uses a clock that the game changes."""
    file = stage.folder / AHEAD
    file.write_text(str(AHEAD_SECONDS))
    yield
    file.unlink()
