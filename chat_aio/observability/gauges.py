"""The gauges of `metrics`: the state of all chats of a process, read at each scrape."""

import asyncio
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from prometheus_client import CollectorRegistry, Gauge
from prometheus_client.metrics_core import GaugeMetricFamily
from prometheus_client.registry import Collector

from chat_aio.observability.multiprocess import FOLDER
from chat_aio.observability.observer import State

WRITE_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class _Kind:
    """A field of State as a gauge. Several chats and processes are summed, or with `least` the
    smallest value counts."""

    field: str
    name: str
    text: str
    least: bool = False


KINDS = (
    _Kind("streams", "chat_aio_streams", "Open streams"),
    _Kind("users", "chat_aio_users", "Users with an open stream"),
    _Kind("queue_bytes", "chat_aio_stream_queue_bytes", "Bytes that clients have not taken yet"),
    _Kind("queue_events", "chat_aio_stream_queue_events", "Events held back for streams"),
    _Kind("sends_waiting", "chat_aio_sends_waiting", "Messages that are not decided yet"),
    _Kind("database_calls", "chat_aio_database_calls", "Calls of MongoDB that are under way"),
    _Kind("feed_live", "chat_aio_feed_live", "1 while the feed is live, or else 0", least=True),
    _Kind("replay_buffer_events", "chat_aio_replay_buffer_events", "Events held for replays"),
    _Kind("replay_buffer_bytes", "chat_aio_replay_buffer_bytes", "Bytes held for replays"),
)


def gauges_in(registry: CollectorRegistry) -> "Gauges":
    """The gauges for this process: measured alone, or together with other processes."""
    return SharedGauges(registry) if FOLDER in os.environ else Gauges(registry)


class Gauges(Collector):
    """The gauges of a single process, read when it is scraped."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._chats: list[Callable[[], State]] = []
        self._register(registry)

    def _register(self, registry: CollectorRegistry) -> None:
        registry.register(self)

    def add(self, state: Callable[[], State]) -> None:
        # A function, not a value: gauges are read at each scrape and cost nothing in between.
        self._chats.append(state)

    def remove(self, state: Callable[[], State]) -> None:
        self._chats.remove(state)

    def collect(self) -> Iterator[GaugeMetricFamily]:
        for kind, value in self._values():
            yield GaugeMetricFamily(kind.name, kind.text, value)

    def _values(self) -> Iterator[tuple[_Kind, float]]:
        states = [chat() for chat in self._chats]
        for kind in KINDS:
            values = [float(getattr(state, kind.field)) for state in states]
            yield kind, min(values, default=0.0) if kind.least else sum(values)


class SharedGauges(Gauges):
    """The gauges of one process among several. A scrape reaches any one of them, so each writes its
    values to the shared folder every few seconds while it has an open chat."""

    def _register(self, registry: CollectorRegistry) -> None:
        # Not registered for collecting: a scrape reads the files of all processes instead.
        self._timer: asyncio.TimerHandle | None = None
        self._gauges = {}
        for kind in KINDS:
            # A sum would hide one process whose feed is lost among others that are live.
            mode: Literal["livemin", "livesum"] = "livemin" if kind.least else "livesum"
            self._gauges[kind.field] = Gauge(
                kind.name, kind.text, registry=registry, multiprocess_mode=mode
            )

    def add(self, state: Callable[[], State]) -> None:
        super().add(state)
        self._write()

    def remove(self, state: Callable[[], State]) -> None:
        super().remove(state)
        self._write()

    def _write(self) -> None:
        # Now instead: `add` and `remove` change the values at once.
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for kind, value in self._values():
            self._gauges[kind.field].set(value)
        # Without an open chat the values do not change any more.
        if self._chats:
            self._timer = asyncio.get_running_loop().call_later(WRITE_SECONDS, self._write)
