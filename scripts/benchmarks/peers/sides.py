"""Two servers that are compared: alternating rounds of the same work, while the other one rests."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from statistics import median

from benchmarks.processes import resting
from benchmarks.stage import Service
from benchmarks.table import Figures, at_least, micros, times

REST_SECONDS = 0.6
AHEAD = at_least("÷ ours", 1)
"""Above 1 the chat takes less than the peer."""


@dataclass(frozen=True, slots=True)
class Side:
    """`run` measures a round on `service`."""

    service: Service
    run: Callable[[], Awaitable[object]]


async def alternate(rounds: int, ours: Side, theirs: Side) -> None:
    """Alternating rounds of both; the other one is stopped during a round.

    Before a round, MongoDB ends pending calls of the resting side, such as a read of the change
    stream, which writes of the other side would wake up.
    """
    for number in range(rounds):
        for side, other in ((theirs, ours), (ours, theirs))[:: -1 if number % 2 else 1]:
            with resting([other.service.pid]):
                await asyncio.sleep(REST_SECONDS)
                await side.run()


def compared(ours: Sequence[float], theirs: Sequence[float]) -> Figures:
    """The CPU of both, and the median of the ratios of rounds that ran side by side."""
    return {
        "ours": micros(median(ours)),
        "theirs": micros(median(theirs)),
        "÷ ours": times(median(b / a for a, b in zip(ours, theirs, strict=True))),
    }
