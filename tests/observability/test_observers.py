"""Observers that fail, and why a stream is over."""

import logging
from collections.abc import Callable
from typing import Any

import pytest

from chat_aio.live.event import Event
from chat_aio.live.frames import frame_from
from chat_aio.live.stream import BURST, Stream
from chat_aio.observability.observer import Observer
from tests.observability.conftest import Measure
from tests.support.pipes import Connected

TOLD = [name for name in vars(Observer) if not name.startswith("_")]


def fail(*_: object) -> None:
    raise ValueError("no observer's business")


class Failing(Observer):
    """Raises whatever it is told."""


for hook in TOLD:
    setattr(Failing, hook, fail)


async def test_an_observer_that_fails_does_no_harm(
    measure: Measure, caplog: pytest.LogCaptureFixture
) -> None:
    """Neither to what people do, nor to the observers behind it; and the log says so."""
    with caplog.at_level(logging.ERROR, logger="chat_aio.observability.dispatch"):
        measured = await measure(observers=(Failing(),))
        alice = measured("alice")
        conversation_id = await alice.direct("bob")
        # Until it is noticed that the client has left.
        async with (
            measured.counting("streams_closed_total", reason="left"),
            measured("bob").tab() as tab,
        ):
            await alice.send(conversation_id, "hello")
            assert await tab.bodies(1) == ["hello"]
        assert (await alice.get("/nowhere")).code == "NOT_FOUND"
        await alice.told_all()
    scrape = await measured.scrape()
    assert scrape("sends_total", outcome="stored") == 1
    assert scrape("deliveries_total") >= 1
    failed = {record.args[1] for record in caplog.records if isinstance(record.args, tuple)}
    assert failed >= {
        *("chat_opened", "request_begun", "request_answered", "batch_begun", "batch_ended"),
        *("message_sent", "feed_delivered", "stream_opened", "stream_closed"),
    }
    assert failed <= set(TOLD)


class Pipe:
    """A client's connection, with so much unsent, or closed."""

    def __init__(self, unsent: int, *, closing: bool) -> None:
        self._unsent = unsent
        self._closing = closing

    def write(self, data: bytes) -> None:
        self._unsent += len(data)

    def is_closing(self) -> bool:
        return self._closing

    def get_write_buffer_size(self) -> int:
        return self._unsent

    def abort(self) -> None:
        self._closing = True


MOST = 100
FRAME = frame_from(b": x\n\n")
EVENT = Event(index=1, conversation_id="c", encode=lambda: FRAME)


@pytest.mark.parametrize(
    ("pipe", "act", "ending"),
    [
        (Pipe(BURST * MOST + 1, closing=False), Stream.beat, "slow"),
        (Pipe(0, closing=True), Stream.beat, "left"),
        (Pipe(0, closing=True), Stream.end_if_gone, "left"),
        (None, lambda stream: [stream.deliver(EVENT) for _ in range(3)], "overflow"),
        (Pipe(0, closing=False), lambda stream: stream.end("banned"), "banned"),
    ],
)
async def test_why_a_stream_is_over(
    pipe: Pipe | None, act: Callable[[Stream], Any], ending: str
) -> None:
    """The first reason counts."""
    stream = Stream("ada", max_bytes=MOST, max_events=2)
    if pipe is not None:
        stream.go_live(Connected(pipe, chunked=True))
    act(stream)
    assert stream.is_over
    assert stream.end("closing") is False
    assert stream.ending == ending


async def test_what_waits_in_a_stream() -> None:
    stream = Stream("ada", max_bytes=MOST, max_events=2)
    stream.deliver(EVENT)
    assert (stream.unsent, stream.held) == (0, 1)
    stream.go_live(Connected(Pipe(7, closing=False)))
    assert (stream.unsent, stream.held) == (7 + len(EVENT.frame.plain), 0)
