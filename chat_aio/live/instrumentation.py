"""Reports new streams to the observers, and the state of live delivery on request."""

from collections.abc import Sequence

from chat_aio.live.feed import Feed
from chat_aio.live.hub import Hub
from chat_aio.live.replay.buffer import ReplayBuffer
from chat_aio.live.stream import Stream
from chat_aio.observability.dispatch import notify
from chat_aio.observability.observer import Observer, Replayed, State


def notify_opened(stream: Stream, observers: Sequence[Observer]) -> None:
    """Report a stream's opening, with its replay."""
    if not observers:
        return
    replay = stream.replay
    size = sum(len(frame.plain) for frame in replay.frames)
    replayed = Replayed(source=replay.source, events=replay.events, bytes=size)
    notify(observers, Observer.stream_opened, replayed, replay.reset)


def state_of(
    hub: Hub,
    feed: Feed,
    buffer: ReplayBuffer,
    *,
    has_streams: bool,
    sends_waiting: int,
    database_calls: int,
) -> State:
    """The current state. Without streams there is no feed, which then counts as live."""
    queue_bytes, queue_events = hub.queues()
    return State(
        streams=len(hub),
        users=len(hub.user_ids()),
        queue_bytes=queue_bytes,
        queue_events=queue_events,
        sends_waiting=sends_waiting,
        database_calls=database_calls,
        feed_live=feed.is_live or not has_streams,
        replay_buffer_events=len(buffer),
        replay_buffer_bytes=buffer.size,
    )
