"""Metrics of several processes together: a folder that the supervisor gives to its workers."""

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager

FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""What prometheus-client looks for, when it is first imported."""

Forget = Callable[[int], object]
"""Called with the id of a process that is gone: it has no streams, nor anything else, any more."""


@contextmanager
def shared_metrics() -> Iterator[Forget]:
    """Until the end, processes that are started from here count together, if they count at all.

    A folder that the environment names is used as it is; otherwise one is made, and removed again.
    """
    try:
        from prometheus_client.multiprocess import mark_process_dead
    except ImportError:
        yield lambda _: None
        return
    with _folder() as folder:
        yield lambda pid: mark_process_dead(pid, folder)  # type: ignore[no-untyped-call]


@contextmanager
def _folder() -> Iterator[str]:
    if given := os.environ.get(FOLDER):
        yield given
        return
    with tempfile.TemporaryDirectory(prefix="chat-aio-metrics-") as made:
        os.environ[FOLDER] = made
        try:
            yield made
        finally:
            del os.environ[FOLDER]
