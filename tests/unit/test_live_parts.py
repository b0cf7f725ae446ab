"""Frames, replay and the single stream, without any database."""

import asyncio
import json
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest

from chat_aio.errors import StorageUnavailable
from chat_aio.live.event import (
    ReactionChanged,
    ShownMessage,
)
from chat_aio.live.frames import Frame, event_frame, frame_from, position_frame
from chat_aio.live.hub import Hub
from chat_aio.live.message_filter import MessageFilter
from chat_aio.live.replay.positions import is_moment, moment_frame, position_from, time_of_moment
from chat_aio.live.replay.replay import (
    Cover,
    Replay,
    ReplayedEvent,
    replay_from_feed,
    replay_from_storage,
    replay_of_nothing,
)
from chat_aio.live.stream import Stream
from chat_aio.plugin_types.base import DeliveredMessage
from chat_aio.schema.events import ResetEvent
from tests.support.live_events import NOON, event, kept
from tests.support.pipes import Connected


def stored(text: str, *, changed_at: datetime | None = None) -> ReplayedEvent:
    conversation_id, seq = text.split()[1].split(":")
    return ReplayedEvent(
        name=(conversation_id, int(seq)),
        frame=frame_from(text.encode()),
        message=DeliveredMessage(text, conversation_id, int(seq), "alice"),
        created_at=NOON,
        changed_at=changed_at,
        is_change=text.startswith("updated"),
    )


def plain(frames: Iterable[Frame]) -> list[str]:
    return [frame.plain.decode().strip() for frame in frames]


def test_a_frame_is_one_line_of_json_and_one_chunk() -> None:
    frame = event_frame(ResetEvent(reason="a\nb\r\u2028"))
    lines = frame.plain.decode().split("\n")
    assert lines[0] == "event: stream.reset"
    assert json.loads(lines[1].removeprefix("data: ")) == {
        "type": "stream.reset",
        "reason": "a\nb\r\u2028",
    }
    assert lines[2:] == ["", ""]
    size, _, rest = frame.chunk.partition(b"\r\n")
    assert rest == frame.plain + b"\r\n"
    assert int(size, 16) == len(frame.plain)


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("c:5", ("c", 5)),
        ("a:b:5", ("a:b", 5)),
        (None, None),
        ("", None),
        ("c", None),
        ("c:", None),
        (":5", None),
        ("c:0", None),
        ("c:-1", None),
        ("c:05", None),
        ("c:²", None),
        ("c:\uff15", None),
        ("c:5 ", None),
        ("c:1e3", None),
        ("c:" + "9" * 19, None),
        ("x" * 300 + ":5", None),
        ("c\0:5", None),
    ],
)
def test_what_a_last_event_id_names(text: str | None, position: object) -> None:
    assert position_from(text) == position


def test_a_replay_names_only_what_was_told() -> None:
    replay = replay_from_feed(
        (
            (kept(2, "b:1", created=False), stored("updated b:1")),
            (kept(3, "a:2"), stored("created a:2")),
            (kept(4, "b:1", created=False), stored("updated b:1")),
        ),
        since=position_frame("a", 1),
        newest=position_frame("a", 2),
    )
    assert plain(replay.frames) == [
        *("updated b:1", "id: a:1"),
        "created a:2",
        *("updated b:1", "id: a:2"),
        "id: a:2",
    ]


def test_what_is_gone_by_now_is_not_told_and_still_is_a_position() -> None:
    replay = replay_from_feed(
        ((kept(2, "a:2"), None), (kept(3, "b:1", created=False), stored("updated b:1"))),
        since=position_frame("a", 1),
        newest=position_frame("a", 2),
    )
    assert plain(replay.frames) == ["updated b:1", "id: a:2", "id: a:2"]


def test_a_replay_without_created_events_ends_at_the_newest() -> None:
    assert plain(replay_of_nothing(position_frame("z", 9)).frames) == ["id: z:9"]
    assert plain(replay_of_nothing(moment_frame(NOON)).frames) == ["id: ::1769860800000"]
    reset = replay_of_nothing(position_frame("z", 9), reset="too_many_missed").frames
    assert plain(reset)[0].startswith("event: stream.reset")
    assert plain(reset)[1] == "id: z:9"


def test_a_moment_is_a_position_that_no_conversation_can_be() -> None:
    name = position_from("::1769860800000")
    assert name is not None
    assert is_moment(name)
    assert time_of_moment(name) == NOON
    far = position_from("::" + "9" * 18)
    assert far is not None
    assert time_of_moment(far) is None
    assert not is_moment(("c", 5))


async def test_a_replay_from_storage_keeps_the_clients_position_until_its_end() -> None:
    replay = replay_from_storage(
        [
            stored("created a:2"),
            stored("updated b:1", changed_at=NOON),
        ],
        since=position_frame("a", 1),
        newest=position_frame("z", 9),
        passed=asyncio.get_running_loop().create_future(),
    )
    assert plain(replay.frames) == [
        *("created a:2", "id: a:1"),
        *("updated b:1", "id: a:1"),
        "id: z:9",
    ]
    assert [message.seq for message in replay.messages] == [2]
    later = NOON + timedelta(milliseconds=1)
    cover = replay.cover
    assert cover is not None
    assert cover.covers(event(1, "a:2"))
    assert not cover.covers(event(1, "a:3"))
    assert not cover.covers(event(1, "a:2", created=False, changed_at=NOON))
    assert cover.covers(event(1, "b:1", created=False, changed_at=NOON))
    assert not cover.covers(event(1, "b:1", created=False, changed_at=later))


class Pipe:
    def __init__(self) -> None:
        self.written: list[bytes] = []
        self.unsent = 0
        self.closing = False
        self.aborted = False

    def write(self, data: bytes) -> None:
        self.written.append(data)

    def is_closing(self) -> bool:
        return self.closing

    def get_write_buffer_size(self) -> int:
        return self.unsent

    def abort(self) -> None:
        self.aborted = True


def stream(*, max_bytes: int = 1_000, max_events: int = 5) -> Stream:
    return Stream("alice", max_bytes=max_bytes, max_events=max_events)


def test_what_was_cleared_stays_hidden_whatever_comes_first() -> None:
    """Two tabs clear at the same time, and the later change may be delivered first."""
    hub, one = Hub(streams_per_user=5), stream()
    hub.register(one)
    for upto in (5, 3):
        hub.hide("alice", "a", upto)
    assert one.hidden == {"a": 5}


async def test_a_stream_holds_back_until_it_is_live() -> None:
    """What a replay has told is not told again, until the feed has passed it."""
    one, pipe = stream(), Pipe()
    passed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    told = frozenset({("a", 3), ("a", 5)})
    one.deliver(event(5, "a:3"))
    one.deliver(event(6, "a:4"))
    one.replay = Replay(cover=Cover(created=told, changed={}, shown={}, passed=passed))
    one.go_live(Connected(pipe))
    one.deliver(event(7, "a:5"))
    one.deliver(event(8, "a:6"))
    assert pipe.written == [b"created a:4", b"created a:6"]
    passed.set_result(None)
    await asyncio.sleep(0)
    one.pass_on(event(7, "a:5"))  # A sieve has kept it until now.
    assert len(pipe.written) == 2
    one.deliver(event(9, "a:5"))
    assert pipe.written[2:] == [b"created a:5"]
    assert one._cover is None


def test_a_reaction_to_what_a_replay_has_changed_is_told() -> None:
    """It may be newer than the replay; the change itself is not told again."""
    name, future = ("a", 3), Mock()
    cover = Cover(created=frozenset(), changed={name: NOON}, shown={name: NOON}, passed=future)
    change = event(7, "a:3", created=False, changed_at=NOON)
    reaction = ReactionChanged(
        index=8, conversation_id="a", encode=change.encode, seq=3, changed_at=NOON
    )
    assert (cover.covers(change), cover.covers(reaction)) == (True, False)


def test_the_creation_of_what_a_replay_has_shown_as_deleted_is_not_told() -> None:
    """The deletion is not told again, and so the text would stay."""
    name, future = ("a", 3), Mock()
    cover = Cover(created=frozenset(), changed={name: NOON}, shown={name: NOON}, passed=future)
    assert cover.covers(event(6, "a:3"))
    assert not cover.covers(event(7, "a:4"))


async def test_an_update_is_written_together_with_the_newest_position() -> None:
    one, pipe = stream(), Pipe()
    one.go_live(Connected(pipe))
    one.deliver(event(1, "a:1"))
    one.deliver(event(2, "b:7", created=False))
    assert pipe.written[-1] == b"updated b:7id: a:1\n\n"


async def test_a_stream_that_holds_back_too_much_ends() -> None:
    one = stream(max_events=2)
    for index in range(3):
        one.deliver(event(index, f"a:{index + 1}"))
    assert one.is_over


async def test_a_reader_that_falls_behind_is_cut_off() -> None:
    one, pipe = stream(max_bytes=10), Pipe()
    one.go_live(Connected(pipe, chunked=True))
    pipe.unsent = 40
    one.deliver(event(1, "a:1"))
    assert (one.is_over, pipe.aborted, len(pipe.written)) == (False, False, 1)
    pipe.unsent = 41
    one.deliver(event(2, "a:2"))
    assert (one.is_over, pipe.aborted, len(pipe.written)) == (True, True, 1)


async def test_a_burst_is_forgiven_and_being_behind_for_long_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("chat_aio.live.stream.PATIENCE_SECONDS", 0.0)
    one, pipe = stream(max_bytes=10), Pipe()
    one.go_live(Connected(pipe, chunked=True))
    for unsent in (11, 10, 11):
        pipe.unsent = unsent
        one.beat()
    assert not one.is_over
    one.beat()
    assert (one.is_over, pipe.aborted) == (True, True)


async def test_a_client_that_left_is_noticed() -> None:
    one, pipe = stream(), Pipe()
    one.go_live(Connected(pipe, chunked=True))
    one.end_if_gone()
    assert not one.is_over
    pipe.closing = True
    one.end_if_gone()
    assert one.is_over


async def test_what_cannot_be_asked_about_now_is_not_left_out() -> None:
    """The stream ends and resumes: what is left out would be missed for good."""

    async def away(_: str) -> None:
        raise StorageUnavailable

    context: Any = SimpleNamespace(
        snapshots=SimpleNamespace(find=away), permissions=SimpleNamespace(read_at_once=1)
    )
    message: Any = {"_id": "m", "conversationId": "a"}
    told = replace(event(1, "a:1"), shown=ShownMessage(message=message, parent=None))
    with pytest.raises(StorageUnavailable):
        await MessageFilter(context).sift("bob", [told])
