"""What an observer is: it hears how the chat fares, to measure and to trace it."""

from collections.abc import Callable, Mapping
from contextvars import Context
from dataclasses import dataclass
from typing import Literal

BatchOutcome = Literal["committed", "conflict", "failed"]
Send = Literal["stored", "repeated", "failed"]
Source = Literal["none", "ring", "storage"]
Reset = Literal["too_many_missed", "position_removed", "position_unknown"]
Ending = Literal[
    "left",
    "slow",
    "overflow",
    "banned",
    "ended",
    "logged_out",
    "readable_again",
    "feed_lost",
    "closing",
]
Banned = Literal["request", "stream"]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Request:
    """A request that has come in. `route` is a template such as `/api/chat/messages/{message_id}`,
    `(no route)` for a path that there is not; no more of the path is told, for it may hold an
    invite's code."""

    method: str
    route: str
    scheme: str
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """How a request was answered; a stream is once it opens. 499 is for nobody who waits any more.

    `code` is the error's, `user_id` whom the host's `auth` hook has named."""

    status: int
    seconds: float
    code: str | None = None
    user_id: str | None = None
    request_id: str | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Batch:
    """One transaction of the sequencer's: how many messages it carries, and the context variables
    of those who have sent them."""

    messages: int
    origins: tuple[Context, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchResult:
    """What became of a batch; in a conflict with another process it is written again."""

    outcome: BatchOutcome
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedDelivery:
    """Changes that the feed has told to the streams of this process.

    `deliveries` are events times streams. `lag` is how many seconds before the oldest of the
    changes was written, by the clock of MongoDB; None while the feed is not live."""

    changes: int
    deliveries: int
    lag: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """What a stream was told of the past before it went live."""

    source: Source
    events: int
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """How one chat of this process stands now."""

    streams: int
    users: int
    queue_bytes: int
    queue_events: int
    sends_waiting: int
    feed_live: bool
    ring_events: int
    ring_bytes: int


class Observer:
    """Override what is needed. One instance may serve several chats.

    What is told must return at once. What is raised is logged, and does no harm.
    """

    def chat_opened(self, state: Callable[[], State]) -> None:
        """A chat is open; `state` tells how it stands whenever it is asked, in its event loop."""

    def chat_closed(self, state: Callable[[], State]) -> None:
        """A chat is closing."""

    def request_begun(self, request: Request) -> None:
        """A request below the mount has come in. Its answer is told in the same context."""

    def request_answered(self, request: Request, answer: Answer) -> None:
        """A request was answered."""

    def batch_begun(self, batch: Batch) -> None:
        """Messages are about to be written. What became of them is told in the same context."""

    def batch_ended(self, batch: Batch, written: BatchResult) -> None:
        """Messages were written, or were not."""

    def message_sent(self, send: Send) -> None:
        """A message was stored, had been stored by an earlier request with the same key, or could
        not be stored, as far as is known."""

    def ephemeral_events_lost(self, count: int) -> None:
        """Ephemeral events were not sent on their way."""

    def feed_delivered(self, told: FeedDelivery) -> None:
        """A batch of changes was told to everyone concerned."""

    def feed_lost(self, gap: bool) -> None:
        """The change stream was lost, and is begun anew; with a `gap` replays end there."""

    def stream_opened(self, replayed: Replayed, reset: Reset | None) -> None:
        """A stream opens with a replay, or with `stream.reset` for the reason given."""

    def stream_closed(self, ending: Ending) -> None:
        """A stream that was opened is over."""

    def ban_enforced(self, banned: Banned) -> None:
        """Somebody who is banned was refused, or their stream was ended."""
