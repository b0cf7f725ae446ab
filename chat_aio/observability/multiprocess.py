"""Shared metrics of several processes, in a folder that the supervisor gives to its workers."""

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager

FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""The variable that prometheus-client reads when it is first imported."""

Forget = Callable[[int], object]
"""Called with the id of a process that has ended, to drop its gauges."""


@contextmanager
def shared_metrics() -> Iterator[Forget]:
    """Within this context, processes that are started share their metrics, if they have any.

    A folder named by the environment is used as it is; otherwise one is made and removed again.
    """
    try:
        # Before the variable is set: only the workers are measured, not the supervisor.
        from prometheus_client.multiprocess import mark_process_dead
    except ImportError:
        yield lambda _: None
        return
    with _folder() as folder:
        yield lambda pid: mark_process_dead(pid, folder)  # type: ignore[no-untyped-call]


@contextmanager
def _folder() -> Iterator[str]:
    # The operator's own; it may be shared with other programs, so it is not removed.
    if given := os.environ.get(FOLDER):
        yield given
        return
    with tempfile.TemporaryDirectory(prefix="chat-aio-metrics-") as made:
        os.environ[FOLDER] = made
        try:
            yield made
        finally:
            del os.environ[FOLDER]
