"""Metrics for Prometheus, from the extra `metrics`; docs/operations/observing.md explains each."""

import platform
from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import Literal, get_args

from prometheus_client import REGISTRY, CollectorRegistry, Counter, Gauge, Histogram

from chat_aio.observability.gauges import gauges_in
from chat_aio.observability.observer import (
    Answer,
    Banned,
    Batch,
    BatchOutcome,
    BatchResult,
    Call,
    Ending,
    FeedDelivery,
    Hook,
    NotificationBacklog,
    NotificationOutcome,
    Observer,
    Replayed,
    Request,
    Reset,
    Send,
    Source,
    State,
    WebhookBacklog,
    WebhookOutcome,
)

REQUEST_SECONDS = (0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
BATCH_SECONDS = (0.001, *REQUEST_SECONDS)
LAG_SECONDS = (*REQUEST_SECONDS, 30.0)
NOTIFICATION_SECONDS = (0.1, 0.5, 1.0, 5.0, 10.0, 30.0, 60.0, 300.0, 3_600.0)
MESSAGES = (1, 2, 4, 8, 16, 32, 64, 128, 256)


class _Maker:
    """Makes metrics of the chat in one registry."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._registry = registry

    def counter(self, name: str, text: str, *labels: str, **values: object) -> Counter:
        """A counter. A label given as a Literal starts at 0 for each of its values, so that a rate
        can be computed from the first event on."""
        made = Counter(f"chat_aio_{name}", text, (*labels, *values), registry=self._registry)
        for label, known in values.items():
            for value in get_args(known):
                made.labels(**{label: value})
        return made

    def histogram(self, name: str, text: str, buckets: Sequence[float], *labels: str) -> Histogram:
        return Histogram(f"chat_aio_{name}", text, labels, buckets=buckets, registry=self._registry)

    def gauge(self, name: str, text: str, *labels: str) -> Gauge:
        """A gauge that one of several processes sets; the others have 0."""
        return Gauge(
            f"chat_aio_{name}",
            text,
            labels,
            registry=self._registry,
            multiprocess_mode="livesum",
        )

    def build_info(self) -> None:
        """How many processes run which versions."""
        versions = {
            "version": version("chat-aio"),
            "python": platform.python_version(),
            "pymongo": version("pymongo"),
        }
        # Not prometheus-client's Info: several processes cannot share one.
        Gauge(
            "chat_aio_build_info",
            "Processes of these versions",
            list(versions),
            registry=self._registry,
            multiprocess_mode="livesum",
        ).labels(**versions).set(1)


class Metrics(Observer):
    """Counts and measures what all chats of a process do together.

    The metrics are in `registry`, by default Prometheus's own. A registry takes one instance.
    """

    def __init__(self, registry: CollectorRegistry = REGISTRY) -> None:
        self._gauges = gauges_in(registry)
        new = _Maker(registry)
        self._requests = new.counter("requests", "Requests answered", "method", "route", "status")
        self._request_seconds = new.histogram(
            "request_seconds", "Time to an answer", REQUEST_SECONDS, "method", "route"
        )
        self._errors = new.counter("errors", "Requests answered with an error", "code")
        self._bans = new.counter("bans_enforced", "Times a ban kept somebody out", of=Banned)
        self._sends = new.counter("sends", "Messages sent", outcome=Send)
        self._batches = new.counter("batches", "Transactions", outcome=BatchOutcome)
        self._batch_messages = new.histogram("batch_messages", "Messages in a batch", MESSAGES)
        self._batch_seconds = new.histogram("batch_seconds", "Time of a batch", BATCH_SECONDS)
        self._database_seconds = new.histogram(
            "database_seconds", "Time of a call of MongoDB", BATCH_SECONDS, "outcome"
        )
        self._malformed = new.counter("malformed_rows", "Times a malformed row was left out")
        self._searches_without_index = new.counter(
            "searches_without_index", "Searches refused because their index is missing"
        )
        self._hook_seconds = new.histogram(
            "hook_seconds", "Time of a call of a hook", BATCH_SECONDS, "hook", "outcome"
        )
        new.build_info()
        self._ephemeral_events_lost = new.counter(
            "ephemeral_events_lost", "Ephemeral events that were not sent"
        )
        self._feed_lag = new.histogram("feed_lag_seconds", "From written to told", LAG_SECONDS)
        self._feed_losses = new.counter(
            "feed_losses", "Times the feed was lost", gap=Literal["yes", "no"]
        )
        self._changes = new.counter("feed_changes", "Changes that the feed has told")
        self._deliveries = new.counter("deliveries", "Events told to a stream")
        self._opened = new.counter("streams_opened", "Streams that were opened")
        self._closed = new.counter("streams_closed", "Streams that are over", reason=Ending)
        self._replays = new.counter("replays", "Streams opened with a replay", source=Source)
        self._replay_events = new.counter("replay_events", "Events replayed", source=Source)
        self._replay_bytes = new.counter("replay_bytes", "Bytes replayed", source=Source)
        self._resets = new.counter("resets", "Streams that told of a reset", reason=Reset)
        self._add_notifications(new)
        self._add_webhooks(new)

    def _add_notifications(self, new: _Maker) -> None:
        self._notifications = new.counter(
            "notifications", "Notifications", outcome=NotificationOutcome
        )
        self._notification_seconds = new.histogram(
            "notification_seconds", "From due to delivered", NOTIFICATION_SECONDS
        )
        self._notification_gaps = new.counter(
            "notification_gaps", "Times the position of notifications was lost"
        )
        self._pending = new.gauge("notifications_pending", "Messages that are not due yet")
        self._waiting = new.gauge("notifications_waiting", "Notifications to be delivered")
        self._dead = new.gauge("notifications_dead", "Notifications that were given up")

    def _add_webhooks(self, new: _Maker) -> None:
        name = "webhook"
        self._webhooks = new.counter(
            "webhooks", "Attempts to post events to webhooks, by outcome", name, "outcome"
        )
        self._webhook_seconds = new.histogram(
            "webhook_seconds", "From an event to its delivery", NOTIFICATION_SECONDS, name
        )
        self._webhook_gaps = new.counter(
            "webhook_gaps", "Times the position of a webhook was lost", name
        )
        self._webhooks_waiting = new.gauge("webhooks_waiting", "Events to be posted", name)
        self._webhooks_dead = new.gauge("webhooks_dead", "Events that were given up", name)

    def chat_opened(self, state: Callable[[], State]) -> None:
        self._gauges.add(state)

    def chat_closed(self, state: Callable[[], State]) -> None:
        self._gauges.remove(state)

    def request_answered(self, request: Request, answer: Answer) -> None:
        self._requests.labels(request.method, request.route, answer.status).inc()
        self._request_seconds.labels(request.method, request.route).observe(answer.seconds)
        if answer.code is not None:
            self._errors.labels(answer.code).inc()

    def batch_ended(self, batch: Batch, written: BatchResult) -> None:
        self._batches.labels(written.outcome).inc()
        # A conflict is followed by another batch of the same messages, which are counted once.
        if written.outcome == "committed":
            self._batch_messages.observe(batch.messages)
            self._batch_seconds.observe(written.seconds)

    def database_called(self, call: Call) -> None:
        self._database_seconds.labels(_outcome(call)).observe(call.seconds)

    def rows_left_out(self, collection: str, count: int) -> None:
        self._malformed.inc(count)

    def search_index_missing(self, index: str) -> None:
        self._searches_without_index.inc()

    def hook_called(self, hook: Hook, call: Call) -> None:
        self._hook_seconds.labels(hook, _outcome(call)).observe(call.seconds)

    def message_sent(self, send: Send) -> None:
        self._sends.labels(send).inc()

    def ephemeral_events_lost(self, count: int) -> None:
        self._ephemeral_events_lost.inc(count)

    def feed_delivered(self, told: FeedDelivery) -> None:
        self._changes.inc(told.changes)
        self._deliveries.inc(told.deliveries)
        if told.lag is not None:
            self._feed_lag.observe(told.lag)

    def feed_lost(self, gap: bool) -> None:
        self._feed_losses.labels("yes" if gap else "no").inc()

    def stream_opened(self, replayed: Replayed, reset: Reset | None) -> None:
        self._opened.inc()
        if reset is not None:
            self._resets.labels(reset).inc()
            return
        self._replays.labels(replayed.source).inc()
        self._replay_events.labels(replayed.source).inc(replayed.events)
        self._replay_bytes.labels(replayed.source).inc(replayed.bytes)

    def stream_closed(self, ending: Ending) -> None:
        self._closed.labels(ending).inc()

    def ban_enforced(self, banned: Banned) -> None:
        self._bans.labels(banned).inc()

    def notification_ended(self, outcome: NotificationOutcome, seconds: float) -> None:
        self._notifications.labels(outcome).inc()
        if outcome == "delivered":
            self._notification_seconds.observe(seconds)

    def notifications_counted(self, backlog: NotificationBacklog | None) -> None:
        self._pending.set(backlog.pending if backlog else 0)
        self._waiting.set(backlog.waiting if backlog else 0)
        self._dead.set(backlog.dead if backlog else 0)

    def notification_gap(self) -> None:
        self._notification_gaps.inc()

    def webhook_ended(self, webhook: str, outcome: WebhookOutcome, seconds: float) -> None:
        self._webhooks.labels(webhook, outcome).inc()
        if outcome == "delivered":
            self._webhook_seconds.labels(webhook).observe(seconds)

    def webhooks_counted(self, webhook: str, backlog: WebhookBacklog | None) -> None:
        # From 0 on, so that a rate can be computed from the first event on.
        for outcome in get_args(WebhookOutcome):
            self._webhooks.labels(webhook, outcome)
        self._webhook_gaps.labels(webhook)
        self._webhooks_waiting.labels(webhook).set(backlog.waiting if backlog else 0)
        self._webhooks_dead.labels(webhook).set(backlog.dead if backlog else 0)

    def webhook_gap(self, webhook: str) -> None:
        self._webhook_gaps.labels(webhook).inc()


def _outcome(call: Call) -> str:
    return "failed" if call.failed else "answered"
