"""The interface of observers, which measure and trace a chat, and their notifications."""

from collections.abc import Callable, Mapping
from contextvars import Context
from dataclasses import dataclass
from typing import Literal

BatchOutcome = Literal["committed", "conflict", "failed"]
Send = Literal["stored", "repeated", "failed"]
Source = Literal["none", "buffer", "storage"]
Reset = Literal["too_many_missed", "position_removed", "position_unknown"]
Ending = Literal[
    "left",
    "slow",
    "overflow",
    "banned",
    "ended",
    "logged_out",
    "readable_again",
    "unreadable",
    "feed_lost",
    "closing",
]
Banned = Literal["request", "stream"]
NotificationOutcome = Literal["delivered", "failed", "dead", "dropped"]
WebhookOutcome = Literal["delivered", "failed", "dead", "dropped"]
Hook = Literal[
    "auth",
    "user_exists",
    "before_message_send",
    "after_message_mutation",
    "can_read",
    "can_write",
    "can_manage",
    "can_invite",
    "can_moderate",
    "rate_limit",
    "profiles",
    "search_users",
    "search_messages",
    "can_create",
    "can_leave",
    "can_delete_message",
    "allowed_roles",
    "can_set_key",
    "can_delete",
    "can_set_metadata",
    "can_send_silently",
]


# Compared by identity, as Batch: observers use them as keys, and headers cannot be hashed.
@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Request:
    """A request. `route` is a template such as `/api/chat/messages/{message_id}`, or `(no route)`
    for an unknown path. The path itself is left out, because it may hold an invite's code."""

    method: str
    route: str
    scheme: str
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """How a request was answered; a stream counts as answered when it opens. Status 499 means that
    the client had disconnected.

    `code` is that of the error, `user_id` the user that the host's `auth` hook has named."""

    status: int
    seconds: float
    code: str | None = None
    user_id: str | None = None
    request_id: str | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Batch:
    """One transaction of the sequencer: the number of its messages, and the `contextvars` contexts
    of the sends that they come from."""

    messages: int
    origins: tuple[Context, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchResult:
    """The result of a batch. After a conflict with another process the batch is written again."""

    outcome: BatchOutcome
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call of MongoDB or of a hook that has ended; a late one ends after its caller was answered.
    `failed` is whether it raised an exception."""

    seconds: float
    failed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedDelivery:
    """A batch of changes that was delivered to the streams of this process.

    `deliveries` are events times streams. `lag` is the number of seconds since the oldest change
    was written, by the clock of MongoDB; None while the feed is not live."""

    changes: int
    deliveries: int
    lag: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """The replay that a stream got before it went live."""

    source: Source
    events: int
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NotificationBacklog:
    """The messages whose delay is not over, and the notifications that wait or are dead letters."""

    pending: int
    waiting: int
    dead: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookBacklog:
    """The events of one webhook that wait or are dead letters."""

    waiting: int
    dead: int


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """The current state of one chat in this process."""

    streams: int
    users: int
    queue_bytes: int
    queue_events: int
    sends_waiting: int
    database_calls: int
    feed_live: bool
    replay_buffer_events: int
    replay_buffer_bytes: int


class Observer:
    """A base class with no-op methods: override those you need. One instance may serve several
    chats.

    The methods must return at once. Exceptions are logged and do no harm.
    """

    def chat_opened(self, state: Callable[[], State]) -> None:
        """A chat is open. `state` returns its current state; call it in the chat's event loop."""

    def chat_closed(self, state: Callable[[], State]) -> None:
        """A chat is closing."""

    def request_begun(self, request: Request) -> None:
        """A request below the mount has arrived. `request_answered` follows in the same context."""

    def request_answered(self, request: Request, answer: Answer) -> None:
        """A request was answered."""

    def batch_begun(self, batch: Batch) -> None:
        """Messages are about to be written. `batch_ended` follows in the same context."""

    def batch_ended(self, batch: Batch, written: BatchResult) -> None:
        """Messages were written, or writing them has failed."""

    def database_called(self, call: Call) -> None:
        """A read or write of MongoDB has ended. The sequencer's transactions are batches."""

    def search_index_missing(self, index: str) -> None:
        """A search got 503, because the index that it needs does not exist."""

    def rows_left_out(self, collection: str, count: int) -> None:
        """Rows that another program has written in another shape were left out of an answer or of
        the feed; the log names them. In a process with several chats, it may be of any of them."""

    def hook_called(self, hook: Hook, call: Call) -> None:
        """A hook of the host's has answered."""

    def message_sent(self, send: Send) -> None:
        """A message was stored, had already been stored by an earlier request with the same key, or
        could not be stored. After a failure the outcome may be unknown."""

    def ephemeral_events_lost(self, count: int) -> None:
        """Ephemeral events were lost before they were sent to the other processes."""

    def feed_delivered(self, told: FeedDelivery) -> None:
        """A batch of changes was delivered."""

    def feed_lost(self, gap: bool) -> None:
        """The change stream was lost and will be reopened. With a `gap`, changes are missing in
        between, and replays from the buffer cannot reach across it."""

    def stream_opened(self, replayed: Replayed, reset: Reset | None) -> None:
        """A stream opens, with a replay or with `stream.reset` for the given reason."""

    def stream_closed(self, ending: Ending) -> None:
        """A stream has ended, after it was opened."""

    def ban_enforced(self, banned: Banned) -> None:
        """A banned user was refused, or a stream of theirs was ended."""

    def notification_ended(self, outcome: NotificationOutcome, seconds: float) -> None:
        """A notification was delivered, a try has failed, it became a dead letter, or it was
        dropped because its message was read, deleted or muted in the meantime. `seconds` have
        passed since it was due."""

    def notifications_counted(self, backlog: NotificationBacklog | None) -> None:
        """The backlog, in the process that delivers notifications; None when it no longer does."""

    def notification_gap(self) -> None:
        """The position in the change stream was lost; the messages since are read from storage."""

    def webhook_ended(self, webhook: str, outcome: WebhookOutcome, seconds: float) -> None:
        """An event was posted, a try has failed, it became a dead letter, or it was dropped because
        its message or conversation no longer exists. `seconds` have passed since the event."""

    def webhooks_counted(self, webhook: str, backlog: WebhookBacklog | None) -> None:
        """The backlog, in the process that posts this webhook; None when it no longer does."""

    def webhook_gap(self, webhook: str) -> None:
        """The position in the change stream was lost: events other than new messages are missing,
        and the receiver gets `webhook.gap`."""
