"""A stream says that a message was told only where it was written to the client."""

from collections.abc import Callable

import pytest

from chat_aio.live.event import Event, MessageCreated
from chat_aio.live.frames import frame_from
from chat_aio.live.replay.replay import Replay
from chat_aio.live.stream import BURST, Stream
from chat_aio.plugin_types.base import DeliveredMessage
from tests.support.pipes import Connected
from tests.unit.test_live_parts import Pipe

MAX_BYTES = 100
MISSED = DeliveredMessage("missed", "c", 1, "alice")


def pipe_with(*, unsent: int = 0, closed: bool = False) -> Pipe:
    """A connection with so much unsent, which may be closed."""
    pipe = Pipe()
    pipe.unsent, pipe.closing = unsent, closed
    return pipe


def message(message_id: str, seq: int) -> Event:
    return MessageCreated(
        index=seq,
        conversation_id="c",
        encode=lambda: frame_from(message_id.encode()),
        seq=seq,
        written_at=None,
        message_id=message_id,
        sender_id="alice",
    )


def a_stream(told: list[str]) -> Stream:
    stream = Stream(
        "bob",
        max_bytes=MAX_BYTES,
        max_events=10,
        on_message=lambda _, message: told.append(message.message_id),
    )
    stream.replay = Replay(messages=(MISSED,))
    return stream


async def test_what_is_written_was_told() -> None:
    told: list[str] = []
    stream, pipe = a_stream(told), pipe_with()
    stream.deliver(message("held", 2))
    stream.go_live(Connected(pipe))
    stream.deliver(message("live", 3))
    assert told == ["missed", "held", "live"]
    assert pipe.written == [b"held", b"live"]


async def test_a_stream_that_has_ended_tells_nothing() -> None:
    told: list[str] = []
    stream, pipe = a_stream(told), pipe_with()
    stream.deliver(message("held", 2))
    stream.end()
    stream.go_live(Connected(pipe))
    assert (told, pipe.written) == ([], [])


@pytest.mark.parametrize(
    "broken", [lambda: pipe_with(closed=True), lambda: pipe_with(unsent=BURST * MAX_BYTES + 1)]
)
async def test_what_the_client_cannot_be_sent_was_not_told(broken: Callable[[], Pipe]) -> None:
    told: list[str] = []
    stream, pipe = a_stream(told), broken()
    stream.replay = Replay()
    stream.deliver(message("held", 2))
    stream.go_live(Connected(pipe))
    stream.deliver(message("live", 3))
    assert (told, pipe.written) == ([], [])
    assert stream.is_over
