"""Whether the machine was undisturbed: the CPU used by processes that are not the benchmark's."""

import os
import resource
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.processes import cpu_seconds


class Neighbours:
    """All other processes of the machine, from now on; `pids` are our lasting children."""

    def __init__(self, pids: Sequence[int]) -> None:
        self._pids = pids
        self._began = time.monotonic()
        self._before = self._foreign_seconds()

    def share(self) -> float:
        """Other processes' part of all cores' time; children count once they have ended."""
        available = (time.monotonic() - self._began) * (os.cpu_count() or 1)
        return max(0.0, self._foreign_seconds() - self._before) / available

    def _foreign_seconds(self) -> float:
        usages = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        ours = sum(usage.ru_utime + usage.ru_stime for usage in usages)
        return _busy_seconds() - ours - cpu_seconds(self._pids)


def _busy_seconds() -> float:
    user, nice, system, _, _, irq, softirq, steal, *_ = map(
        int, Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    )
    return sum((user, nice, system, irq, softirq, steal)) / os.sysconf("SC_CLK_TCK")
