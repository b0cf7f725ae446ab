"""The replay buffer: what it keeps, forgets and finds, without any database."""

from datetime import timedelta

from chat_aio.live.replay.buffer import ReplayBuffer
from tests.support.live_events import NOON, event, kept


def buffer_of(*, max_events: int, max_bytes: int) -> ReplayBuffer:
    """An hour after noon."""
    now = NOON + timedelta(hours=1)
    return ReplayBuffer(max_events=max_events, max_bytes=max_bytes, clock=lambda: now)


def test_the_buffer_answers_in_feed_order() -> None:
    buffer = buffer_of(max_events=100, max_bytes=10_000)
    for entry in (event(1, "a:1"), event(2, "b:1"), event(3, "a:2"), event(4, "c:1")):
        buffer.append(entry)
    assert [entry.index for entry in buffer.list_after(kept(1), ["a", "b"])] == [2, 3]
    assert [entry.index for entry in buffer.list_after(kept(0), ["c", "a"])] == [1, 3, 4]
    assert buffer.list_after(kept(4), ["a", "b", "c"]) == []
    newest = buffer.newest_created(["a", "b"])
    assert newest is not None
    assert newest.index == 3
    assert buffer.newest_created(["x"]) is None


def test_the_buffer_is_bounded_and_forgets_the_oldest() -> None:
    buffer = buffer_of(max_events=3, max_bytes=10_000)
    for index in range(1, 11):
        buffer.append(event(index, f"a:{index}"))
    assert buffer.find_created("a", 7) is None
    assert buffer.find_created("a", 8) is not None
    assert [entry.name[1] for entry in buffer.list_after(kept(0), ["a"])] == [8, 9, 10]
    small = buffer_of(max_events=100, max_bytes=3 * kept(1, "a:1").size)
    for index in range(1, 10):
        small.append(event(index, f"a:{index}"))
    assert [entry.name[1] for entry in small.list_after(kept(0), ["a"])] == [7, 8, 9]


def test_the_buffer_takes_a_created_event_once() -> None:
    buffer = buffer_of(max_events=100, max_bytes=10_000)
    buffer.append(event(1, "a:1"))
    buffer.append(event(2, "a:1"))
    assert [entry.index for entry in buffer.list_after(kept(0), ["a"])] == [1]


def test_the_buffer_names_the_last_change_of_a_message() -> None:
    """What was taken back is not told again."""
    buffer = buffer_of(max_events=100, max_bytes=10_000)
    buffer.append(event(1, "c:1"))
    buffer.append(event(2, "c:2"))
    buffer.append(event(3, "c:1", created=False))
    buffer.append(event(4, "c:2", created=False))
    buffer.append(event(5, "c:1", created=False))
    found = buffer.list_after(kept(0), ["c"])
    assert [(entry.name, entry.created) for entry in found] == [
        (("c", 1), True),
        (("c", 2), True),
        (("c", 2), False),
        (("c", 1), False),
    ]
    assert [entry.index for entry in buffer.list_after(kept(3), ["c"])] == [4, 5]


def test_the_buffer_names_what_was_told_before_and_is_later_by_its_time() -> None:
    """A replay from storage tells it later, and may have been cut behind the one that was seen."""
    buffer = buffer_of(max_events=4, max_bytes=10_000)
    buffer.append(event(1, "a:1", seconds=20))
    buffer.append(event(2, "a:2", seconds=30))
    buffer.append(event(3, "b:1", seconds=10))
    buffer.append(event(4, "b:2", seconds=25))
    seen = buffer.find_created("b", 1)
    assert seen is not None
    assert [entry.index for entry in buffer.list_after(seen, ["a", "b"])] == [1, 2, 4]
    later = buffer.find_created("b", 2)
    assert later is not None
    assert [entry.index for entry in buffer.list_after(later, ["a", "b"])] == [2]
    buffer.append(event(5, "b:3", seconds=40))
    assert buffer.find_created("b", 1) is None, "what it would have to name is not held"
    assert buffer.find_created("b", 2) is later
    buffer.append(event(6, "b:4", seconds=50))
    assert buffer.find_created("b", 2) is None


def test_a_time_of_the_far_future_holds_for_a_minute() -> None:
    """Another program's row: else no position would ever be found in the buffer again."""
    now = NOON
    buffer = ReplayBuffer(max_events=1, max_bytes=10_000, clock=lambda: now)
    buffer.append(event(1, "a:1", seconds=1e8))
    buffer.append(event(2, "b:1", seconds=30))
    assert buffer.find_created("b", 1) is None
    now += timedelta(minutes=2)
    buffer.append(event(3, "b:2", seconds=120))
    assert buffer.find_created("b", 2) is not None


def test_the_buffer_forgets_changes_with_the_rest() -> None:
    buffer = buffer_of(max_events=2, max_bytes=10_000)
    for entry in (event(1, "c:1"), event(2, "c:1", created=False), event(3, "c:2")):
        buffer.append(entry)
    assert [entry.index for entry in buffer.list_after(kept(0), ["c"])] == [2, 3]
    buffer.append(event(4, "c:3"))
    assert [entry.index for entry in buffer.list_after(kept(0), ["c"])] == [3, 4]
    assert not buffer._changed
    assert buffer._bytes == sum(entry.size for entry in buffer._events)
